"""From scores to order and classes.

Equation: of n nodes that the classes are cut over, the one with p of them before it in the order
gets class `1 + B*p//n`; with ties together, nodes of equal score get `1 + B*(first+last)//(2n)`,
first and last the places of the first and the last of them. Any other node gets the class that
its place in the order would have, at most B. The order is by rounded score, best first, then by
key, which is by position. With ties by links it is by score, then by preference, then by key:
the preference of a node comes from the links to it and from its captures (`preferred_by`).

Dangling nodes are nodes like others here. There is nothing to iterate; how many digits count is
the only trace of how scores were reached.

Numbers only: scores in, classes out; nothing is read or written. There is one sort; whether a node
is near is found from the few nodes at the boundaries. Memory: CUT_BYTES a node beside the scores;
what is as long as the scores is made a SLICE at a time where it is not kept.

Near a boundary: a certificate says that every exact score lies in [x/(1+eta), x/(1-eta)], and in
[x-b, x+b], b being its bound `absolute`. Rounding is monotone, so the exact order is one of those
that such scores can give, and a node's earliest place is the one it has with its own score highest
and all others lowest, its latest place the reverse. A node is near a boundary when these two places
are in different classes. That is the plain "within 2 eta of the boundary's score" with the
boundary's score read as the one across it, and it holds for rounding too: a node that is not near
has the class that exact scores give it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.rank.rounding import rounded, rounded_ends
from crawlrank.pipeline.data.graph import Floats, Mask, Positions
from crawlrank.pipeline.ranking.options import CutOptions, Ties

CUT_BYTES = 38  # a node, at most at a time; sorting takes 28, finding what is near 37
PREFERENCE_BYTES = 8 + 13  # a node, with ties by links: preferences, and what is sorted by them
Preferences = npt.NDArray[np.uint64]
_HALF, _POSITION = np.uint64(32), np.uint64(2**32 - 1)  # bits of a word, and its lower half


@dataclass(frozen=True, eq=False)
class Classes:
    """Columns of N, by position. order: positions, best first, int32 below 2^31 nodes. classes: 1
    (best) to bins, int8.

    near: the class would change within eta. by_key: a node of the same rounded score (and, where
    these count, of the same preference) has another class, so the key alone has placed this one.
    """

    bins: int
    digits: int
    order: Order
    classes: Numbers
    near: Mask
    by_key: Mask

    @property
    def positions(self) -> Order:
        """The position of every node in the order, from 1."""
        positions = places_of(self.order)
        positions += 1
        return positions


def cut(
    scores: Floats,
    bins: int,
    *,
    digits: int = CutOptions.digits,
    mask: Mask | None = None,
    ties: Ties = CutOptions.ties,
    eta: float = 0.0,
    absolute: float = math.inf,
    preferred: Preferences | None = None,
) -> Classes:
    """Classes of all nodes, cut over the nodes in mask (all where it is None or empty).

    scores: float64[N], positive, by position. eta, absolute: bounds of the error of a score,
    relative to the exact one and in its unit. preferred: uint64[N], the least first; only ties by
    links read it, and without it they are by key.
    bins: 1 to MAX_BINS.
    """
    over = np.ones(len(scores), bool) if mask is None or not mask.any() else mask
    if ties == "links" and preferred is not None:
        return _by_preference(scores, bins, digits, over, preferred, eta=eta, absolute=absolute)
    order = order_of(scores, digits)
    if ties != "together":
        classes = _by_place(order, over, bins)
    else:
        values = rounded(scores, digits)
        classes = together(values, values, over, order, bins)
        del values
    near: Mask = np.zeros(len(scores), bool)
    if eta > 0 and absolute > 0:
        along = order if ties == "together" else None
        first, last = _range(scores, bins, digits, over, along, eta=eta, absolute=absolute)
        np.not_equal(first, last, out=near)
        del first, last
    by_key = _split_groups(scores, digits, order, classes)
    return Classes(bins, digits, order, classes, near, by_key)


def possible(
    scores: Floats,
    bins: int,
    *,
    digits: int,
    mask: Mask | None = None,
    ties: Ties = CutOptions.ties,
    eta: float,
    absolute: float = math.inf,
    preferred: Preferences | None = None,
) -> ClassRange:
    """The classes that exact scores may give each node; arguments as of `cut`."""
    over = np.ones(len(scores), bool) if mask is None or not mask.any() else mask
    bounds = {"eta": eta, "absolute": absolute}
    if ties == "links" and preferred is not None:
        along = np.argsort(preferred, kind="stable")
        inner = _range(scores[along], bins, digits, over[along], None, **bounds)
        for numbers in inner:
            numbers[along] = numbers.copy()
        return inner
    order = order_of(scores, digits) if ties == "together" else None
    return _range(scores, bins, digits, over, order, **bounds)


def _range(
    scores: Floats,
    bins: int,
    digits: int,
    over: Mask,
    order: Order | None,
    *,
    eta: float,
    absolute: float,
) -> ClassRange:
    """order: of the nodes, for ties together; None: ties by key."""
    low, high = rounded_ends(scores, digits, eta, absolute)
    if order is not None:
        return range_together(low, high, over, order, bins)
    return range_by_key(low, high, over, bins)


def tie_weights(links: npt.NDArray[Any], captures: npt.NDArray[Any]) -> Preferences:
    """The weight of each spelling, or of all spellings of a node: links before captures. A node has
    the sum of its spellings' weights, modulo 2^64."""
    weights: Preferences = links.astype(np.uint64) << np.uint64(32)
    weights += captures.astype(np.uint64)
    return weights


