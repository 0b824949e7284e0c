"""How well an order keeps to classes, against scipy and against counting all pairs."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.analysis.audit import order
from crawlrank.pipeline.analysis.audit.order import CLASSES, ManyOrders, Measure, Orders

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, CLASSES - 1)), min_size=1, max_size=80)


def measured(classes: list[int], batch: int = 7) -> Measure:
    found = Orders(1)
    for at in range(0, len(classes), batch):
        some = np.array(classes[at : at + batch], np.int64)
        found.add(np.zeros_like(some), some)
    return found.measures()[0]


def by_pairs(classes: list[int]) -> Measure:
    pairs = list(combinations(classes, 2))
    ties = sum(one == other for one, other in pairs)
    wrong = sum(one > other for one, other in pairs)
    return Measure(len(classes), len(pairs) - ties, wrong, ties)


@given(st.lists(st.integers(0, CLASSES - 1), min_size=1, max_size=60))
def test_one_pass_counts_what_all_pairs_do(classes: list[int]) -> None:
    assert measured(classes) == by_pairs(classes)


@pytest.mark.parametrize("kinds", [2, 5, 126])
@pytest.mark.parametrize("shuffled", [0.0, 0.2, 1.0])
def test_tau_b_is_that_of_scipy(kinds: int, shuffled: float) -> None:
    rng = np.random.default_rng(kinds)
    classes = np.sort(rng.integers(0, kinds, 3000))
    some = rng.permutation(3000)[: int(3000 * shuffled)]
    classes[some] = rng.permutation(classes[some])
    found = measured(classes.tolist(), 1000)
    assert found.tau_b == pytest.approx(
        scipy.stats.kendalltau(np.arange(3000), classes).statistic, abs=1e-12
    )
    assert found.best == pytest.approx(
        scipy.stats.kendalltau(np.arange(3000), np.sort(classes)).statistic
    )


def test_tau_b_of_what_has_one_class_or_one_member_is_none() -> None:
    for classes in ([3], [3, 3, 3]):
        found = measured(classes)
        assert (found.tau_b, found.best, found.kept) == (None, None, None)


def test_the_order_of_classes_and_its_reverse() -> None:
    assert measured([1, 2, 2, 3]).kept == 1
    assert measured([3, 2, 2, 1]).kept == 0
    assert measured([3, 2, 1]).tau_b == -1
    assert measured([1, 1, 2, 2]).tau_b == pytest.approx(math.sqrt(2 / 3))


@given(ROWS, st.integers(1, 9))
def test_many_groups_are_each_as_alone(rows: list[tuple[int, int]], batch: int) -> None:
    rows.sort(key=lambda row: row[0])
    found = ManyOrders()
    for at in range(0, len(rows), batch):
        groups, classes = np.array(rows[at : at + batch], np.int64).T
        found.add(groups, classes)
    largest = found.end()
    alone = {g: by_pairs([c for group, c in rows if group == g]) for g in {g for g, _ in rows}}
    assert dict(largest) == alone
    assert [m.uris for _, m in largest] == sorted((m.uris for m in alone.values()), reverse=True)
    assert found.groups == len(alone)
    assert found.within == sum(alone.values(), order.NOTHING)


def test_only_the_largest_groups_are_kept() -> None:
    found = ManyOrders(kept=3)
    sizes = [1 + (number * 7) % 50 for number in range(50)]
    groups = np.repeat(np.arange(50), sizes)
    found.add(groups, np.zeros_like(groups))
    assert [measure.uris for _, measure in found.end()] == [50, 49, 48]
    assert (found.groups, found.within.uris) == (50, sum(sizes))
