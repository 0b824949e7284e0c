"""When pages are due, and what visits saw of their changes, on SQLite.

A visit compares the digest of a page with the one before. Changes are estimated from the number of
visits, of changes and the days between the first visit and the last: by default as Cho and
Garcia-Molina correct it (pipeline/online/freshness/change_rates.py), or as changes over days.

The clock may go back, as that of a machine does: such a visit is taken as one at the time of the
last, so days are never fewer than before.
"""

from __future__ import annotations

import math
import operator
import random
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.freshness.change_rates import corrected, simple
from crawlrank.pipeline.online.stores.database import Database, Page

_TABLES = (
    """CREATE TABLE IF NOT EXISTS schedule (number INTEGER PRIMARY KEY,
        rate REAL NOT NULL, value REAL NOT NULL, worth REAL, due REAL)""",
    "CREATE INDEX IF NOT EXISTS by_due ON schedule (due) WHERE due IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS by_worth ON schedule (worth) WHERE due IS NULL",
    "CREATE TABLE IF NOT EXISTS schedule_clock (one INTEGER PRIMARY KEY, day REAL NOT NULL)",
    "INSERT OR IGNORE INTO schedule_clock VALUES (1, 0)",
)
# A page that is new, or that gets a value, is due now.
_SET = """INSERT INTO schedule (number, rate, value) VALUES (?, ?, ?)
    ON CONFLICT (number) DO UPDATE SET {column} = excluded.{column}"""
_REVISE = """UPDATE schedule SET
    worth = CASE WHEN rate > 0 AND value > 0 THEN value / rate END,
    due = CASE WHEN rate > 0 AND value > 0 THEN coalesce(due, (SELECT day FROM schedule_clock)) END
    WHERE number = ?"""
_DUE = """SELECT number, page, rate, value, due FROM schedule JOIN pages USING (number)
    WHERE due IS NOT NULL ORDER BY due LIMIT ?"""
_NUMBER = "number = (SELECT number FROM pages WHERE page = ?)"


class Demand(NamedTuple):
    """What the schedule knows of a page. rate: changes a day. value: what a fresh copy is worth."""

    rate: float
    value: float


class SqliteSchedule:
    """When each page is due, in days of the scheduler's clock, by its demand. rate: of pages
    without one. seed: of samples."""

    def __init__(self, database: Database, *, rate: float, seed: int = 0) -> None:
        self._database, self._rate, self._random = database, rate, random.Random(seed)
        with database.transaction():
            for table in _TABLES:
                database.execute(table)

    def set_rate(self, page: Page, rate: float) -> None:
        self._set("rate", page, rate, 0.0)

    def set_value(self, page: Page, value: float) -> None:
        self._set("value", page, self._rate, value)

    def get(self, page: Page) -> Demand | None:
        query = f"SELECT rate, value FROM schedule WHERE {_NUMBER}"
        row = self._database.execute(query, (page,)).fetchone()
        return row and Demand(*row)

    def delete(self, page: Page) -> None:
        self._database.execute(f"DELETE FROM schedule WHERE {_NUMBER}", (page,))

    def count(self) -> int:
        """Pages with a value."""
        return int(self._database.number("SELECT count(*) FROM schedule WHERE worth IS NOT NULL"))

    def sample(self, most: int) -> list[Demand]:
        """The demands of all pages with a value, or of at most `most`, taken at random."""
        database = self._database
        last = database.number("SELECT max(number) FROM schedule") or 0
        if last <= 2 * most:
            query = "SELECT rate, value FROM schedule WHERE worth IS NOT NULL"
            return [Demand(*row) for row in database.rows(query)]
        one = "SELECT rate, value FROM schedule WHERE number = ? AND worth IS NOT NULL"
        numbers = (self._random.randrange(last) + 1 for _ in range(4 * most))
        rows = (database.execute(one, (number,)).fetchone() for number in numbers)
        return [Demand(*row) for row in rows if row][:most]

    def take_due(self, count: int, frequency: Callable[[Demand], float]) -> list[Page]:
        """The pages that are due first, whatever the clock says. Each is due again after its
        interval, by its fetches a day; with none it sleeps, and another one is taken."""
        taken: list[Page] = []
        with self._database.transaction():
            while len(taken) < count:
                rows = self._database.execute(_DUE, (count - len(taken),)).fetchall()
                if not rows:
                    break
                for number, page, rate, value, due in rows:
                    often = frequency(Demand(rate, value))
                    following = due + 1 / often if often > 0 else None
                    query = "UPDATE schedule SET due = ? WHERE number = ?"
                    self._database.execute(query, (following, number))
                    if following is not None:
                        taken.append(page)
                        self._advance(due)
        return taken

    def wake(self, worth: float) -> None:
        """Pages that sleep and are worth more, by value over rate, are due now."""
        query = """UPDATE schedule SET due = (SELECT day FROM schedule_clock)
            WHERE due IS NULL AND worth > ?"""
        self._database.execute(query, (worth,))

    def _advance(self, day: float) -> None:
        self._database.execute("UPDATE schedule_clock SET day = max(day, ?)", (day,))

    def _set(self, column: str, page: Page, rate: float, value: float) -> None:
        number = rate if column == "rate" else value
        if not (number >= 0 and math.isfinite(number)):
            raise BadInput(f"{column} of {page!r}", f"{number:g}", "a number of at least 0")
        with self._database.transaction():
            (of_page,) = self._database.numbers_of([page])
            self._database.execute(_SET.format(column=column), (of_page, rate, value))
            self._database.execute(_REVISE, (of_page,))


