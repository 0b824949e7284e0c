"""The SQLite database that the stores of one crawl share, so that a change of several of them is
written whole or not at all.

The file has a write-ahead log and every transaction is on the disk before it ends: what a finished
transaction wrote is there after `kill -9` and after a loss of power. Writing many pages in one
transaction is many times as fast as one transaction for each. One process writes at a time.

Stores return None for what they do not know, or leave it out. Adding what is there and deleting
what is not change nothing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError, Shortage

Page = bytes  # the name of a page, any bytes
Edge = tuple[bytes, bytes]  # source, target
MEMORY = ":memory:"
FORMAT = 1
_MARK = 0x6372_6E6B  # SQLite's application id of our files
_CACHE = 64  # MiB of pages of the file
_LOG = 16384  # pages of 4 KiB in the log before they are moved to their places
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    f"cache_size = -{_CACHE << 10}",
    f"wal_autocheckpoint = {_LOG}",
)
_AT_ONCE = 500  # values of a statement, which may have 999 in old versions
_REMEMBERED = 2**18  # numbers of pages, some 60 MB
# SQLite's result codes, which Python 3.10 does not name: by part of the message, found and cure.
_FULL = 13
_IN_USE = "it is in use by another process", "End that one first."
_CURE = {
    5: ("locked", *_IN_USE),
    6: ("locked", *_IN_USE),
    8: ("readonly", "it cannot be written", "Name a file that can be written."),
    11: ("malformed", "a damaged SQLite database", "Take a copy of it, or begin anew."),
    14: ("unable to open", "it cannot be opened", "Name a file in a folder that exists."),
    26: ("not a database", "no SQLite database", "Name another file."),
}
_PAGES = """CREATE TABLE IF NOT EXISTS
    pages (number INTEGER PRIMARY KEY, page BLOB NOT NULL UNIQUE)"""
_EXPECTED = "the file of a crawl's stores"


class Database:
    """path: of the file, which is made if it is not there; in memory by default. wait: seconds for
    another process that writes. Raises BadInput for files that are no such database."""

    def __init__(self, path: str | os.PathLike[str] = MEMORY, *, wait: float = 5.0) -> None:
        self.path, self._depth = os.fspath(path), 0
        self._numbers: dict[bytes, int] = {}  # of pages; a page keeps its number
        self._pages: dict[int, bytes] = {}  # the other way round
        with self._told():
            self._connection = sqlite3.connect(self.path, timeout=wait, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        for pragma in _PRAGMAS:
            self.execute(f"PRAGMA {pragma}")
        mark, version = map(self.number, ("PRAGMA application_id", "PRAGMA user_version"))
        is_new = not self.number("SELECT count(*) FROM sqlite_master")
        if not is_new and (mark, version) != (_MARK, FORMAT):
            what = f"format {version}" if mark == _MARK else "a database of another program"
            raise BadInput(self.path, what, f"{_EXPECTED}, format {FORMAT}", "Name another file.")
        with self.transaction():
            self.execute(f"PRAGMA application_id = {_MARK}")
            self.execute(f"PRAGMA user_version = {FORMAT}")
            self.execute(_PAGES)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All changes within it, or none if it is left by an error. One within another is part of
        it."""
        self._depth += 1
        try:
            if self._depth > 1:
                yield
                return
            self.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._forget()  # pages that were added are gone
                self._connection.rollback()
                raise
            self.execute("COMMIT")
        finally:
            self._depth -= 1

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error

    def _error(self, error: sqlite3.DatabaseError) -> CrawlrankError | sqlite3.DatabaseError:
        code = getattr(error, "sqlite_errorcode", None) or _code_of(str(error))
        if code & 255 == _FULL:
            return Shortage(self.path, "the disk is full", "Make room, or write elsewhere.")
        if code & 255 not in _CURE:
            return error
        _, what, cure = _CURE[code & 255]
        return BadInput(self.path, what, _EXPECTED, cure)

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        with self._told():
            return self._connection.execute(sql, values)

    def execute_many(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with self._told():
            self._connection.executemany(sql, rows)

    def rows(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        with self._told():
            yield from self._connection.execute(sql, values)

    def rows_of(self, sql: str, numbers: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The rows of a query for many numbers, which are `{numbers}` in it: a statement for some
        hundred of them, in their order."""
        parts = (
            tuple(numbers[begin : begin + _AT_ONCE]) for begin in range(0, len(numbers), _AT_ONCE)
        )
        return chain.from_iterable(
            self._all_rows(sql.format(numbers=", ".join("?" * len(part))), part) for part in parts
        )

    def _all_rows(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with self._told():
            return self._connection.execute(sql, values).fetchall()

    def number(self, sql: str, values: tuple[Any, ...] = ()) -> Any:
        """The first column of the first row; None without one."""
        row = self.execute(sql, values).fetchone()
        return row and row[0]

    def number_of(self, page: bytes) -> int | None:
        """The number of a page; None for one that no store has."""
        number = self._numbers.get(page)
        if number is None:
            number = self.number("SELECT number FROM pages WHERE page = ?", (page,))
            if number is not None:
                self._remember(page, number)
        return number

    def numbers_of(self, pages: Iterable[bytes]) -> list[int]:
        """The numbers of pages; new ones are added."""
        return [self._number_or_new(page) for page in pages]

    def known_numbers(self, pages: Iterable[bytes]) -> Iterator[int]:
        """The numbers of those pages that have one."""
        return (number for page in pages if (number := self.number_of(page)) is not None)

    def page_of(self, number: int) -> bytes:
        page = self._pages.get(number)
        if page is None:
            page = self.number("SELECT page FROM pages WHERE number = ?", (number,))
            self._remember(page, number)
        return page

    def pages_of(self, numbers: Sequence[int]) -> list[bytes]:
        unknown = [number for number in numbers if number not in self._pages]
        query = "SELECT number, page FROM pages WHERE number IN ({numbers})"
        pages = dict(self.rows_of(query, unknown))
        pages |= {number: self._pages[number] for number in numbers if number not in pages}
        for number in unknown:
            self._remember(pages[number], number)
        return [pages[number] for number in numbers]

    def _number_or_new(self, page: bytes) -> int:
        number = self.number_of(page)
        if number is None:
            number = self.execute("INSERT INTO pages (page) VALUES (?)", (page,)).lastrowid or 0
            self._remember(page, number)
        return number

    def _remember(self, page: bytes, number: int) -> None:
        if len(self._pages) >= _REMEMBERED:
            self._forget()
        self._numbers[page], self._pages[number] = number, page

    def _forget(self) -> None:
        self._numbers.clear()
        self._pages.clear()

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _code_of(message: str) -> int:
    """The code of an error, which Python 3.10 does not tell."""
    if "disk is full" in message:
        return _FULL
    return next((code for code, (part, _, _) in _CURE.items() if part in message), 0)
