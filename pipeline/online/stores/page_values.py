"""A number for each page on SQLite: how relevant its contents are, and what it is worth to fetch
it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.stores.database import Database, Page

_RELEVANCE = (
    "CREATE TABLE IF NOT EXISTS relevance (number INTEGER PRIMARY KEY, relevance REAL NOT NULL)",
    "CREATE INDEX IF NOT EXISTS by_relevance ON relevance (relevance)",
)
_VALUES = (
    "CREATE TABLE IF NOT EXISTS page_values (number INTEGER PRIMARY KEY, value REAL NOT NULL)",
    "CREATE INDEX IF NOT EXISTS by_value ON page_values (value DESC, number)",
)
_NUMBER = "number = (SELECT number FROM pages WHERE page = ?)"


class SqliteRelevance:
    """How relevant the contents of pages are, from 0 to 1."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.transaction():
            for table in _RELEVANCE:
                database.execute(table)

    def set(self, page: Page, relevance: float) -> None:
        """Raises BadInput for other numbers."""
        if not 0 <= relevance <= 1:
            raise BadInput(f"relevance of {page!r}", f"{relevance:g}", "a number from 0 to 1")
        with self._database.transaction():
            (number,) = self._database.numbers_of([page])
            query = "INSERT OR REPLACE INTO relevance VALUES (?, ?)"
            self._database.execute(query, (number, relevance))

    def get(self, page: Page) -> float | None:
        query = f"SELECT relevance FROM relevance WHERE {_NUMBER}"
        relevance: float | None = self._database.number(query, (page,))
        return relevance

    def get_each(self, numbers: Sequence[int]) -> dict[int, float]:
        """The relevance of pages, by their numbers."""
        query = "SELECT number, relevance FROM relevance WHERE number IN ({numbers})"
        return dict(self._database.rows_of(query, numbers))

    def delete(self, page: Page) -> None:
        self._database.execute(f"DELETE FROM relevance WHERE {_NUMBER}", (page,))

    def best(self, count: int) -> list[tuple[Page, float]]:
        """The most relevant pages, the best first."""
        query = """SELECT page, relevance FROM relevance JOIN pages USING (number)
            ORDER BY relevance DESC, number LIMIT ?"""
        return [(page, relevance) for page, relevance in self._database.rows(query, (count,))]


class SqliteValues:
    """What it is worth to fetch each page."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.transaction():
            for table in _VALUES:
                database.execute(table)

    def set(self, page: Page, value: float) -> None:
        """Raises BadInput for what is no number."""
        if not math.isfinite(value):
            raise BadInput(f"value of {page!r}", f"{value:g}", "a number")
        with self._database.transaction():
            (number,) = self._database.numbers_of([page])
            query = "INSERT OR REPLACE INTO page_values VALUES (?, ?)"
            self._database.execute(query, (number, value))

    def get(self, page: Page) -> float | None:
        query = f"SELECT value FROM page_values WHERE {_NUMBER}"
        value: float | None = self._database.number(query, (page,))
        return value

    def delete(self, page: Page) -> None:
        self._database.execute(f"DELETE FROM page_values WHERE {_NUMBER}", (page,))

    def take_best(self, count: int) -> list[Page]:
        """The most valuable pages, the best first; of the same value, those that came first. They
        are removed."""
        query = """SELECT number, page FROM page_values JOIN pages USING (number)
            ORDER BY value DESC, number LIMIT ?"""
        with self._database.transaction():
            best = self._database.execute(query, (count,)).fetchall()
            delete = "DELETE FROM page_values WHERE number = ?"
            self._database.execute_many(delete, ((number,) for number, _ in best))
        return [page for _, page in best]

    def count(self) -> int:
        return int(self._database.number("SELECT count(*) FROM page_values"))