DAY = 86400.0  # seconds
NEW, CHANGED, SAME = "new", "changed", "same"
_TABLE = """CREATE TABLE IF NOT EXISTS page_changes (number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL, first REAL NOT NULL, last REAL NOT NULL,
    intervals INTEGER NOT NULL, changes INTEGER NOT NULL)"""


def within(bits: int) -> Callable[[bytes, bytes], bool]:
    """A comparison of digests: true if they have the same length and differ in at most `bits` bits.
    Nearly equal pages have such digests where these are made for that (SimHash: Charikar, STOC
    2002)."""

    def is_same(one: bytes, other: bytes) -> bool:
        differing = int.from_bytes(one, "big") ^ int.from_bytes(other, "big")
        return len(one) == len(other) and differing.bit_count() <= bits

    return is_same


class SqlitePageChanges:
    """What visits saw of changes of pages. clock: in seconds. is_corrected: see above. is_same:
    compares two digests. A page that is nearly the same keeps its digest, so that it changes when
    small changes add up."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float] = time.time,
        *,
        is_corrected: bool = True,
        is_same: Callable[[bytes, bytes], bool] = operator.eq,
    ) -> None:
        self._database, self._clock, self._is_corrected = database, clock, is_corrected
        self._is_same = is_same
        database.execute(_TABLE)

    def visit(self, page: Page, digest: bytes) -> str:
        """Take note of the contents of a page now: `new`, `changed` or `same`."""
        now, database = self._clock(), self._database
        with database.transaction():
            row = database.execute(
                f"SELECT number, digest, last FROM page_changes WHERE {_NUMBER}", (page,)
            ).fetchone()
            if row is None:
                (number,) = database.numbers_of([page])
                query = "INSERT INTO page_changes VALUES (?, ?, ?, ?, 0, 0)"
                database.execute(query, (number, digest, now, now))
                return NEW
            number, before, last = row
            is_change = not self._is_same(before, digest)
            database.execute(
                """UPDATE page_changes SET digest = ?, last = ?, intervals = intervals + 1,
                    changes = changes + ? WHERE number = ?""",
                (digest if is_change else before, max(now, last), is_change, number),
            )
        return CHANGED if is_change else SAME

    def rate(self, page: Page) -> float | None:
        """Changes a day; None for pages that were not visited twice."""
        query = f"SELECT last - first, intervals, changes FROM page_changes WHERE {_NUMBER}"
        row = self._database.execute(query, (page,)).fetchone()
        if row is None or not row[0] > 0:
            return None
        seconds, intervals, changes = (np.array([number], float) for number in row)
        if self._is_corrected:
            return float(corrected(changes, intervals, seconds / DAY)[0])
        return float(simple(changes, seconds / DAY)[0])

    def delete(self, page: Page) -> None:
        self._database.execute(f"DELETE FROM page_changes WHERE {_NUMBER}", (page,))
