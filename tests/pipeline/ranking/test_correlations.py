"""Correlations of two orders, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.ranking.correlations import kendall, spearman

values = st.integers(-4, 4).map(float)


@given(pairs=st.lists(st.tuples(values, values), min_size=2, max_size=60))
def test_few_values_with_many_ties(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).T
    if np.ptp(a) and np.ptp(b):
        compare(a, b)


@pytest.mark.parametrize("kinds", [3, 100, 10**9])
@pytest.mark.parametrize("moved", [0.0, 0.1, 1.0])
def test_long_columns(kinds: int, moved: float) -> None:
    rng = np.random.default_rng(kinds)
    a = rng.integers(kinds, size=5001).astype(float)
    b = np.where(rng.random(5001) < moved, rng.permutation(a), a)
    compare(a, b)
    compare(a, -b)


def test_the_same_order_and_the_reverse() -> None:
    a = np.array([0.5, 2.5, 2.5, 7.0])
    for correlation in (spearman, kendall):
        assert correlation(a, a) == pytest.approx(1, abs=1e-15)
        assert correlation(a, -a) == pytest.approx(-1, abs=1e-15)


def compare(a: np.ndarray, b: np.ndarray) -> None:
    assert spearman(a, b) == pytest.approx(scipy.stats.spearmanr(a, b).statistic, abs=1e-12)
    assert kendall(a, b) == pytest.approx(scipy.stats.kendalltau(a, b).statistic, abs=1e-12)
