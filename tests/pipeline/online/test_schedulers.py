"""Schedulers and what they keep: order, removal, rates by a clock that is set, wrong numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.kernel.errors import BadInput
from pipeline.online.schedulers import BestFirst
from pipeline.online.stores.changes import CHANGED, DAY, NEW, SAME, SqlitePageChanges
from pipeline.online.stores.database import Database
from pipeline.online.stores.values import SqliteValues


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


def test_many_visits_of_one_page():
    clock = Clock()
    with Database() as database, database.transaction():
        changes = SqlitePageChanges(database, clock)
        for visit in range(20_000):
            clock.now = visit * DAY / 10
            changes.visit(b"a", b"%d" % (visit // 5))
        assert changes.rate(b"a") == pytest.approx(2.23, rel=0.01)  # -log(1 - 1/5) * 10
