"""Requests of a crawl on SQLite: which wait, which were given out, which are done.

A request that was given out and is not done when the file is opened waits again: whoever had it was
killed. So nothing is lost, and nothing is given out twice but what was under way.

Each request has a key of its own. What is wanted again, though it is known, has a key that starts
with AGAIN; its row goes when it is done, so that the file grows with what is distinct only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crawlrank.pipeline.online.stores.database import Database, Page

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
_FREE = "SELECT coalesce(max(id), 0) + 1 FROM requests"
_KNOWN = "SELECT id FROM requests WHERE fingerprint = ?"
_IS_ANY = f"SELECT EXISTS (SELECT 1 FROM requests WHERE state = {WAITING})"
_FORGET = "DELETE FROM requests WHERE id = ? AND substr(fingerprint, 1, ?) = ?"
AGAIN = b"\0again\0"
LOOKED_AT, HOSTS = 64, 256  # of the best requests, and of hosts after them


class CrawlRequest(NamedTuple):
    """page: its URI. host: whose requests are given out one after the other. data: what the crawler
    makes the request of; None for one that stays in memory."""

    key: bytes
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
        self._next: int = database.number(_FREE)  # numbers do not come again in this process

    def is_known(self, key: bytes) -> bool:
        return self._database.number(_KNOWN, (key,)) is not None

    def another_key(self, fingerprint: bytes) -> bytes:
        """The key of a request that is wanted again."""
        return AGAIN + b"%d\0" % self._next + fingerprint

    def add(self, request: CrawlRequest) -> int | None:
        """Its id; None if it was there."""
        with self._database.transaction():
            (number,) = self._database.numbers_of([request.page])
            query = """INSERT OR IGNORE INTO requests
                (id, fingerprint, number, host, state, priority, value, data)
                VALUES (?, ?, ?, ?, 0, ?, ?, ?)"""
            key, _, host, priority, value, data = request
            row = (self._next, key, number, host, priority, value, data)
            is_new = self._database.execute(query, row).rowcount
        self._next += 1
        return self._next - 1 if is_new else None

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
        with self._database.transaction():
            self._database.execute(f"UPDATE requests SET state = {DONE} WHERE id = ?", (number,))
            self._database.execute(_FORGET, (number, len(AGAIN), AGAIN))

    def set_value(self, page: Page, value: float) -> None:
        """Set the value of all waiting requests of a page."""
        query = f"UPDATE requests SET value = ? WHERE number = ? AND state = {WAITING}"
        self._database.execute(query, (value, self._database.number_of(page)))

    def is_any_waiting(self) -> bool:
        return bool(self._database.number(_IS_ANY))

    def waiting(self) -> int:
        return self._count(WAITING)

    def done(self) -> int:
        return self._count(DONE)

    def _count(self, state: int) -> int:
        query = "SELECT count(*) FROM requests WHERE state = ?"
        return int(self._database.number(query, (state,)))
