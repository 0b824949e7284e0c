"""Cohen's kappa with its standard error, against published tables and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.ranking.correlations import kappa, quadratic_weights

# (table, weights) and what is published of kappa, its standard error and its interval
EXAMPLE_1969 = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]  # Fleiss, Cohen, Everitt 1969, n = 200
WEIGHTS_1969 = np.array([[1, 0, 0.4444], [0, 1, 0.6667], [0.4444, 0.6667, 1]])
COUPLES = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]  # Agresti 1990; R's vcd has it
LINEAR = 1 - abs(np.arange(4)[:, None] - np.arange(4)) / 3

tables = st.lists(st.integers(0, 20), min_size=16, max_size=16).map(
    lambda counts: np.array(counts).reshape(4, 4)
)


@pytest.mark.parametrize(
    ("table", "weights", "value", "error"),
    [
        (EXAMPLE_1969, None, 0.429, 0.002885**0.5),
        (EXAMPLE_1969, WEIGHTS_1969, 0.507, 0.003248**0.5),
        (COUPLES, None, 0.1293, 0.06860),
        (COUPLES, LINEAR, 0.2374, 0.07832),
        ([[31, 12], [4, 58]], None, 0.6756757, 0.07344761),  # statpsych's ci.kappa
        ([[0, 4, 1], [0, 8, 0], [0, 1, 5]], None, 0.4842, 0.1380),  # SAS, FREQ
    ],
)
def test_published_examples(
    table: list[list[int]], weights: np.ndarray | None, value: float, error: float
) -> None:
    result = kappa(np.array(table), weights)
    assert result is not None
    assert result.value == pytest.approx(value, abs=5e-4)
    assert result.standard_error == pytest.approx(error, abs=5e-5)


def test_the_interval_that_sas_and_statpsych_print() -> None:
    for table, low, high in (
        ([[0, 4, 1], [0, 8, 0], [0, 1, 5]], 0.2137, 0.7547),
        ([[31, 12], [4, 58]], 0.5317210, 0.8196303),
    ):
        result = kappa(np.array(table))
        assert result is not None
        assert (result.low, result.high) == pytest.approx((low, high), abs=5e-5)


def test_quadratic_weights_on_the_anxiety_ratings_of_r_irr() -> None:
    """Raters 2 and 3, from 1 to 6; irr leaves out 5, which nobody gave, and so has five classes."""
    second = [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4]
    third = [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2]
    table = np.zeros((5, 5), int)
    for pair in zip(second, third, strict=True):
        table[tuple(min(rating, 5) - 1 for rating in pair)] += 1
    for weights, value in ((None, -0.006289308), (quadratic_weights(5), 0.2520325)):
        result = kappa(table, weights)
        assert result is not None
        assert result.value == pytest.approx(value, abs=5e-8)


def test_perfect_agreement_and_perfect_disagreement() -> None:
    for weights in (None, quadratic_weights(4)):
        result = kappa(np.diag([3, 1, 0, 5]), weights)
        assert result == pytest.approx((1, 0, 1, 1), abs=1e-7)
    result = kappa(np.array([[0, 7], [7, 0]]))
    assert result == pytest.approx((-1, 0, -1, -1), abs=1e-7)


def test_nothing_to_agree_on() -> None:
    for table in (np.zeros((4, 4), int), np.diag([0, 9, 0, 0])):
        for weights in (None, quadratic_weights(4)):
            assert kappa(table, weights) is None
    never = np.array([[0, 0], [9, 0]])  # chance does not agree either
    assert kappa(never) == pytest.approx((0, 0, 0, 0))


@given(rows=st.lists(st.integers(1, 9), min_size=3, max_size=3),
       columns=st.lists(st.integers(1, 9), min_size=3, max_size=3))  # fmt: skip
def test_independent_classes(rows: list[int], columns: list[int]) -> None:
    """kappa is 0, and its variance that of Fleiss, Cohen and Everitt's test for 0."""
    table = np.outer(rows, columns)
    result = kappa(table)
    assert result is not None
    p, q = np.array(rows) / sum(rows), np.array(columns) / sum(columns)
    chance = (p * q).sum()
    variance = (chance + chance**2 - (p * q * (p + q)).sum()) / (table.sum() * (1 - chance) ** 2)
    assert result.value == pytest.approx(0, abs=1e-12)
    assert result.standard_error == pytest.approx(variance**0.5)


@given(table=tables)
def test_quadratic_kappa_is_the_concordance_of_the_numbers(table: np.ndarray) -> None:
    """2 cov / (var + var + (mean - mean)^2), of the classes as numbers (Fleiss, Cohen 1973)."""
    a, b = np.indices((4, 4)).reshape(2, -1).repeat(table.ravel(), axis=1)
    result = kappa(table, quadratic_weights(4))
    spread = (a.var() + b.var() + (a.mean() - b.mean()) ** 2) if len(a) else 0
    if spread == 0:
        assert result is None
    else:
        assert result is not None
        covariance = ((a - a.mean()) * (b - b.mean())).mean()
        assert result.value == pytest.approx(2 * covariance / spread, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, quadratic_weights(4)])
def test_the_standard_error_is_that_of_many_samples(weights: np.ndarray | None) -> None:
    rng = np.random.default_rng(1)
    parts = np.array([[16, 6, 2, 1], [5, 18, 7, 2], [2, 6, 12, 5], [1, 2, 5, 10]]) / 100
    samples = rng.multinomial(1000, parts.ravel(), size=4000).reshape(-1, 4, 4)
    results = [result for table in samples if (result := kappa(table, weights))]
    truth = kappa((parts * 100).round().astype(int), weights)
    assert truth is not None
    error = np.mean([result.standard_error for result in results])
    assert np.std([result.value for result in results]) == pytest.approx(error, rel=0.05)
    covered = np.mean([result.low <= truth.value <= result.high for result in results])
    assert covered == pytest.approx(0.95, abs=0.015)


def test_the_interval_is_cut_to_what_kappa_can_be() -> None:
    result = kappa(np.array([[5, 0], [1, 5]]))
    assert result is not None
    assert result.high == 1 < result.value + 1.96 * result.standard_error
