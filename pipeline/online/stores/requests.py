"""Requests of a crawl on SQLite: which wait, which were given out, which are done.

A request that was given out and is not done when the file is opened waits again: whoever had it was
killed. So nothing is lost, and nothing is given out twice but what was under way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pipeline.online.stores.database import Database
from pipeline.online.stores.protocols import Page

WAITING, GIVEN, DONE = range(3)
_TABLES = (
    """CREATE TABLE IF NOT EXISTS requests (id INTEGER PRIMARY KEY,
        fingerprint BLOB NOT NULL UNIQUE, number INTEGER NOT NULL, host TEXT NOT NULL,
        state INTEGER NOT NULL, priority INTEGER NOT NULL, value REAL NOT NULL, data BLOB)""",
    """CREATE INDEX IF NOT EXISTS waiting ON requests (priority DESC, value DESC, id)
        WHERE state = 0""",
    """CREATE INDEX IF NOT EXISTS waiting_of_hosts ON requests (host, priority DESC, value DESC, id)
        WHERE state = 0""",
    "CREATE INDEX IF NOT EXISTS requests_of_pages ON requests (number)",
    f"UPDATE requests SET state = {WAITING} WHERE state = {GIVEN}",
    # what cannot be written is gone with the process that had it
    f"DELETE FROM requests WHERE data IS NULL AND state = {WAITING}",
)
_ORDER = "ORDER BY priority DESC, value DESC, id"
_BEST = f"SELECT id, host, data FROM requests WHERE state = {WAITING} {_ORDER} LIMIT ?"
_OF_HOST = f"SELECT id, host, data FROM requests WHERE state = {WAITING} AND host = ? {_ORDER}"
_NEXT_HOST = f"SELECT min(host) FROM requests WHERE state = {WAITING} AND host > ?"
LOOKED_AT, HOSTS = 64, 256  # of the best requests, and of hosts behind them


class CrawlRequest(NamedTuple):
    """page: its URI. host: whose requests are given out one after the other. data: what the crawler
    makes the request of; None for one that cannot be written."""

    fingerprint: bytes
    page: Page
    host: str
    priority: int
    value: float
    data: bytes | None


class SqliteRequests:
    def __init__(self, database: Database) -> None:
        self._database = database
        with database.transaction():
            for table in _TABLES:
                database.execute(table)

    def number_of(self, fingerprint: bytes) -> int | None:
        """The id of a request; None for one that was not there."""
        query = "SELECT id FROM requests WHERE fingerprint = ?"
        number: int | None = self._database.number(query, (fingerprint,))
        return number

    def add(self, request: CrawlRequest) -> int | None:
        """Its id; None if it was there."""
        with self._database.transaction():
            (number,) = self._database.numbers_of([request.page])
            query = """INSERT OR IGNORE INTO requests
                (fingerprint, number, host, state, priority, value, data)
                VALUES (?, ?, ?, 0, ?, ?, ?)"""
            fingerprint, _, host, priority, value, data = request
            row = (fingerprint, number, host, priority, value, data)
            cursor = self._database.execute(query, row)
        return cursor.lastrowid if cursor.rowcount else None

    def again(self, number: int, data: bytes | None) -> None:
        """A request waits again, as the crawler changed it."""
        query = f"UPDATE requests SET state = {WAITING}, data = ? WHERE id = ?"
        self._database.execute(query, (data, number))

    def take(self, is_busy: Callable[[str], bool]) -> tuple[int, bytes | None] | None:
        """The best request of a host that is not busy, and its id."""
        with self._database.transaction():
            rows = self._database.execute(_BEST, (LOOKED_AT,)).fetchall()
            row = next((row for row in rows if not is_busy(row[1])), None)
            if row is None and len(rows) == LOOKED_AT:
                row = self._of_another_host(is_busy)
            if row is None:
                return None
            query = f"UPDATE requests SET state = {GIVEN} WHERE id = ?"
            self._database.execute(query, (row[0],))
        return row[0], row[2]

    def _of_another_host(self, is_busy: Callable[[str], bool]) -> tuple[int, str, bytes] | None:
        host = self._database.number(_NEXT_HOST, ("",))
        for _ in range(HOSTS):
            if host is None:
                return None
            if not is_busy(host):
                row: tuple[int, str, bytes] = self._database.execute(_OF_HOST, (host,)).fetchone()
                return row
            host = self._database.number(_NEXT_HOST, (host,))
        return None

    def end(self, number: int) -> None:
        self._database.execute(f"UPDATE requests SET state = {DONE} WHERE id = ?", (number,))

    def set_value(self, page: Page, value: float) -> None:
        """Of the requests of a page that wait."""
        query = f"UPDATE requests SET value = ? WHERE number = ? AND state = {WAITING}"
        self._database.execute(query, (value, self._database.number_of(page)))

    def waiting(self) -> int:
        return self._count(WAITING)

    def done(self) -> int:
        return self._count(DONE)

    def _count(self, state: int) -> int:
        query = "SELECT count(*) FROM requests WHERE state = ?"
        return int(self._database.number(query, (state,)))
