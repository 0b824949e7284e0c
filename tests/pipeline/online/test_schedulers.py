"""Schedulers and what they keep: order, removal, rates by a clock that is set, wrong numbers."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.freshness.allocation import OBJECTIVES, ChangingPages, allocation
from crawlrank.pipeline.online.schedulers import BestFirst, Optimal
from crawlrank.pipeline.online.stores.database import Database
from crawlrank.pipeline.online.stores.page_graph import SqliteValues
from crawlrank.pipeline.online.stores.schedule import (
    CHANGED,
    DAY,
    NEW,
    SAME,
    SqlitePageChanges,
    SqliteSchedule,
)


@given(st.lists(st.tuples(st.binary(max_size=3), st.integers(-3, 3))), st.integers(1, 5))
def test_the_best_come_first_and_once(pairs, count):
    with Database() as database:
        values = SqliteValues(database)
        scheduler, known = BestFirst(values), {}
        for page, value in pairs:
            scheduler.set_value(page, value)
            scheduler.set_rate(page, 1.0)
            known[page] = value
        assert values.count() == len(known)
        order = []
        while pages := scheduler.get_next_pages(count):
            assert len(pages) == min(count, len(known) - len(order))
            order += pages
        assert order == sorted(known, key=lambda page: -known[page])
        assert values.count() == 0


def test_values_change_and_go():
    with Database() as database:
        scheduler = BestFirst(SqliteValues(database))
        for page, value in ((b"a", 1), (b"b", 2), (b"c", 3), (b"a", 9)):
            scheduler.set_value(page, value)
        scheduler.delete(b"c")
        scheduler.delete(b"never seen")
        assert SqliteValues(database).get(b"a") == 9
        assert SqliteValues(database).get(b"c") is None
        assert scheduler.get_next_pages(5) == [b"a", b"b"]
        scheduler.set_value(b"b", 1)
        assert scheduler.get_next_pages() == [b"b"]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -float("inf")])
def test_values_are_numbers(wrong):
    with Database() as database, pytest.raises(BadInput, match="value of b'a'"):
        SqliteValues(database).set(b"a", wrong)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_visits_tell_changes_and_rates_in_days():
    clock = Clock()
    with Database() as database:
        changes = SqlitePageChanges(database, clock, is_corrected=False)
        assert changes.visit(b"a", b"1") == NEW
        assert changes.rate(b"a") is None
        for day, digest, told in ((1, b"1", SAME), (2, b"2", CHANGED), (4, b"3", CHANGED)):
            clock.now = day * DAY
            assert changes.visit(b"a", digest) == told
        assert changes.rate(b"a") == pytest.approx(2 / 4)
        right = SqlitePageChanges(database, clock)
        assert right.rate(b"a") == pytest.approx(0.6355, abs=1e-4)  # -log(1.5 / 3.5) / (4 / 3)
        changes.delete(b"a")
        assert changes.rate(b"a") is None
        assert changes.rate(b"never seen") is None


def test_a_clock_that_goes_back_takes_no_days_away():
    clock = Clock()
    with Database() as database:
        changes = SqlitePageChanges(database, clock, is_corrected=False)
        for day, digest in ((10, b"1"), (12, b"2"), (5, b"3"), (14, b"3")):
            clock.now = day * DAY
            changes.visit(b"a", digest)
        assert changes.rate(b"a") == pytest.approx(2 / 4)


@pytest.mark.parametrize("visits", [20_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_many_visits_of_one_page(visits):
    clock = Clock()
    with Database() as database, database.transaction():
        changes = SqlitePageChanges(database, clock)
        for visit in range(visits):
            clock.now = visit * DAY / 10
            changes.visit(b"a", b"%d" % (visit // 5))
        assert changes.rate(b"a") == pytest.approx(2.23, rel=0.01)  # -log(1 - 1/5) * 10


def demands(count, seed):
    random = np.random.default_rng(seed)
    return random.lognormal(-1, 1, count), random.uniform(0.2, 2, count)


def scheduler_of(database, rates, values, crawl_rate, **options):
    scheduler = Optimal(SqliteSchedule(database, rate=0.1), crawl_rate, **options)
    with database.transaction():
        for page, (rate, value) in enumerate(zip(rates, values, strict=True)):
            scheduler.set_rate(b"%d" % page, rate)
            scheduler.set_value(b"%d" % page, value)
    return scheduler


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_pages_come_as_often_as_the_plan_says(objective):
    rates, values = demands(60, 3)
    wanted = allocation(ChangingPages(rates, values, objective), 20.0).rates
    with Database() as database:
        scheduler = scheduler_of(database, rates, values, 20.0, objective=objective)
        order = [page for _ in range(400) for page in scheduler.get_next_pages(20)]
    counts = Counter(order)
    often = np.array([counts[b"%d" % page] for page in range(60)]) / len(order) * wanted.sum()
    assert often == pytest.approx(wanted, rel=0.03, abs=0.02)


def test_intervals_of_a_page_are_equal():
    with Database() as database:
        scheduler = scheduler_of(database, [0.5] * 10, [1.0] * 10, 5.0)
        order = [page for _ in range(30) for page in scheduler.get_next_pages(7)]
    places = [place for place, page in enumerate(order) if page == b"3"]
    assert {after - before for before, after in pairwise(places)} == {10}


def test_pages_that_are_worth_no_fetch_sleep_until_they_are():
    with Database() as database:
        scheduler = scheduler_of(database, [1.0, 1000.0], [1.0, 1.0], 0.5)
        assert set(scheduler.get_next_pages(9)) == {b"0"}
        scheduler.set_value(b"1", 1e6)
        assert b"1" in scheduler.get_next_pages(2)
        scheduler.delete(b"0")
        scheduler.set_value(b"1", 0)
        assert scheduler.get_next_pages(2) == []


def test_a_schedule_goes_on_where_it_was(tmp_path):
    rates, values = demands(30, 1)
    with Database(tmp_path / "stores") as database:
        scheduler = scheduler_of(database, rates, values, 10.0)
        begun = [scheduler.get_next_pages(5) for _ in range(4)]
    with Database(tmp_path / "stores") as database:
        again = Optimal(SqliteSchedule(database, rate=0.1), 10.0)
        rest = [again.get_next_pages(5) for _ in range(4)]
    with Database() as database:
        whole = scheduler_of(database, rates, values, 10.0)
        whole.revise()
        assert [whole.get_next_pages(5) for _ in range(8)] == begun + rest


def test_no_budget_and_no_pages_give_nothing():
    with Database() as database:
        assert scheduler_of(database, [1.0], [1.0], 0.0).get_next_pages(3) == []
    with Database() as database:
        assert Optimal(SqliteSchedule(database, rate=0.1), 5.0).get_next_pages(3) == []


@pytest.mark.slow
def test_a_sample_of_many_pages_gives_nearly_their_price():
    rates, values = demands(20_000, 5)
    with Database() as database:
        scheduler = scheduler_of(database, rates, values, 2000.0)
        scheduler.revise()
        sampled = scheduler._price
    exact = allocation(ChangingPages(rates, values), 2000.0).price
    assert sampled == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_demands_are_numbers(wrong):
    with Database() as database:
        schedule = SqliteSchedule(database, rate=0.1)
        for change in (schedule.set_rate, schedule.set_value):
            with pytest.raises(BadInput, match="of b'a'"):
                change(b"a", wrong)
        assert schedule.get(b"a") is None
