"""The richest pages by an index of some pages, against all pages in order."""

from __future__ import annotations

import random

import pytest

from crawlrank.pipeline.online.stores.database import Database
from crawlrank.pipeline.online.stores.hits_cash import Cash, PageCash, SqliteHitsCash

PAGES = 600


def held(database: Database) -> int:
    """Pages in the index, as SQLite's own statistics have it."""
    database.execute("ANALYZE")
    query = "SELECT stat FROM sqlite_stat1 WHERE idx = 'richest_hub_cash'"
    return int((database.number(query) or "0").split()[0])


@pytest.mark.few(1)
@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_the_richest_are_those_of_all_pages_while_cash_moves(spread: float) -> None:
    draw, database = random.Random(1), Database()
    scores = SqliteHitsCash(database, richest=8)
    cash = {b"%03d" % page: 1 + spread * draw.random() for page in range(PAGES)}
    scores.set_many((page, PageCash(Cash(0, c, 0), Cash(0, 0, 0))) for page, c in cash.items())
    most = 0
    for step in range(300):
        count = draw.choice([1, 3, 20])
        best = sorted(cash, key=lambda page: (cash[page], page), reverse=True)[:count]
        assert scores.highest("hub", count) == best
        if step > 5:
            most = max(most, held(database))
        for page in best:
            cash[page] = 0.0
            scores.set(page, PageCash(Cash(0, 0.0, 0), Cash(0, 0, 0)))
        for page in draw.sample([*cash], 3):
            cash[page] += 0.5
            scores.increase("hub", [page], 0.5)
        if step % 50 == 49:
            page = draw.choice([*cash])
            del cash[page]
            scores.delete(page)
            assert scores.count() == len(cash)
    assert 0 < most < PAGES
    assert len(scores.highest("hub", 2 * PAGES)) == len(cash)


def test_a_limit_that_was_set_is_gone_with_its_transaction() -> None:
    database = Database()
    scores = SqliteHitsCash(database, richest=2)
    none = Cash(0, 0, 0)
    pages = [(b"%03d" % page, PageCash(Cash(0, page, 0), none)) for page in range(100)]
    scores.set_many(pages)
    with pytest.raises(ZeroDivisionError), database.transaction():
        scores.highest("hub", 3)
        raise ZeroDivisionError
    assert scores.highest("hub", 2) == [b"099", b"098"]
