"""How relevant pages are, on SQLite."""

from __future__ import annotations

from collections.abc import Sequence

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.stores.database import Database
from crawlrank.pipeline.online.stores.protocols import Page

_TABLES = (
    "CREATE TABLE IF NOT EXISTS relevance (number INTEGER PRIMARY KEY, relevance REAL NOT NULL)",
    "CREATE INDEX IF NOT EXISTS by_relevance ON relevance (relevance)",
)
_NUMBER = "number = (SELECT number FROM pages WHERE page = ?)"


class SqliteRelevance:
    """Relevance (protocols.py)."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.transaction():
            for table in _TABLES:
                database.execute(table)

    def set(self, page: Page, relevance: float) -> None:
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
        query = "SELECT number, relevance FROM relevance WHERE number IN ({numbers})"
        return dict(self._database.rows_of(query, numbers))

    def delete(self, page: Page) -> None:
        self._database.execute(f"DELETE FROM relevance WHERE {_NUMBER}", (page,))

    def best(self, count: int) -> list[tuple[Page, float]]:
        query = """SELECT page, relevance FROM relevance JOIN pages USING (number)
            ORDER BY relevance DESC, number LIMIT ?"""
        return [(page, relevance) for page, relevance in self._database.rows(query, (count,))]
