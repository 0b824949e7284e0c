"""The work on hostile input grows as the input does, in each reader and canonicalizer.

A production of a grammar is made in several lengths, and what it costs is measured in CPU time of
this process: the exponent between two lengths is below MOST. Where a bound is reached, work grows
less, which is fine. The longest input takes no more than SECONDS.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from support.inputs.hostile import PACKED, is_too_long, packed, read, seconds
from support.inputs.productions import Production, productions

pytestmark = pytest.mark.linear
MOST, TRIES = 1.2, 3
TIMES = 4  # as long; a square takes 16 times as much
LONG_ENOUGH = 0.03  # seconds, with which noise is small
LARGEST = 1 << 22  # bytes


def took(data: bytes) -> float:
    first = seconds(lambda: read(data))
    return first if first > 1 else min(first, seconds(lambda: read(data)))


def exponents(make: Production) -> Iterator[float]:
    """The exponents of the growth from a length to TIMES as much, from one with which reading takes
    LONG_ENOUGH on, up to LARGEST bytes, and of these to TIMES as many if a jump may be before; none
    where even LARGEST bytes take less."""
    count, measured = 64, 0
    few = make(count)
    while len(few) * TIMES <= LARGEST or (measured == 1 and len(few) <= LARGEST):
        if (before := took(few)) > LONG_ENOUGH:
            many = make(TIMES * count)
            if len(many) < 1.5 * len(few):
                return  # a form that does not grow
            yield math.log(took(many) / before) / math.log(len(many) / len(few))
            measured += 1
        count *= TIMES
        few = make(count)


@pytest.mark.parametrize("name", productions())
def test_it_is_linear(name: str) -> None:
    """At some lengths: another way of reading from a length on makes a jump, a square does not
    end. Noise makes one, too, so that what is steeper is measured again."""
    make = productions()[name]
    read(make(8))  # imports and tables
    steep = list[float]()
    for _ in range(TRIES):
        begin = len(steep)
        for one in exponents(make):
            if one < MOST:
                return
            steep.append(one)
        if len(steep) == begin:
            return  # all that was read is too short to be measured
    raise AssertionError((name, steep))


@pytest.mark.parametrize("name", productions())
def test_it_is_cheap(name: str) -> None:
    """The input is as much as 64 KiB of gzip hold, or LARGEST bytes. Frames are looked for in what
    is not compressed, so that 64 KiB of their beginnings are that."""
    make, count = productions()[name], 64
    size = len if name.endswith("-heads") else packed
    while len(data := make(2 * count)) < 2 * LARGEST and size(data) < PACKED:
        count *= 2
    assert not is_too_long(seconds(lambda: read(make(count))))
