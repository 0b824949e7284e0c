"""Cash of both kinds on SQLite, and the richest pages of each kind.

What all pages got is one number of each kind. A row holds the cash of its page less that number, so
that giving to all pages changes one row, and the order of rows is the order of cash.

The richest pages of each kind are in an index of their own. It holds all pages down to a limit: a
value, and a number of a page among those of that value. SQLite does not touch it when it changes
other pages. An index of all pages would be changed by each gift, which takes several times as long
as to write the gift. The limit is set again when the index holds too few pages, or far more than
its share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from crawlrank.pipeline.online.stores.database import Database, Page

LEAST, SHARE = 1 << 14, 32  # pages that the index holds; or one page in SHARE
_TIMES, _LOOKS = 3, 8  # its share that it may hold; how often it is looked at while it is taken
_EVERY = (-1e308, 0)  # a limit that every page is above
_LIMITS = """CREATE TABLE IF NOT EXISTS richest_limits
    (column_name TEXT PRIMARY KEY, value REAL NOT NULL, number INTEGER NOT NULL)"""


class RichestPages:
    """column: of hits_scores. least: pages that the index holds. Which pages were taken is not
    stored: that only sets the limit."""

    def __init__(self, database: Database, column: str, least: int = LEAST) -> None:
        self._database, self._column, self._left, self._least = database, column, 0, least
        self._order = f"ORDER BY {column} DESC, number DESC"
        with database.transaction():
            database.execute(_LIMITS)
            if database.number("SELECT 1 FROM richest_limits WHERE column_name = ?", (column,)):
                return
            self._set_limit(*_EVERY)

    def take(self, count: int, pages: int) -> list[int]:
        """The numbers of the richest pages, the richest first; of equal ones the higher number.
        pages: how many there are."""
        share = max(self._least, 4 * count, pages // SHARE)
        self._left -= count
        if self._left < 0:
            self._left = share // _LOOKS
            if self._at(_TIMES * share):
                self._set_limit(*self._at(share))
        numbers = self._numbers(count)
        if len(numbers) < min(count, pages):
            self._set_limit(*_EVERY if pages <= share else self._at(share, of_index=False))
            numbers = self._numbers(count)
        return numbers

    def _numbers(self, count: int) -> list[int]:
        query = f"SELECT number FROM {self._indexed()} LIMIT ?"
        return [number for (number,) in self._database.rows(query, (count,))]

    def _at(self, rank: int, *, of_index: bool = True) -> tuple[Any, ...]:
        """The value and the number of a page by its rank in the index, or among all pages; nothing
        if there are fewer."""
        rows = self._indexed() if of_index else f"hits_scores {self._order}"
        query = f"SELECT {self._column}, number FROM {rows} LIMIT 1 OFFSET ?"
        return self._database.execute(query, (rank,)).fetchone() or ()

    def _indexed(self) -> str:
        return (
            f"hits_scores INDEXED BY richest_{self._column}"
            f" WHERE {self._condition(*self._limit())} {self._order}"
        )

    def _limit(self) -> tuple[float, int]:
        query = "SELECT value, number FROM richest_limits WHERE column_name = ?"
        value, number = self._database.execute(query, (self._column,)).fetchone()
        return value, number

    def _set_limit(self, value: float, number: int) -> None:
        name, condition = f"richest_{self._column}", self._condition(value, number)
        self._database.execute(f"DROP INDEX IF EXISTS {name}")
        self._database.execute(
            f"CREATE INDEX {name} ON hits_scores ({self._column}) WHERE {condition}"
        )
        query = "INSERT OR REPLACE INTO richest_limits VALUES (?, ?, ?)"
        self._database.execute(query, (self._column, value, number))

    def _condition(self, value: float, number: int) -> str:
        column = self._column
        return f"({column} > {value!r} OR ({column} = {value!r} AND number > {number}))"


KINDS = ("hub", "authority")


class Cash(NamedTuple):
    """Cash of one kind that a page has. history: cash of all reads. cash: what it has now. last:
    the clock at its last read."""

    history: float
    cash: float
    last: float


class PageCash(NamedTuple):
    hub: Cash
    authority: Cash


_NAMES = [f"{kind}_{of}" for kind in KINDS for of in Cash._fields]
_COLUMNS = ", ".join(_NAMES)
_SET = f"""INSERT INTO hits_scores VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _NAMES)}"""
_TABLES = (
    f"""CREATE TABLE IF NOT EXISTS hits_scores (number INTEGER PRIMARY KEY,
        {_COLUMNS.replace(",", " REAL NOT NULL,")} REAL NOT NULL)""",
    "CREATE TABLE IF NOT EXISTS hits_count (one INTEGER PRIMARY KEY, pages INTEGER NOT NULL)",
    "INSERT OR IGNORE INTO hits_count SELECT 1, count(*) FROM hits_scores",
    """CREATE TRIGGER IF NOT EXISTS hits_more AFTER INSERT ON hits_scores
        BEGIN UPDATE hits_count SET pages = pages + 1; END""",
    """CREATE TRIGGER IF NOT EXISTS hits_fewer AFTER DELETE ON hits_scores
        BEGIN UPDATE hits_count SET pages = pages - 1; END""",
    "CREATE TABLE IF NOT EXISTS given_to_all (kind TEXT PRIMARY KEY, amount REAL NOT NULL)",
    "INSERT OR IGNORE INTO given_to_all VALUES ('hub', 0), ('authority', 0)",
    "CREATE TABLE IF NOT EXISTS hits_clock (one INTEGER PRIMARY KEY, clock REAL NOT NULL)",
    "INSERT OR IGNORE INTO hits_clock VALUES (1, 0)",
)


class SqliteHitsCash:
    """Cash of both kinds, and the clock of its reads. Kinds are those of KINDS. richest: pages that
    the index of the richest holds at least."""

    def __init__(self, database: Database, richest: int = LEAST) -> None:
        self._database = database
        with database.transaction():
            for table in _TABLES:
                database.execute(table)
        self._richest = {kind: RichestPages(database, _column(kind), richest) for kind in KINDS}

    def transaction(self) -> AbstractContextManager[None]:
        """What is changed within it, in stores of the same database too, is changed whole or not at
        all."""
        return self._database.transaction()

    def close(self) -> None:
        """Close the database, with all stores on it."""
        self._database.close()

    def clock(self) -> float:
        return float(self._database.number("SELECT clock FROM hits_clock"))

    def advance(self, amount: float) -> None:
        """Move the clock on."""
        self._database.execute("UPDATE hits_clock SET clock = clock + ?", (amount,))

    def set(self, page: Page, score: PageCash) -> None:
        self.set_many([(page, score)])

    def set_many(self, scores: Iterable[tuple[Page, PageCash]]) -> None:
        with self._database.transaction():
            pairs = list(scores)
            numbers = self._database.numbers_of(page for page, _ in pairs)
            hub, authority = map(self._given, KINDS)
            rows = (
                (number, *_less(score.hub, hub), *_less(score.authority, authority))
                for number, (_, score) in zip(numbers, pairs, strict=True)
            )
            self._database.execute_many(_SET, rows)

    def get(self, page: Page) -> PageCash | None:
        query = f"SELECT {_COLUMNS} FROM hits_scores WHERE number = ?"
        row = self._database.execute(query, (self._database.number_of(page),)).fetchone()
        return row and self._score(row, *map(self._given, KINDS))

    def get_each(self, numbers: Sequence[int]) -> dict[int, PageCash]:
        """The cash of pages, by their numbers."""
        query = f"SELECT number, {_COLUMNS} FROM hits_scores WHERE number IN ({{numbers}})"
        given = tuple(map(self._given, KINDS))
        rows = self._database.rows_of(query, numbers)
        return {number: self._score(row, *given) for number, *row in rows}

    def delete(self, page: Page) -> None:
        number = self._database.number_of(page)
        self._database.execute("DELETE FROM hits_scores WHERE number = ?", (number,))

    def items(self) -> Iterator[tuple[Page, PageCash]]:
        given = tuple(map(self._given, KINDS))
        query = f"SELECT page, {_COLUMNS} FROM hits_scores JOIN pages USING (number)"
        for page, *row in self._database.rows(query):
            yield page, self._score(row, *given)

    def count(self) -> int:
        return int(self._database.number("SELECT pages FROM hits_count"))

    def total(self, kind: str) -> float:
        """Cash of all pages together."""
        column = _column(kind)
        query = f"SELECT total({column}), count(*) FROM hits_scores"
        own, pages = self._database.execute(query).fetchone()
        return float(own + pages * self._given(kind))

    def highest(self, kind: str, count: int) -> list[Page]:
        """The pages with the most cash, the richest first."""
        with self._database.transaction():
            numbers = self._richest[kind].take(count, self.count())
        return self._database.pages_of(numbers)

    def increase(self, kind: str, pages: Iterable[Page], amount: float) -> None:
        """Give the amount to each of some pages, once for each time that it is named."""
        amounts: dict[int, float] = {}
        for number in self._database.known_numbers(pages):
            amounts[number] = amounts.get(number, 0.0) + amount
        self.increase_each(kind, amounts)

    def increase_each(self, kind: str, amounts: Mapping[int, float]) -> None:
        """Give each page its amount, by its number."""
        column = _column(kind)
        query = f"UPDATE hits_scores SET {column} = {column} + ? WHERE number = ?"
        with self._database.transaction():
            numbers = sorted(amounts)  # in the order of the table
            rows = zip(map(amounts.__getitem__, numbers), numbers, strict=True)
            self._database.execute_many(query, rows)

    def increase_all(self, kind: str, amount: float) -> None:
        """Give the amount to each page, in a time that does not depend on how many there are."""
        query = "UPDATE given_to_all SET amount = amount + ? WHERE kind = ?"
        self._database.execute(query, (amount, kind))

    def _given(self, kind: str) -> float:
        query = "SELECT amount FROM given_to_all WHERE kind = ?"
        return float(self._database.number(query, (kind,)))

    def _score(self, row: Iterable[float], hub: float, authority: float) -> PageCash:
        numbers = list(row)
        return PageCash(_less(Cash(*numbers[:3]), -hub), _less(Cash(*numbers[3:]), -authority))


def _less(cash: Cash, given: float) -> Cash:
    return cash._replace(cash=cash.cash - given)


def _column(kind: str) -> str:
    return f"{kind}_cash"
