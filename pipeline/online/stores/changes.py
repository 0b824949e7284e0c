"""What visits saw of changes of pages, on SQLite.

A visit compares the digest of a page with the one before. Changes are estimated from the number of
visits, of changes and the days between the first visit and the last: by default as Cho and
Garcia-Molina correct it (pipeline/online/freshness/change_rates.py), or as changes over days.

The clock may go back, as that of a machine does: such a visit is taken as one at the time of the
last, so days are never fewer than before.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable

import numpy as np

from crawlrank.pipeline.online.freshness.change_rates import corrected, simple
from crawlrank.pipeline.online.stores.database import Database, Page

DAY = 86400.0  # seconds
NEW, CHANGED, SAME = "new", "changed", "same"
_TABLE = """CREATE TABLE IF NOT EXISTS page_changes (number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL, first REAL NOT NULL, last REAL NOT NULL,
    intervals INTEGER NOT NULL, changes INTEGER NOT NULL)"""
_NUMBER = "number = (SELECT number FROM pages WHERE page = ?)"


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