def preferred_by(links: npt.NDArray[Any], captures: npt.NDArray[Any]) -> Preferences:
    """The preference of each node for ties by links, the best with the least: uint64[N]. links,
    captures: of all spellings of a node."""
    return ~tie_weights(links, captures)


class SpelledNodes:
    """What the spellings of nodes say of them, added up over rows of uris in any order.

    spelled, captured: bool[N], whether a node has a spelling, and one that was captured.
    """

    def __init__(self, nodes: int, *, weighed: bool) -> None:
        self.spelled, self.captured = np.zeros(nodes, bool), np.zeros(nodes, bool)
        self._sums: Preferences | None = np.zeros(nodes, np.uint64) if weighed else None

    def add(self, nodes: npt.NDArray[Any], captured: Mask, weights: Preferences) -> None:
        """Add spellings: their nodes, whether they were captured, and their tie_weights, which are
        read with `weighed` only."""
        self.spelled[nodes] = True
        self.captured[nodes[captured]] = True
        if self._sums is not None:
            np.add.at(self._sums, nodes, weights)

    def take_preferred(self) -> Preferences | None:
        """The preferences as of `preferred_by`, where spellings are weighed; then forgets them."""
        sums, self._sums = self._sums, None
        return None if sums is None else np.invert(sums, out=sums)


def _by_preference(
    scores: Floats, bins: int, digits: int, over: Mask, preferred: Preferences, **bounds: Any
) -> Classes:
    """Classes by key of the nodes in the order of their preferences, mapped back to node ids."""
    kind: Any = position_type(len(scores))
    along = np.argsort(preferred, kind="stable").astype(kind, copy=False)
    inner = cut(scores[along], bins, digits=digits, mask=over[along], **bounds)
    order, classes, near = inner.order, inner.classes, inner.near
    del inner
    for part in slices(len(order)):
        order[part] = along[order[part]]
    classes[along], near[along] = classes.copy(), near.copy()
    by_key = _split_groups(scores, digits, order, classes, preferred)
    return Classes(bins, digits, order, classes, near, by_key)


def position_type(nodes: int) -> type[np.int32] | type[np.int64]:
    """The narrower type that holds every position and how many nodes there are."""
    return np.int32 if nodes < 2**31 else np.int64


def places_of(order: Order) -> Order:
    """The place of every node in an order, from 0."""
    places: Order = np.empty(len(order), order.dtype)
    for part in slices(len(order)):
        places[order[part]] = np.arange(part.start, part.stop, dtype=order.dtype)
    return places


def order_of(scores: Floats, digits: int) -> Order:
    """Positions by rounded score, best first, then by position.

    Numbers are sorted several times faster than positions by numbers. So what is sorted are words:
    the upper half of a score, inverted, and the position. Where lower halves matter, the positions
    are nearly in order then, and the stable sort of them takes little.
    """
    values = rounded(scores, digits)
    if len(values) > _POSITION:
        return np.argsort(-values, kind="stable")
    values += 0.0  # 0 instead of -0
    words = values.view(np.uint64) >> _HALF
    np.subtract(_POSITION, words, out=words)
    words <<= _HALF
    words += np.arange(len(words), dtype=np.uint64)
    words.sort()
    words &= _POSITION
    kind: Any = position_type(len(words))
    order: Order = words.astype(kind)
    del words
    values = values[order]
    if (values[1:] > values[:-1]).any():
        np.negative(values, out=values)
        order = order[np.argsort(values, kind="stable")]
    return order


def _by_place(order: Order, over: Mask, bins: int) -> Numbers:
    """The class of every node from how many of `over` are before it."""
    classes, before, n = np.empty(len(order), np.int8), 0, int(np.count_nonzero(over))
    for part in slices(len(order)):
        nodes = order[part]
        counted = over[nodes]
        places = before + np.cumsum(counted) - counted
        classes[nodes] = class_of(places, n, bins)
        before += int(np.count_nonzero(counted))
    return classes


def _split_groups(
    scores: Floats,
    digits: int,
    order: Order,
    classes: Numbers,
    preferred: Preferences | None = None,
) -> Mask:
    """Nodes whose rounded score, and preference, is also that of a node in another class.

    Along the order scores fall, preferences rise where they are equal, and classes rise. So these
    are the groups of equal ones in which a class ends, which are fewer than there are classes.
    """

    def fallen(position: int) -> tuple[float, int]:
        score = -float(rounded(scores[order[position : position + 1]], digits)[0])
        return score, 0 if preferred is None else int(preferred[order[position]])

    result, places = np.zeros(len(scores), bool), range(len(order))
    for end in np.flatnonzero(np.diff(classes[order])).tolist():
        value = fallen(end)
        if fallen(end + 1) == value:
            first = bisect_left(places, value, hi=end, key=fallen)
            result[order[first : bisect_right(places, value, lo=end, key=fallen)]] = True
    return result


