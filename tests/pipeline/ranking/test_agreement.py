"""Agreement of two rankings, against scipy, published values and closed forms."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.ranking.ratings import (
    RankAgreement,
    agreement,
    best_first,
    confusion,
    overlap,
    rank_biased_overlap,
)

values = st.integers(0, 5).map(float)
rows = st.lists(st.tuples(values, values), min_size=1, max_size=40)


def compared(ours: np.ndarray, theirs: np.ndarray, **options: int) -> RankAgreement:
    ones = np.ones(len(ours), np.int8)
    return agreement((ours, theirs), (ones, ones), 1, **options)


@given(pairs=rows)
def test_correlations_and_positions_are_those_of_scipy(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    result = compared(a, b, most=len(a))
    if np.ptp(a) and np.ptp(b):
        assert result.spearman == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-12)
        assert result.kendall == pytest.approx(scipy.stats.kendalltau(a, b).statistic, abs=1e-12)
    else:
        assert result.spearman is result.kendall is None
    positions, others = scipy.stats.rankdata(-a), scipy.stats.rankdata(-b)
    apart = np.abs(positions - others)
    expected = sorted((-apart[node], node) for node in range(len(a)) if apart[node])
    assert [node.id for node in result.displaced] == [node for _, node in expected]
    for node in result.displaced:
        assert (node.ours, node.theirs) == (positions[node.id], others[node.id])
        assert node.share == pytest.approx(apart[node.id] / len(a))


def test_what_is_displaced_most() -> None:
    ours = np.array([9.0, 8.0, 7.0, 6.0, 5.0])
    theirs = np.array([5.0, 8.0, 7.0, 6.0, 9.0])
    first, last = compared(ours, theirs).displaced
    assert (first.id, first.ours, first.theirs, first.share) == (0, 1, 5, 0.8)
    assert (last.id, last.ours, last.theirs, last.share) == (4, 5, 1, 0.8)
    assert compared(ours, theirs, most=1).displaced == (first,)
    assert compared(ours, 2 * ours).displaced == ()


def test_classes() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(1, 8, size=(2, 150_001)).astype(np.int8)  # over several pieces
    pairs = Counter(zip(a.tolist(), b.tolist(), strict=True))
    expected = [[pairs[i, j] for j in range(1, 8)] for i in range(1, 8)]
    assert confusion(a, b, 7).tolist() == expected
    result = agreement((rng.random(len(a)), rng.random(len(a))), (a, b), 7)
    assert [list(row) for row in result.confusion] == expected
    assert result.same_class == np.mean(a == b)


def test_overlaps_of_the_example_of_webber_moffat_and_zobel() -> None:
    """Their table 1: agreements at depths 1 to 7 of <a b c d e f g> and <z c a v w x y>."""
    names = "abcdefgvwxyz"
    ours, theirs = (
        np.array([names.index(name) for name in order])
        for order in ("abcdefgvwxyz", "zcavwxybdefg")
    )
    agreements = [0, 0, 2 / 3, 2 / 4, 2 / 5, 2 / 6, 2 / 7]
    for depth, expected in enumerate(agreements, 1):
        percent = int(100 * depth / 12)  # rounded up to whole nodes
        assert overlap(ours, theirs, percent).nodes == depth
        assert overlap(ours, theirs, percent).overlap == pytest.approx(expected)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9, 0.99])
def test_rank_biased_overlap_in_closed_form(p: float) -> None:
    one, long = np.arange(1), np.arange(5000)
    assert rank_biased_overlap(one, one, p) == pytest.approx(1, abs=1e-15)
    assert rank_biased_overlap(long, long, p) == pytest.approx(1, abs=1e-13)
    swapped, reverse = np.array([1, 0]), np.array([2, 1, 0])
    assert rank_biased_overlap(np.arange(2), swapped, p) == pytest.approx(p)
    expected = (1 - p) * p / 2 + p * p
    assert rank_biased_overlap(np.arange(3), reverse, p) == pytest.approx(expected)
    # the first is the last of the other: A_d = (d - 1) / d, and sum p^(d-1) / d = -ln(1 - p) / p
    moved = np.roll(long, -1)
    expected = 1 + (1 - p) * np.log(1 - p) / p
    assert rank_biased_overlap(long, moved, p) == pytest.approx(expected, abs=1e-12)


def test_rank_biased_overlap_by_sets() -> None:
    """The series as the paper has it, over all orders of five nodes."""
    first = np.arange(5)
    for other in permutations(range(5)):
        shared = [len({*range(d)} & {*other[:d]}) / d for d in range(1, 6)] + [1.0] * 300
        expected = 0.2 * sum(0.8**d * part for d, part in enumerate(shared))
        result = rank_biased_overlap(first, np.array(other), 0.8)
        assert result == pytest.approx(expected, abs=1e-12)
        assert rank_biased_overlap(np.array(other), first, 0.8) == result


def test_equal_scores_are_taken_by_id() -> None:
    assert best_first(np.array([1.0, 3.0, 1.0, 3.0])).tolist() == [1, 3, 0, 2]
    result = compared(np.zeros(1000), np.zeros(1000))
    assert result.rank_biased == pytest.approx(1)
    assert [(top.nodes, top.overlap) for top in result.top] == [(10, 1.0), (100, 1.0)]
