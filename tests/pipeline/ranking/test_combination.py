"""Combined rankings: closed forms, and what they do not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.ranking.combination import combine

LOW = np.array([1.0, 2.0, 2.0, 8.0])  # mean ranks 1, 2.5, 2.5, 4
HIGH = np.array([30.0, 10.0, 40.0, 20.0])  # ranks 3, 1, 4, 2

columns = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30)
weights = st.floats(1e-6, 1e6)


def test_by_position() -> None:
    assert combine([(LOW, 5.0)]).tolist() == [0.25, 0.625, 0.625, 1.0]
    expected = [(1 + 9) / 16, (2.5 + 3) / 16, (2.5 + 12) / 16, (4 + 6) / 16]
    assert combine([(LOW, 2.0), (HIGH, 6.0)], "position").tolist() == expected


def test_by_probability() -> None:
    assert combine([(LOW, 0.1)], "probability") == pytest.approx(LOW / 13)
    expected = [1 / 26 + 0.15, 2 / 26 + 0.05, 2 / 26 + 0.2, 8 / 26 + 0.1]
    assert combine([(LOW, 3.0), (HIGH, 3.0)], "probability") == pytest.approx(expected)


def test_one_node_and_a_constant_ranking() -> None:
    assert combine([(np.array([7.0]), 1.0)]).tolist() == [1.0]
    constant = np.full(4, 3.0)
    assert combine([(constant, 1.0)]).tolist() == [0.625] * 4
    order = np.argsort(combine([(constant, 9.0), (HIGH, 1.0)]))
    assert order.tolist() == np.argsort(HIGH).tolist()


@given(pairs=columns, w=weights, v=weights)
def test_positions_are_those_of_every_monotone_change(
    pairs: list[tuple[int, int]], w: float, v: float
) -> None:
    a, b = np.array(pairs, float).T
    result = combine([(a, w), (b, v)])
    assert np.array_equal(result, combine([(np.exp(3 * a), w), (np.sqrt(b), v)]))
    assert ((result > 0) & (result <= 1 + 1e-12)).all()
    # ranks sum to N (N + 1) / 2 in every ranking, with ties or without
    assert result.sum() == pytest.approx((len(a) + 1) / 2)


@given(pairs=columns, w=weights, v=weights, factor=weights)
def test_probabilities_are_those_of_every_scale(
    pairs: list[tuple[int, int]], w: float, v: float, factor: float
) -> None:
    a, b = np.array(pairs, float).T + 1
    result = combine([(a, w), (b, v)], "probability")
    assert result == pytest.approx(combine([(factor * a, w), (b / factor, v)], "probability"))
    assert result.sum() == pytest.approx(1)


@pytest.mark.parametrize("how", ["position", "probability"])
def test_only_proportions_of_weights_count(how: str) -> None:
    once = combine([(LOW, 1.0), (HIGH, 3.0)], how)  # type: ignore[arg-type]
    for factor in (2.0**-1000, 2.0**1022 / 3):  # the sum of the last ones is no double
        parts = [(LOW, factor), (HIGH, 3 * factor)]
        assert combine(parts, how) == pytest.approx(once)  # type: ignore[arg-type]
    thrice = [(LOW, 0.5), (LOW, 0.5), (HIGH, 3.0)]
    assert combine(thrice, how) == pytest.approx(once)  # type: ignore[arg-type]


def test_probabilities_keep_distances_that_positions_lose() -> None:
    far, near = np.array([1.0, 2.0, 97.0]), np.array([3.0, 4.0, 1.0])
    by_position, by_probability = (
        combine([(far, 1.0), (near, 1.5)], how) for how in ("position", "probability")
    )
    assert int(by_position.argmax()) == 1
    assert int(by_probability.argmax()) == 2


def test_scores_that_are_all_0_have_no_probabilities() -> None:
    with pytest.raises(ValueError, match="sum"):
        combine([(np.zeros(4), 1.0)], "probability")