SLICE = 1 << 16  # nodes at a time
Order = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int8]


class ClassRange(NamedTuple):
    """The first and the last class that each node may have, int8[N] each."""

    first: Numbers
    last: Numbers


def class_of(position: Any, nodes: int, bins: int) -> Any:
    """The equation, for one position or an array of them; nodes: that the classes are cut over."""
    return np.minimum(1 + bins * position // nodes, bins)


def slices(length: int) -> Iterator[slice]:
    return (slice(begin, min(begin + SLICE, length)) for begin in range(0, length, SLICE))


def together(own: Floats, others: Floats, over: Mask, order: Order, bins: int) -> Numbers:
    """The class of every node if it has its own value and all other nodes have theirs, nodes of
    equal value in one class. order: one in which the values all but fall, so that searching for
    them touches memory in its order."""
    ranked, classes = others[over], np.empty(len(own), np.int8)
    ranked.sort()
    n = len(ranked)
    for part in slices(len(own)):
        nodes = order[part]
        score, other_score, counted = own[nodes], others[nodes], over[nodes]
        above = n - np.searchsorted(ranked, score, side="right") - (counted & (other_score > score))
        at_least = (
            n - np.searchsorted(ranked, score, side="left") - (counted & (other_score >= score))
        )
        last = np.maximum(at_least + counted - 1, above)
        classes[nodes] = class_of(above + last, 2 * n, bins)
    return classes


def range_by_key(low: Floats, high: Floats, over: Mask, bins: int) -> ClassRange:
    """The class of each node in its earliest place, its own value high and all others low, and in
    its latest, the reverse. low, high: the ends of scores, rounded.

    A node is in class k + 1 or later when p >= ceil(k n / B), that is when the node at that place
    in the order of the others, counted from 1, is before it. It cannot be that node itself where
    its own value is higher; where the order of the others has it before its own value, it counts
    itself there, and so needs one place more.
    """
    n = int(np.count_nonzero(over))
    places = -(-np.arange(1, bins) * n // bins)  # nodes before the first of a class, at least
    lowest, highest = _entries(low, over, places), _entries(high, over, places)
    further = _entries(high, over, places[places < n] + 1)
    ranges = ClassRange(np.empty(len(over), np.int8), np.empty(len(over), np.int8))
    for part in slices(len(over)):
        nodes = np.arange(part.start, part.stop)
        latest = _before(highest, low[part], nodes)
        itself = np.flatnonzero(over[part] & (high[part] > low[part]))
        latest[itself] = _before(further, low[part][itself], nodes[itself])
        ranges.first[part], ranges.last[part] = _before(lowest, high[part], nodes), latest
    for numbers in ranges:
        numbers += 1
    return ranges


def range_together(low: Floats, high: Floats, over: Mask, order: Order, bins: int) -> ClassRange:
    """The classes a node may be in, with nodes of equal value in one class. order: see
    `together`."""
    return ClassRange(
        together(high, low, over, order, bins), together(low, high, over, order, bins)
    )


class _Entries(NamedTuple):
    """Some nodes of `over` by their place in an order by value, best first, then by position."""

    values: Floats
    nodes: Positions


def _entries(values: Floats, over: Mask, places: Positions) -> _Entries:
    """The nodes at these places, counted from 1."""
    ranked = values[over]
    if not len(places):
        return _Entries(ranked[:0], places)
    at = len(ranked) - places
    ranked.partition(np.unique(at))
    bounds, nodes = ranked[at], np.empty(len(places), np.int64)
    for value in np.unique(bounds):
        equal = bounds == value
        nodes[equal] = _equal(values, over, value, places[equal] - np.count_nonzero(ranked > value))
    return _Entries(bounds, nodes)


def _equal(values: Floats, over: Mask, value: float, which: Positions) -> Positions:
    """The nodes of these numbers among those in `over` with this value, counted from 1 by
    position."""
    nodes, before = np.empty(len(which), np.int64), 0
    for part in slices(len(values)):
        equal = np.flatnonzero(over[part] & (values[part] == value))
        here = (which > before) & (which <= before + len(equal))
        nodes[here] = part.start + equal[which[here] - before - 1]
        before += len(equal)
    return nodes


def _before(entries: _Entries, own: Floats, nodes: Positions) -> Positions:
    """How many of the entries are before each node if it has its own value."""
    ascending = np.sort(entries.values)
    upper = np.searchsorted(ascending, own, side="right")
    equal = np.flatnonzero(np.searchsorted(ascending, own, side="left") != upper)
    counts = len(ascending) - upper
    for value, node in zip(*entries, strict=True):
        counts[equal] += (own[equal] == value) & (node < nodes[equal])
    return counts
