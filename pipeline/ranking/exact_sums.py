"""Exact sums of doubles in compiled loops: the small superaccumulator of Neal (2015, "Fast exact
summation using small and large superaccumulators"). All sums take the same room, and the order of
their terms does not matter, so sums of ranges add up to the sum of all.

A sum is an int64[CHUNKS], and stands for the integer S = sum of chunks[k] * 2^(32 k), in units of
2^-LOWEST. Its terms are at least 0, and fewer than 2^62.

Every term fits. It is f * 2^x with 0.5 <= f < 1 and -1073 <= x <= 1024, so that it is the integer
f * 2^53 below 2^53, times 2^(x - 53): at least bit 0 of the units, and below bit 2150, which is of
chunk 67. 2^62 such terms are below bit 2212, which is of chunk 69, the last.

No chunk overflows. A term adds less than 2^33 to each of three chunks, k to k + 2. A chunk that
gets to FULL = 2^62 is carried at once, so chunks are below 2^62 before each term, and below 2^63
always.

What is not finite has no units: it sets the last chunk, of which sums use 4 bits, to FULL; then the
sum is no number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from crawlrank.jobs.kernel.machine.machine_code import AHEAD, loop, prefetch
from crawlrank.jobs.kernel.rank.array_types import two_sum
from crawlrank.jobs.kernel.rank.plain_round import UNIT
from crawlrank.pipeline.data.csr import Ids
from crawlrank.pipeline.data.graph import Floats

Chunks = NDArray[np.int64]

CHUNKS = 70
LOWEST = 1126
FULL = 1 << 62
LOW = (1 << 32) - 1  # the bits of a chunk that has been carried
_AHEAD = np.uint64(AHEAD)


@loop
def add(chunks: Chunks, value: float) -> None:
    """Add a value of at least 0."""
    if not value < np.inf:
        chunks[-1] = FULL
        return
    fraction, exponent = math.frexp(value)
    digits = np.int64(fraction * 9007199254740992.0)  # 2^53: exact
    bit = exponent - 53 + LOWEST if digits else 0
    k, shift = bit >> 5, bit & 31
    low, high = (digits & LOW) << shift, (digits >> 32) << shift  # below 2^63 and 2^52
    chunks[k] += low & LOW
    chunks[k + 1] += (low >> 32) + (high & LOW)
    chunks[k + 2] += high >> 32
    if chunks[k] >= FULL or chunks[k + 1] >= FULL or chunks[k + 2] >= FULL:
        carry(chunks)


@loop
def carry(chunks: Chunks) -> None:
    """Leave 32 bits in each chunk but the last; the sum stays the same."""
    over = np.int64(0)
    for k in range(CHUNKS - 1):
        total = chunks[k] + over
        chunks[k] = total & LOW
        over = total >> 32
    chunks[-1] += over


@loop
def nearest(chunks: Chunks) -> float:
    """The double nearest to a sum, of two equally near ones the even one; carries the chunks.

    The first 62 bits and whether there are more decide that: they are more than the 54 which tell
    where a sum lies between two doubles, and the processor rounds an integer in the same way.
    Infinite if the sum is larger than all doubles, not a number if a term was not finite.
    """
    carry(chunks)
    if chunks[-1] >= FULL:
        return np.nan
    top = CHUNKS - 1
    while top > 0 and chunks[top] == 0:
        top -= 1
    bit, head, below = 32 * top, chunks[top], top - 1
    while below >= 0 and head < 1 << 30:  # leaves room for the 32 bits of the next
        head, bit, below = (head << 32) | chunks[below], bit - 32, below - 1
    more = False
    if below >= 0:
        room = 0
        while (head << room) < 1 << 61:
            room += 1
        head = (head << room) | (chunks[below] >> (32 - room))
        bit -= room
        more = (chunks[below] & ((1 << (32 - room)) - 1)) != 0
    for k in range(below):
        more = more or chunks[k] != 0
    if more:
        head |= 1
    half = (bit - LOWEST) // 2  # a product is infinite where ldexp of Python raises an error
    return math.ldexp(float(head), half) * math.ldexp(1.0, bit - LOWEST - half)


def empty_sum() -> Chunks:
    return np.zeros(CHUNKS, np.int64)


def units(chunks: Chunks) -> int:
    """The integer that the chunks stand for."""
    return sum(int(chunk) << 32 * k for k, chunk in enumerate(chunks))


def sum_of(parts: Iterable[Chunks]) -> float:
    """The correctly rounded sum of exact sums: infinite or not a number as `nearest` says."""
    every = list(parts)
    if any(chunks[-1] >= FULL for chunks in every):
        return math.nan
    try:
        return sum(map(units, every)) / (1 << LOWEST)
    except OverflowError:
        return math.inf


@loop
def flow(sources: Ids, y: Floats, begin: int, end: int) -> tuple[float, float]:
    """The sum of y over edges in two parts, wrong by less than (edges * UNIT)^2 of itself."""
    high, low, last = 0.0, 0.0, np.uint64(max(1, len(sources)) - 1)
    for k in range(np.uint64(begin), np.uint64(end)):
        prefetch(y, np.uint64(sources[min(k + _AHEAD, last)]))
        high, error = two_sum(high, y[sources[k]])
        low += error
    return high, low


@loop
def rounded_sum(sources: Ids, y: Floats, begin: int, end: int, chunks: Chunks) -> float:
    """The sum of y >= 0 over edges, correctly rounded: that of math.fsum, to the last bit. Not
    finite if a y is not. chunks: an exact sum, which is overwritten.

    Two parts settle nearly all: their error is so small that both ends of what the sum can be
    round to the same double. The few others are summed exactly.
    """
    high, low = flow(sources, y, begin, end)
    edges = float(end - begin)
    if edges <= 2.0:
        return high
    error = 4.0 * (edges * UNIT) ** 2 * high
    total: float = high + (low - error)
    if total == high + (low + error):
        return total
    chunks[:] = 0
    for k in range(begin, end):
        add(chunks, y[sources[k]])
    return nearest(chunks)
