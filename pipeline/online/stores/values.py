"""What it is worth to fetch pages, on SQLite."""

from __future__ import annotations

import math

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.stores.database import Database
from crawlrank.pipeline.online.stores.protocols import Page

_TABLES = (
    "CREATE TABLE IF NOT EXISTS page_values (number INTEGER PRIMARY KEY, value REAL NOT NULL)",
    "CREATE INDEX IF NOT EXISTS by_value ON page_values (value DESC, number)",
)
_NUMBER = "number = (SELECT number FROM pages WHERE page = ?)"


class SqliteValues:
    """Values (protocols.py)."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.transaction():
            for table in _TABLES:
                database.execute(table)

    def set(self, page: Page, value: float) -> None:
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
        query = """SELECT number, page FROM page_values JOIN pages USING (number)
            ORDER BY value DESC, number LIMIT ?"""
        with self._database.transaction():
            best = self._database.execute(query, (count,)).fetchall()
            delete = "DELETE FROM page_values WHERE number = ?"
            self._database.execute_many(delete, ((number,) for number, _ in best))
        return [page for _, page in best]

    def count(self) -> int:
        return int(self._database.number("SELECT count(*) FROM page_values"))
