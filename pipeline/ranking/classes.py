"""From scores to order and classes.

Equation: of n nodes that the classes are cut over, the one with p of them before it in the order
gets class `1 + B*p//n`; with ties together, nodes of equal score get `1 + B*(first+last)//(2n)`,
first and last the places of the first and the last of them. Any other node gets the class that
its place in the order would have, at most B. The order is by rounded score, best first, then by
key, which is by position. With ties by links it is by score, then by preference, then by key:
the preference of a node comes of the links to it and of its captures (`preferences`).

Dangling nodes are nodes like others here. There is nothing to iterate; how many digits count is
the only trace of how scores were reached.

Numbers only: scores in, classes out; nothing is read or written. There is one sort; whether a node
is near is found from the few nodes at the boundaries. Memory: CUT_BYTES a node beside the scores;
what is as long as the scores is made a SLICE at a time where it is not kept.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlrank.pipeline.data.graph import Floats, Mask
from crawlrank.pipeline.ranking.bounds import rounded, rounded_ends
from crawlrank.pipeline.ranking.class_ranges import (
    ClassRange,
    Numbers,
    Order,
    class_of,
    range_by_key,
    range_together,
    slices,
    together,
)
from crawlrank.pipeline.ranking.options import MAX_BINS, CutOptions, Ties

CUT_BYTES = 38  # a node, at most at a time; sorting takes 28, finding what is near 37
PREFERENCE_BYTES = 8 + 13  # a node, with ties by links: preferences, and what is sorted by them
Preferences = npt.NDArray[np.uint64]


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
    Raises ValueError for bins outside 1 to 125.
    """
    if not 1 <= bins <= MAX_BINS:
        raise ValueError(f"bins is {bins}, expected 1 to {MAX_BINS}")
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
        first, last = _range(scores, bins, digits, over, ties, order, eta=eta, absolute=absolute)
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
        inner = _range(scores[along], bins, digits, over[along], ties, along, **bounds)
        for numbers in inner:
            numbers[along] = numbers.copy()
        return inner
    return _range(scores, bins, digits, over, ties, order_of(scores, digits), **bounds)


def _range(
    scores: Floats,
    bins: int,
    digits: int,
    over: Mask,
    ties: Ties,
    order: Order,
    *,
    eta: float,
    absolute: float,
) -> ClassRange:
    low, high = rounded_ends(scores, digits, eta, absolute)
    if ties == "together":
        return range_together(low, high, over, order, bins)
    return range_by_key(low, high, over, bins)


def preferences(links: npt.NDArray[Any], captures: npt.NDArray[Any]) -> Preferences:
    """What each row of uris adds to the number of its node, which `preferred_first` turns round:
    links to it before captures of it. Sums are modulo 2^64, the same in any order."""
    added: Preferences = links.astype(np.uint64) << np.uint64(32)
    added += captures.astype(np.uint64)
    return added


def preferred_first(sums: Preferences) -> Preferences:
    """Preferences of such sums, the best with the least; in place."""
    return np.invert(sums, out=sums)


def _by_preference(
    scores: Floats, bins: int, digits: int, over: Mask, preferred: Preferences, **bounds: Any
) -> Classes:
    """Classes by key of the nodes along their preferences, where position is preference and key,
    told of where the nodes are."""
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
    """Positions by rounded score, best first, then by position."""
    values = rounded(scores, digits)
    np.negative(values, out=values)
    order = np.argsort(values, kind="stable")
    del values
    kind: Any = position_type(len(order))
    narrow: Order = order.astype(kind, copy=False)
    return narrow


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
