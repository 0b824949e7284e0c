"""Growth beside exact means over all choices of pieces, and beside draws from known laws."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.estimate.growth import (
    Bracket,
    distinct_among,
    distinct_times,
    exactly,
    slopes,
    summed,
)

PIECES = 64


def pieces_with(pieces: Sequence[Sequence[int]]) -> list[int]:
    """How many values are in so many pieces."""
    _, counts = np.unique(np.concatenate([np.unique(p) for p in pieces]), return_counts=True)
    return [int(n) for n in np.bincount(counts, minlength=len(pieces) + 1)]


def distinct(pieces: Sequence[Sequence[int]]) -> int:
    return len(set(itertools.chain.from_iterable(pieces)))


@given(
    st.lists(st.sets(st.integers(0, 30), min_size=1, max_size=12), min_size=2, max_size=7),
    st.data(),
)
def test_rarefaction_is_the_mean_over_all_choices(
    pieces: list[set[int]], data: st.DataObject
) -> None:
    chosen = data.draw(st.integers(1, len(pieces)))
    sizes = [len(set().union(*some)) for some in itertools.combinations(pieces, chosen)]
    counts = pieces_with([sorted(piece) for piece in pieces])
    assert distinct_among(counts, chosen) == pytest.approx(sum(sizes) / len(sizes))


def test_rarefaction_of_many_pieces_by_logarithms() -> None:
    """Those of more than 64 pieces are not counted exactly."""
    counts = [0] * 101
    counts[1], counts[7], counts[100] = 500, 80, 3
    inside = 500 * 40 / 100
    often = 80 * (1 - np.prod([(60 - n) / (100 - n) for n in range(7)]))
    assert distinct_among(counts, 40) == pytest.approx(inside + often + 3)


def sampled(draws: np.ndarray, share: float) -> tuple[Bracket, float]:
    """The estimate from a share of the draws in PIECES pieces, and the truth."""
    pieces = np.array_split(draws[: int(len(draws) * share)], PIECES)
    known = distinct([piece.tolist() for piece in pieces])
    return distinct_times(pieces_with(pieces), 1 / share), len(np.unique(draws)) / known


def assert_within(bracket: Bracket, truth: float, factor: float) -> None:
    """The bounds hold the truth, but for a tenth, and the value is near it."""
    assert bracket.low <= truth * 1.1
    assert truth <= bracket.high * 1.1
    assert truth / factor < bracket.value < truth * factor


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pages", [5_000, 50_000])
def test_a_set_of_pages_that_has_an_end(pages: int, seed: int) -> None:
    """All pages equally often: what a large crawl of a small site comes to."""
    draws = np.random.default_rng(seed).integers(pages, size=200_000)
    assert_within(*sampled(draws, 0.05), 2.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("exponent", [1.3, 1.6, 2.0])
def test_heaps_law(exponent: float, seed: int) -> None:
    """Draws from Zipf's law have n^(1/exponent) distinct values, whatever n."""
    draws = np.random.default_rng(seed).zipf(exponent, 400_000)
    assert_within(*sampled(draws, 0.05), 2.0)


def test_what_never_repeats_grows_with_the_bytes() -> None:
    times, truth = sampled(np.arange(100_000), 0.05)
    assert truth == 20
    assert_within(times, truth, 1.2)


def test_what_all_pieces_have_does_not_grow() -> None:
    counts = [0] * PIECES + [1000]
    assert distinct_times(counts, 20).low == 1
    assert distinct_times(counts, 20).value < 1.6  # the least slope that Heaps' law may have
    assert distinct_times(counts, 1) == exactly(1)


def test_little_is_known_from_one_piece_or_none() -> None:
    one = distinct_times([0, 300], 20)
    assert one.low < one.value < one.high <= 20
    assert distinct_times([0, 0, 0], 20) == exactly(1)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=40), st.floats(1, 1e6))
def test_bounds_are_in_order(counts: list[int], times: float) -> None:
    counts[0] = 0
    bracket = distinct_times(counts, times)
    assert 1 <= bracket.low <= bracket.value <= bracket.high <= max(1, times) * 1.000001
    slope = slopes([0, *counts[1:], 1])
    assert 0 < slope.low <= slope.value <= slope.high <= 1


def test_sums_and_products() -> None:
    assert summed([Bracket(1, 2, 3), Bracket(10, 20, 30)]) == Bracket(11, 22, 33)
    assert Bracket(1, 2, 3) * Bracket(2, 2, 4) * 2 == Bracket(4, 8, 24)
    assert summed([]) == exactly(0)
