"""The days of fetches, against a queue of the standard library, and what other plans are."""

from __future__ import annotations

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples

from crawlrank.pipeline.online.freshness.allocation import (
    ChangingPages,
    caught,
    rival_plans,
    shared,
)
from crawlrank.pipeline.online.freshness.due_dates import due_dates

DAYS = st.floats(0, 50)
PAGES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.05, 0.3, 1.0, 2.5]), DAYS), min_size=1, max_size=30
)


def served(rates, ages, budget, horizon):
    """All fetches in their order, (day, page)."""
    due = [1 / rate - age if rate else np.inf for rate, age in zip(rates, ages, strict=True)]
    queue = [(day, page) for page, day in enumerate(due)]
    heapq.heapify(queue)
    now, fetches, begin, count = 0.0, [], 0.0, 0
    while queue and queue[0][0] < horizon and now < horizon and budget:
        day, page = heapq.heappop(queue)
        if day > now:
            begin, count, now = day, 0, day
        fetches.append((now, page))
        heapq.heappush(queue, (now + 1 / rates[page], page))
        count += 1
        now = begin + count / budget
    return fetches


@settings(max_examples=examples(200), deadline=None)
@given(PAGES, st.sampled_from([0.0, 0.7, 3.0, 40.0]), st.sampled_from([0.5, 7.0, 30.0]))
def test_pages_are_fetched_in_the_order_in_which_they_are_due(pages, budget, horizon):
    rates, ages = np.array(pages).T.copy()
    due = due_dates(rates, ages, budget, horizon)
    wanted = served(rates, ages, budget, horizon)
    assert due.fetches.tolist() == [
        sum(page == other for _, other in wanted) for page in range(len(rates))
    ]
    first = {page: day for day, page in reversed(wanted)}
    for page, day in first.items():
        assert due.first[page] == pytest.approx(day)
    for page in {*range(len(rates))} - first.keys():
        assert due.first[page] >= horizon or (not budget and due.first[page] >= 0)
    assert due.fetches.sum() <= budget * horizon + 1


def test_what_is_overdue_does_not_come_at_once():
    due = due_dates(np.full(100, 0.1), np.full(100, 60.0), 10.0, 30.0)
    assert np.sort(due.first).tolist() == (np.arange(100) / 10).tolist()
    assert due.fetches.tolist() == [3] * 100
    assert due_dates(np.zeros(2), np.ones(2), 1.0, 9.0).first.tolist() == [np.inf, np.inf]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.floats(0, 100), st.floats(0.01, 50))
def test_a_shared_budget_is_used_up_in_proportion(weights, budget, most):
    column = np.array(weights)
    shares = shared(column, budget, most)
    usable = min(budget, most * np.count_nonzero(column))
    assert shares.sum() == pytest.approx(usable, abs=1e-9)
    assert (shares <= most * (1 + 1e-12)).all()
    free = (shares < most * (1 - 1e-9)) & (column > 1e-100)
    if free.any():
        units = shares[free] / column[free]
        assert units == pytest.approx(np.full(len(units), units[0]))


def test_rival_plans_are_by_nothing_by_changes_and_by_value():
    pages = ChangingPages(np.array([1.0, 2.0, 0.0]), np.array([3.0, 0.0, 1.0]), most=100)
    plans = {name: rates.tolist() for name, rates in rival_plans(pages, 12)}
    assert plans == {"uniform": [4, 4, 4], "proportional": [4, 8, 0], "importance": [9, 0, 3]}


@pytest.mark.parametrize(("rate", "days"), [(0.01, 10), (0.08, 10), (0.1, 10), (0.13, 10), (3, 2)])
def test_changes_caught_by_going_through_all_beginnings_and_times(rate, days):
    interval, points = 1 / rate, 1000
    phases = (np.arange(points) + 0.5) / points * interval
    changes = (np.arange(points) + 0.5) / points * days
    fetches = np.floor((days - phases) / interval)  # of those after the first one
    last = np.where(phases < days, phases + fetches * interval, -1.0)
    share = (changes[None] < last[:, None]).mean()
    assert caught(np.array([rate]), np.array([float(days)]))[0] == pytest.approx(share, abs=2e-3)


def test_nothing_is_caught_without_fetches():
    assert caught(np.zeros(1), np.ones(1)).tolist() == [0.0]
