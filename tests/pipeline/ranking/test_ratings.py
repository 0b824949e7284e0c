"""The librarian score: an example by hand, and what holds for all."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.ranking.ratings import librarian_score, mean_classes, quantized

# five pages, three raters; the means are 11/3, 2.5, 2, 1, 3, so their classes 4, 3, 2, 1, 3
GIVEN = np.array([[4, 4, 3], [3, 2, 0], [2, 2, 2], [1, 0, 0], [0, 4, 2]], np.int8)
MEANS = [4, 3, 2, 1, 3]


def rating_tables(most: int = 5) -> st.SearchStrategy[np.ndarray]:
    """Ratings of pages by three raters, of whom the first rates every page, the others the first
    page."""
    row = st.tuples(st.integers(1, 4), st.integers(0, 4), st.integers(0, 4))
    first = st.tuples(*[st.integers(1, 4)] * 3)
    rows = st.tuples(first, st.lists(row, max_size=30)).map(lambda both: [both[0], *both[1]])
    return rows.map(lambda table: np.array(table, np.int8))


def test_by_hand() -> None:
    # by score: pages 1, 0, 2, 4, 3; of the sizes 1, 1, 2, 1 they get 4, 3, 3, 2, 1
    score = librarian_score(np.array([8.0, 9.0, 5.0, 1.0, 3.0]), GIVEN)
    assert score.ranking.confusion == ((1, 0, 0, 0), (0, 0, 1, 0), (0, 1, 0, 1), (0, 0, 1, 0))
    assert (score.ranking.pages, score.ranking.share, score.by_order) == (5, 0.2, 0)
    # P_o = 1/5 and P_e = (1 + 1 + 4 + 1) / 25
    assert score.ranking.kappa is not None
    assert score.ranking.kappa.value == pytest.approx((1 / 5 - 7 / 25) / (1 - 7 / 25))
    # numbers 3 4 3 1 2 against 4 3 2 1 3: covariance 0.64, variance 1.04 on both sides
    assert score.ranking.quadratic is not None
    assert score.ranking.quadratic.value == pytest.approx(0.64 / 1.04)
    # the raters against 4 3 2 1, 4 3 2 3 and 4 2 3
    assert [rater.pages for rater in score.raters] == [4, 4, 3]
    assert [rater.share for rater in score.raters] == pytest.approx([1, 1 / 2, 1 / 3])
    assert score.raters[0].kappa == pytest.approx((1, 0, 1, 1), abs=1e-7)


def test_a_half_goes_up() -> None:
    table = np.array([[1, 2, 0], [2, 3, 0], [3, 4, 0], [1, 1, 2], [0, 0, 3]], np.int8)
    assert mean_classes(table).tolist() == [2, 3, 4, 1, 3]
    assert mean_classes(GIVEN).tolist() == MEANS


@given(table=rating_tables())
def test_means_are_rounded_fractions(table: np.ndarray) -> None:
    rated = [[rating for rating in row if rating] for row in table.tolist()]
    means = [math.floor(Fraction(sum(row), len(row)) + Fraction(1, 2)) for row in rated]
    assert mean_classes(table).tolist() == means


@given(table=rating_tables(), data=st.data())
def test_classes_of_a_ranking_have_the_sizes_of_those_of_the_mean(
    table: np.ndarray, data: st.DataObject
) -> None:
    numbers = st.lists(st.integers(0, 6), min_size=len(table), max_size=len(table))
    scores = np.array(data.draw(numbers), float)
    means = mean_classes(table)
    sizes = np.bincount(means, minlength=5)[1:]
    classes, by_order = quantized(scores, sizes)
    assert Counter(classes.tolist()) == Counter(means.tolist())
    for better in range(len(scores)):
        for worse in np.flatnonzero(scores < scores[better]).tolist():
            assert classes[better] >= classes[worse]
    of_score = {score: {*classes[scores == score].tolist()} for score in scores.tolist()}
    assert by_order == sum(len(of_score[score]) > 1 for score in scores.tolist())
    # only the order counts
    score = librarian_score(scores, table)
    assert librarian_score(np.exp(scores), table) == score
    assert score.ranking.share == pytest.approx(np.mean(classes == means))


@given(table=rating_tables())
def test_a_ranking_by_the_means_agrees_with_them(table: np.ndarray) -> None:
    score = librarian_score(mean_classes(table) + 0.0, table)
    assert (score.ranking.share, score.by_order) == (1, 0)
    if len({*mean_classes(table).tolist()}) > 1:
        assert score.ranking.kappa == pytest.approx((1, 0, 1, 1), abs=1e-7)


def test_equal_scores_are_taken_in_the_order_of_the_pages() -> None:
    score = librarian_score(np.ones(5), GIVEN)  # 4, 3, 3, 2, 1
    assert (score.ranking.share, score.by_order) == (0.4, 5)


def test_one_rater_and_one_class() -> None:
    score = librarian_score(np.array([1.0, 2.0]), np.array([[3], [3]], np.int8))
    assert score.ranking.share == score.raters[0].share == 1
    assert score.ranking.kappa is score.ranking.quadratic is None
