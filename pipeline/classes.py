"""From scores to order and classes.

Equation: of n nodes that the classes are cut over, the one with p of them before it in the order
gets class `1 + B*p//n`; with ties together, nodes of equal score get `1 + B*(first+last)//(2n)`,
first and last the places of the first and the last of them. Any other node gets the class that
its place in the order would have, at most B. The order is by rounded score, best first, then by
key, which is by position.

Dangling nodes are nodes like others here. There is nothing to iterate; how many digits count is
the only trace of how scores were reached: `digits_for` the certificate's eta.

Near a boundary. A certificate says that every exact score lies in [x/(1+eta), x/(1-eta)]. Rounding
is monotone, so the exact order is one of those that such scores can give, and a node's earliest
place is the one it has with its own score highest and all others lowest, its latest place the
reverse. A node is near a boundary when these two places are in different classes. That is the
plain "within 2 eta of the boundary's score" with the boundary's score read as the one across it,
and it holds for rounding too: a node that is not near has the class that exact scores give it.

Numbers only: scores in, classes out; nothing is read or written. There is one sort; whether a node
is near is found from the few nodes at the boundaries. Memory: about 8 arrays of N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from pipeline.graph import Floats, Mask, Positions

MAX_DIGITS = 9
MAX_BINS = 125
BLOCK = 1 << 14  # scores whose steps stay in the cache of a core
POWERS = 10.0 ** np.arange(23)  # all that are doubles
Ties = Literal["key", "together"]


@dataclass(frozen=True, eq=False)
class Classes:
    """Columns of N, by position. order: positions, best first. classes: 1 (best) to bins.

    near: the class would change within eta. by_key: a node of the same rounded score has
    another class, so the key alone has placed this one.
    """

    bins: int
    digits: int
    order: Positions
    classes: Positions
    near: Mask
    by_key: Mask


def cut(
    scores: Floats,
    bins: int,
    *,
    digits: int = MAX_DIGITS,
    mask: Mask | None = None,
    ties: Ties = "key",
    eta: float = 0.0,
) -> Classes:
    """Classes of all nodes, cut over the nodes in mask (all where it is None or empty).

    scores: float64[N], positive, by position. eta: the certificate's bound per node.
    Raises ValueError for bins outside 1 to 125.
    """
    if not 1 <= bins <= MAX_BINS:
        raise ValueError(f"bins is {bins}, expected 1 to {MAX_BINS}")
    over = np.ones(len(scores), bool) if mask is None or not mask.any() else mask
    values = rounded(scores, digits)
    order: Positions = np.argsort(-values, kind="stable")
    near = np.zeros(len(scores), bool)
    if ties == "key":
        before = np.cumsum(over[order]) - over[order]
        classes = np.empty(len(scores), np.int64)
        classes[order] = np.minimum(1 + bins * before // over.sum(), bins)
    else:
        classes = _together(values, values, over, order, bins)
    if eta > 0:
        low = rounded(scores / (1 + eta), digits)
        high = rounded(scores / (1 - eta), digits) if eta < 1 else np.full(len(scores), np.inf)
        if ties == "key":
            near = _earliest(high, low, over, bins) != _latest(low, high, over, bins)
        else:
            earliest = _together(high, low, over, order, bins)
            near = earliest != _together(low, high, over, order, bins)
    return Classes(bins, digits, order, classes, near, _split_groups(values, order, classes))


def rounded(scores: Floats, digits: int) -> Floats:
    """Every score to `digits` significant digits: `float(f"{x:.{digits-1}e}")`, bit for bit.

    A score is scaled to an integer n and divided back. With |power of ten| <= 22 and n < 2^53 that
    is the double nearest to the decimal; scores that lie too close to a tie or to a power of ten
    for the scaling to decide go through the format itself.
    """
    result: Floats = np.empty(len(scores))
    for begin in range(0, len(scores), BLOCK):
        result[begin : begin + BLOCK] = _rounded(scores[begin : begin + BLOCK], digits)
    return result


def _rounded(scores: Floats, digits: int) -> Floats:
    result: Floats
    with np.errstate(all="ignore"):
        exponents = np.floor(np.log10(scores))
        shifts = digits - 1 - exponents
        shifts = np.where(np.isfinite(shifts), shifts, 0)
        up, down = (POWERS[np.clip(one, 0, 22).astype(np.intp)] for one in (shifts, -shifts))
        scaled = scores * up / down
        result = np.rint(scaled) / up * down
        margin = np.abs(scaled - np.floor(scaled) - 0.5)
        sure = (margin > 1e-3) & (np.abs(shifts) <= 22)
        sure &= (scaled >= 10.0 ** (digits - 1)) & (scaled < 10.0**digits)
    if digits > 12:
        sure[:] = False  # the scaling's own rounding would come near the margin
    unsure, places = np.unique(scores[~sure], return_inverse=True)
    result[~sure] = np.array([float(f"{x:.{digits - 1}e}") for x in unsure.tolist()])[places]
    return result


def digits_for(eta: float) -> int:
    """Significant digits that a certificate resolves: min(9, floor(-log10(2 eta))), at least 1."""
    if eta == 0:
        return MAX_DIGITS
    return 1 if eta >= 0.05 else min(MAX_DIGITS, math.floor(-math.log10(2 * eta)))


def order_digits(eta: float) -> int:
    """Fewest significant digits, at most 9, at which no two scores that are certainly different
    count as equal: two such differ by more than 2 eta, relative, and d digits resolve 10^(1-d).

    What `digits_for` resolves is up to a hundred times coarser: right for comparing two programs,
    but an order by it would place pages by their keys whose scores are known to differ.
    """
    return MAX_DIGITS if eta == 0 else max(1, min(MAX_DIGITS, 1 + math.ceil(-math.log10(2 * eta))))


def _together(own: Floats, others: Floats, over: Mask, order: Positions, bins: int) -> Positions:
    """The class of every node if it has its own value and all other nodes have theirs, nodes of
    equal value in one class. order: one in which the values all but fall, so that searching for
    them touches memory in its order."""
    n, ranked = int(over.sum()), np.sort(others[over])
    own, others, over = own[order], others[order], over[order]
    above = n - np.searchsorted(ranked, own, side="right") - (over & (others > own))
    at_least = n - np.searchsorted(ranked, own, side="left") - (over & (others >= own)) + over
    last = np.maximum(at_least - 1, above)
    classes = np.empty(len(own), np.int64)
    classes[order] = np.minimum(1 + bins * (above + last) // (2 * n), bins)
    return classes


class _Entries(NamedTuple):
    """Some nodes of `over` by their place in an order by value, best first, then by position."""

    values: Floats
    nodes: Positions


def _earliest(own: Floats, others: Floats, over: Mask, bins: int) -> Positions:
    """The classes of nodes whose own values are at least what the others' are taken for.

    A node is in class k + 1 or later when p >= ceil(k n / B), that is when the node at that place
    in the order of the others, counted from 1, is before it. It cannot be that node itself.
    """
    return 1 + _before(_entries(others, over, _least_places(over, bins)), own)


def _latest(own: Floats, others: Floats, over: Mask, bins: int) -> Positions:
    """Likewise with own values at most those: a node that the order of the others has before its
    own value counts itself there, and so needs one place more."""
    places = _least_places(over, bins)
    classes = 1 + _before(_entries(others, over, places), own)
    itself = np.flatnonzero(over & (others > own))
    further = _entries(others, over, places[places < over.sum()] + 1)
    classes[itself] = 1 + _before(further, own[itself], itself)
    return classes


def _least_places(over: Mask, bins: int) -> Positions:
    """How many nodes of `over` are before the first of each class but the best, at least."""
    return -(-np.arange(1, bins) * int(over.sum()) // bins)


def _entries(values: Floats, over: Mask, places: Positions) -> _Entries:
    """The nodes at these places, counted from 1."""
    ranked = values[over]
    if not len(places):
        return _Entries(ranked[:0], places)
    at = len(ranked) - places
    found = np.partition(ranked, np.unique(at))[at]
    nodes = np.empty(len(places), np.int64)
    for value in np.unique(found):
        equal = np.flatnonzero(over & (values == value))
        mine = found == value
        nodes[mine] = equal[places[mine] - 1 - np.count_nonzero(ranked > value)]
    return _Entries(found, nodes)


def _before(entries: _Entries, own: Floats, nodes: Positions | None = None) -> Positions:
    """How many of the entries are before each node (by default the one at its position)."""
    ascending = np.sort(entries.values)
    upper = np.searchsorted(ascending, own, side="right")
    equal = np.flatnonzero(np.searchsorted(ascending, own, side="left") != upper)
    counts = len(ascending) - upper
    named = equal if nodes is None else nodes[equal]
    for value, node in zip(*entries, strict=True):
        counts[equal] += (own[equal] == value) & (node < named)
    return counts


def _split_groups(values: Floats, order: Positions, classes: Positions) -> Mask:
    """Nodes whose rounded score is also that of a node in another class."""
    ranked = values[order]
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))[: len(ranked)]
    if not len(starts):
        return np.zeros(0, bool)
    of_class = classes[order]
    spread = np.maximum.reduceat(of_class, starts) != np.minimum.reduceat(of_class, starts)
    result = np.empty(len(values), bool)
    result[order] = np.repeat(spread, np.diff(np.append(starts, len(ranked))))
    return result
