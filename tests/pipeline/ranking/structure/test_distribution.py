"""Distributions, counted again by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.ranking.structure.degrees import distribution

SCORES = st.lists(st.sampled_from([0.15, 0.2, 0.5]) | st.floats(0.15, 1e6), min_size=1)


@given(SCORES, st.integers(2, 40))
def test_the_distribution_is_true_at_its_points(scores: list[float], points: int) -> None:
    shown = distribution(np.array(scores), points)
    assert list(shown.values) == sorted(set(shown.values)) and set(shown.values) <= set(scores)
    assert (shown.values[0], shown.values[-1]) == (min(scores), max(scores))
    assert len(shown.values) <= points
    for score, share in zip(*shown, strict=True):
        counted = sum(other >= score for other in scores)
        assert share == counted / len(scores)


def test_few_scores_are_all_points_and_many_are_not() -> None:
    few = np.arange(1.0, 41)
    assert np.array_equal(distribution(few, 2_000).values, few)
    assert 500 < len(distribution(np.arange(1.0, 1e5), 2_000).values) <= 2_000


def test_nothing_is_distributed_to_no_points() -> None:
    assert [len(column) for column in distribution(np.empty(0), 10)] == [0, 0]
