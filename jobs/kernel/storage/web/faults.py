"""What can go wrong with a file on a web server: for how long it is tried again, and what is said.

A fault that may pass (429, 5xx, a connection that breaks or stalls) is tried ATTEMPTS times in a
row, after 1, 2, 4 … seconds, or after what the server asks for with Retry-After. Progress in
between begins the count anew.
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from http.client import responses

from crawlrank.jobs.kernel.errors import Unreachable, count_of
from crawlrank.jobs.kernel.storage.web.allowed import WEB_BYTES, WEB_TIME, limit

ATTEMPTS = 5
FIRST_WAIT = 1.0  # seconds
STALLED = 60  # seconds without a byte
LONGEST_WAIT = 120.0  # seconds; a server that asks for more is left alone
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
AGAIN_LATER = "Run the command again later; a run keeps what is finished."
FILE = "a file that can be read"
_UNPRINTABLE = re.compile(r"[^ -~]")


def printable_url(url: str) -> str:
    """For messages: without its query, which may have a key, and control characters; not too long.
    pipeline/workfolder/masking.py masks whole texts alike."""
    shown = re.sub(r"([?#]).+", r"\1***", url[:500], flags=re.S)
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], shown)


def unreachable(url: str, what: str, expected: str = FILE, cure: str = "") -> Unreachable:
    return Unreachable(printable_url(url), what, expected, cure)


def of_status(url: str, status: int) -> Unreachable:
    """The error of a status that does not pass."""
    what = named(status)
    if status in (404, 410):
        return unreachable(url, what, "a file there", "Look at the URL.")
    if status in (401, 403, 407):
        cure = "Look at the URL; crawlrank sends no password."
        return unreachable(url, what, "a file that anybody may read", cure)
    return unreachable(url, what, "status 200 or 206", "Look at the URL, or download the file.")


def named(status: int) -> str:
    return f"HTTP status {status} {responses.get(status, '')}".rstrip()


class Patience:
    """With one file: counts faults in a row, and waits after each. stalled: seconds without a byte
    that are a fault."""

    def __init__(self, url: str, stalled: float = STALLED) -> None:
        self.stalled = stalled
        self._url, self._faults, self._since = url, 0, 0.0
        self.record_read()

    def progressed(self) -> None:
        self._faults = 0

    def record_read(self) -> None:
        """Time and bytes count anew."""
        self._seconds, self._bytes = 0.0, 0

    @contextmanager
    def spending(self) -> Iterator[Callable[[int], None]]:
        """While a server is waited for; is told the bytes that came. Raises Unreachable after the
        time or the bytes that WEB_TIME and WEB_BYTES allow without a record."""
        begin = time.monotonic()
        try:
            yield self._take
        finally:
            self._spend(time.monotonic() - begin)

    def _take(self, count: int) -> None:
        self._bytes += count

    def _spend(self, seconds: float) -> None:
        self._seconds += seconds
        if self._seconds > (most := limit(WEB_TIME)):
            what, option = f"no record in {most:,} s", "--web-time"
        elif self._bytes > (most := limit(WEB_BYTES)):
            what, option = f"no record in {count_of(most, 'byte')}", "--web-bytes"
        else:
            return
        cure = f"Look at the file, or allow more with {option}."
        raise unreachable(self._url, what, "an archive", cure)

    def failed(self, fault: str, wait: float | None = None, cause: Exception | None = None) -> None:
        """Wait before the next attempt. wait: as the server asks. Raises Unreachable after the last
        attempt, and for too long a wait."""
        now = time.monotonic()
        self._since = self._since if self._faults else now
        self._faults += 1
        if wait is not None and wait > LONGEST_WAIT:
            what = f"{fault}; the server asks to wait for {wait:,.0f} s"
            raise unreachable(self._url, what, FILE, AGAIN_LATER) from cause
        if self._faults >= ATTEMPTS:
            what = f"{fault} ({ATTEMPTS} times in a row, within {now - self._since:.0f} s)"
            raise unreachable(self._url, what, FILE, AGAIN_LATER) from cause
        wait = FIRST_WAIT * 2 ** (self._faults - 1) if wait is None else wait
        time.sleep(wait)
        self._spend(wait)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait; None if it does not, or not in a form that is known."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    if not value:
        return None
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())
