"""How many distinct URIs there are in a whole of which pieces are a sample.

A URI is in k of the M pieces; Q1 URIs are in one piece only, Q2 in two. Two laws bound the whole:

- Unseen URIs (Chao 1987; extrapolated as Colwell et al. 2012 do). If pieces come from a set of
  pages that never changes, there are at least Q0 = (M - 1) / M Q1 (Q1 - 1) / (2 (Q2 + 1)) URIs in
  none of them, and m more pieces have Q0 (1 - (1 - Q1 / (M Q0 + Q1))^m) of these.
- Heaps' law: the number grows as a power of that of the pieces, without an end. The exponent b is
  the slope of log D over log m where the sample ends, between half of the pieces and all. D(m) is
  the mean over all choices of m pieces (rarefaction; Hurlbert 1971):

      D(m) = sum over URIs of 1 - C(M - k, m) / C(M, m)

A crawl is between them: its sites have an end, and others follow. What is estimated is the
geometric mean; low is the first law, or the second with a smaller slope, and high the second with a
greater.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, exp, lgamma, log, sqrt
from typing import NamedTuple

#: how far the mean slope behind the sample is from the slope at its end, at most: least, likely and
#: greatest; and as parts of what the slope is below 1
FROM_SLOPE, OF_REST = (-0.12, -0.05, 0.03), (-1.0, -0.5, 0.33)
LEAST = 0.3  # slope of a crawl that soon has seen every page
UNKNOWN = 0.8  # slope of a sample that does not show it
FEW = 64  # pieces of which ways to choose are counted exactly


class Bracket(NamedTuple):
    """A value that is estimated, and what it lies between."""

    low: float
    value: float
    high: float

    def __mul__(self, other: object) -> Bracket:
        if isinstance(other, Bracket):
            return Bracket(self.low * other.low, self.value * other.value, self.high * other.high)
        if isinstance(other, (int, float)):
            return Bracket(self.low * other, self.value * other, self.high * other)
        return NotImplemented


def exactly(value: float) -> Bracket:
    return Bracket(value, value, value)


def summed(ranges: Sequence[Bracket]) -> Bracket:
    """Of amounts that are high together and low together."""
    return Bracket(*(sum(each) for each in zip(*ranges, strict=True))) if ranges else exactly(0)


def distinct_among(pieces_with: Sequence[int], chosen: int) -> float:
    """The distinct URIs of so many pieces, on average over all choices of them. pieces_with: how
    many URIs are in exactly so many pieces, from 0 on to all of them."""
    every = len(pieces_with) - 1
    return sum(
        count * (1 - _missed(every, k, chosen))
        for k, count in enumerate(pieces_with)
        if count and k
    )


def _missed(every: int, having: int, chosen: int) -> float:
    """The share of choices that have none of the pieces that have a URI."""
    if every - having < chosen:
        return 0.0
    if every <= FEW:
        return comb(every - having, chosen) / comb(every, chosen)
    return exp(
        lgamma(every - having + 1) - lgamma(every - having - chosen + 1)
        - lgamma(every + 1) + lgamma(every - chosen + 1)
    )  # fmt: skip


def distinct_times(pieces_with: Sequence[int], times: float) -> Bracket:
    """How many times as many distinct URIs are in so many times as many pieces, at least once."""
    every, seen = len(pieces_with) - 1, sum(pieces_with[1:])
    if times <= 1 or not seen:
        return exactly(1.0)
    low, likely, high = (times**b for b in slopes(pieces_with))
    if every < 2:
        return Bracket(low, likely, high)
    unseen = 1 + newly_seen(pieces_with, every * (times - 1)) / seen
    return Bracket(min(low, unseen), sqrt(likely * min(likely, unseen)), high)


def newly_seen(pieces_with: Sequence[int], more: float) -> float:
    """The URIs that so many more pieces add to those of the sample, by the first law."""
    every, once = len(pieces_with) - 1, pieces_with[1]
    twice = pieces_with[2] if every > 1 else 0
    unseen = (every - 1) / every * once * (once - 1) / (2 * (twice + 1))
    if not unseen:
        return 0.0
    missed: float = (1 - once / (every * unseen + once)) ** more
    return unseen * (1 - missed)


def slopes(pieces_with: Sequence[int]) -> Bracket:
    """The exponent of Heaps' law behind the sample."""
    every = len(pieces_with) - 1
    half = every // 2
    slope = UNKNOWN
    if half:
        grown = distinct_among(pieces_with, every) / distinct_among(pieces_with, half)
        slope = min(1.0, max(LEAST, log(grown) / log(every / half)))
    off = [
        min(most, part * (1 - slope), key=abs)
        for most, part in zip(FROM_SLOPE, OF_REST, strict=True)
    ]
    return Bracket(*(max(LEAST, slope + each) for each in off))
