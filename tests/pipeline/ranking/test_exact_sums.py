"""Exact sums: those of math.fsum and of fractions, at the worst cases of their bounds too."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.drawing import examples

from crawlrank.jobs.kernel.rank.plain_round import exact_parts
from crawlrank.pipeline.ranking.exact_sums import (
    CHUNKS,
    FULL,
    LOWEST,
    Chunks,
    add,
    carry,
    empty_sum,
    nearest,
    rounded_sum,
    sum_of,
    units,
)

TINIEST, LARGEST = 5e-324, 1.7976931348623157e308
# of magnitudes that no sum of few doubles without overlap can hold: one for each 32 bits and more
LADDER = [2.0**k for k in range(-1074, 970, 31)] + [2.0**k for k in range(-1070, 970, 53)]
# sums that lie half-way between two doubles, but for what comes last: no two parts can tell
HALF_WAY = [1.0, 2.0**-53, 2.0**-106]
doubles = st.one_of(
    st.floats(0, 1e300),
    st.builds(math.ldexp, st.floats(0, 1), st.integers(-1080, 1000)),
    st.builds(math.ldexp, st.just(1.0), st.integers(-1074, 1000)),
)


def sum_all(values: Iterable[float]) -> Chunks:
    chunks = empty_sum()
    for value in values:
        add(chunks, value)
    return chunks


@settings(max_examples=examples(250))
@given(st.lists(doubles, max_size=60), st.integers(0, 60))
@example(HALF_WAY, 1)
@example([*HALF_WAY[:2], 0.0], 1)
@example([1.0, 2.0**-52, 2.0**-53, 0.0], 1)
@example([*HALF_WAY, 2.0**-200, 3.0], 2)
@example([0.0, 0.0, 0.0], 1)
@example([TINIEST, TINIEST, 2.0**-1022], 1)
@example(LADDER, 30)
@example([LARGEST, 2.0**969], 1)  # the largest that rounds down
@example([2.0**1023 - 2.0**970, 2.0**-1074], 1)
def test_sums_are_correctly_rounded_in_any_grouping(values: list[float], at: int) -> None:
    exact, rounded = sum(map(Fraction, values)), math.fsum(values)
    chunks = sum_all(values)
    assert Fraction(units(chunks), 1 << LOWEST) == exact
    assert nearest(chunks) == rounded
    assert Fraction(units(chunks), 1 << LOWEST) == exact  # it carries, and no more
    assert sum_of([sum_all(values[:at]), sum_all(reversed(values[at:]))]) == rounded
    assert math.fsum(exact_parts(values)) == rounded  # those of the jobs
    every = np.arange(len(values), dtype=np.uint32)
    assert rounded_sum(every, np.array(values), 0, len(values), empty_sum()) == rounded


@pytest.mark.parametrize("value", [TINIEST, 1.0, math.pi * 2**-31, 0.1, LARGEST])
def test_no_chunk_overflows(value: float) -> None:
    """Each chunk alone, and all of them, as full as they may be before a term."""
    for full in (*([k] for k in range(CHUNKS - 1)), range(CHUNKS - 1)):
        chunks = empty_sum()
        for k in full:
            chunks[k] = FULL - 1
        before = units(chunks)
        add(chunks, value)
        assert 0 <= int(chunks.min()) <= int(chunks.max()) < FULL
        assert units(chunks) - before == Fraction(value) * 2**LOWEST
        carry(chunks)
        assert units(chunks) - before == Fraction(value) * 2**LOWEST
        assert int(chunks[:-1].max()) < 1 << 32


def test_more_terms_than_any_graph_has_edges_fit() -> None:
    """2^61 times the largest double, in the units of the last chunks."""
    chunks = sum_all([LARGEST])
    total = units(chunks) << 61
    for k in range(CHUNKS):
        chunks[k] = total >> 32 * k & 0xFFFFFFFF
    assert units(chunks) == total
    add(chunks, LARGEST)
    assert units(chunks) == total + int(LARGEST) * 2**LOWEST
    assert nearest(chunks) == math.inf == sum_of([chunks])


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_what_is_not_finite_is_no_number(value: float) -> None:
    chunks = sum_all([1.0, value, 1.0])
    assert math.isnan(nearest(chunks))
    assert math.isnan(sum_of([empty_sum(), chunks]))
    every = np.arange(3, dtype=np.uint32)
    for order in ([1.0, value, 1.0], [value, 1.0, value]):
        result = rounded_sum(every, np.array(order), 0, 3, empty_sum())
        assert not math.isfinite(result)
