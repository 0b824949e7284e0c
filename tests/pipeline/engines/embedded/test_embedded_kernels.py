"""Sums of the compiled loops: correctly rounded, as math.fsum's are."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.drawing import examples

from pipeline.ranking.pagerank import plain_kernels as kernels

# sums that lie half-way between two doubles, but for what comes last: no two parts can tell
HALF_WAY = [1.0, 2.0**-53, 2.0**-106]


@settings(max_examples=examples(500))
@given(st.lists(st.floats(0, 1e300), max_size=40))
@example(HALF_WAY)
@example([*HALF_WAY[:2], 0.0])
@example([1.0, 2.0**-52, 2.0**-53, 0.0])
@example([*HALF_WAY, 2.0**-200, 3.0])
@example([0.0, 0.0, 0.0])
def test_sums_are_correctly_rounded(values: list[float]) -> None:
    if math.isinf(sum(values)):
        return
    every = np.arange(len(values), dtype=np.uint32)
    y, partials = np.array(values), np.empty(kernels.PARTIALS)
    assert kernels.rounded_sum(every, y, 0, len(y), partials) == math.fsum(values)


@settings(max_examples=examples(500))
@given(
    st.lists(st.tuples(st.integers(0, 1 << 54), st.integers(-300, 300)), min_size=1, max_size=40)
)
def test_exact_sums_are_exact(parts: list[tuple[int, int]]) -> None:
    values = [math.ldexp(float(digits), exponent) for digits, exponent in parts]
    partials, length = np.empty(kernels.PARTIALS), 0
    for value in values:
        length = kernels.grow(partials, length, value)
    assert sum(map(Fraction, partials[:length].tolist())) == sum(map(Fraction, values))
    assert kernels.nearest(partials, length) == math.fsum(values)
