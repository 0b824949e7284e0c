"""The richest pages of a table, by an index of these alone.

The index holds all pages down to a limit: a value, and a number of a page among those of that
value. What SQLite changes of other pages does not touch it. The limit is set again when the index
holds too few pages, or far more than its share.
"""

from __future__ import annotations

from typing import Any

from crawlrank.pipeline.online.stores.database import Database

LEAST, SHARE = 1 << 14, 32  # pages that the index holds; the part of all pages, one in so many
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
