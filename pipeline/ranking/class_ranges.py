"""The classes that a node may have when scores are known between two ends.

Near a boundary. A certificate says that every exact score lies in [x/(1+eta), x/(1-eta)], and in
[x-b, x+b], b being its bound `absolute`. Rounding is monotone, so the exact order is one of those
that such scores can give, and a node's earliest place is the one it has with its own score highest
and all others lowest, its latest place the reverse. A node is near a boundary when these two places
are in different classes. That is the plain "within 2 eta of the boundary's score" with the
boundary's score read as the one across it, and it holds for rounding too: a node that is not near
has the class that exact scores give it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.pipeline.data.graph import Floats, Mask, Positions

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
    """The same with nodes of equal value in one class. order: see `together`."""
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
    """Of the nodes in `over` with this value those of these numbers, from 1, by position."""
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
