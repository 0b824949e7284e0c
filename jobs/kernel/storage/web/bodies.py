"""The bytes of a file on a web server in order, through faults, and from one file alone.

Each answer must be of the file that the first one was of: the same size, and the same ETag and
Last-Modified where the server gives them.

Single requests give what a server says of a file, and pieces of the file.
"""

from __future__ import annotations

import email.utils
from typing import NamedTuple

from urllib3.exceptions import HTTPError

from crawlrank.jobs.kernel.storage.web.connections import WireFault, forget_connections
from crawlrank.jobs.kernel.storage.web.requests import (
    ENDED,
    STALLED,
    FileAnswer,
    Patience,
    ask,
    fault_of,
    require_web_url,
    unreachable,
)

PIECE = 1 << 16  # bytes that are taken from a connection at a time
PROGRESS = 1 << 16  # bytes since the last fault with which a file is worth more attempts
ENDLESS = 1 << 60  # bytes


class KnownFile:
    """The file that the first answer was of. size, etag, modified: as in FileAnswer."""

    def __init__(self, url: str, stalled: float = STALLED) -> None:
        self.url, self.patience = url, Patience(url, stalled)
        self.first: FileAnswer | None = None

    def ask(self, begin: int, end: int) -> FileAnswer:
        """Raises Unreachable, also if the file is not what it was."""
        first = self.first
        strong = first.etag if first and first.etag.startswith('"') else ""
        answer = ask(self.url, begin, end, self.patience, strong)
        if first is None:
            self.first = answer
            return answer
        for name, before, now in (
            ("size", first.size, answer.size),
            ("ETag", first.etag, answer.etag),
            ("Last-Modified", first.modified, answer.modified),
        ):
            if before and now and before != now:
                answer.response.close()
                what = f"has changed while it was read ({name} {now!a}, before {before!a})"
                cure = "Give the command again."
                raise unreachable(self.url, what, "the same file until its end", cure)
        if (first.response.status, answer.response.status) == (206, 200):
            answer.response.close()
            what = "the server refuses a range, and gave one before"
            raise unreachable(self.url, what, "ranges", "Download the file, and name that.")
        return answer


class Body:
    """Bytes of a file from one place on, in order. A connection that breaks, stalls or ends too
    early is made again where it ended, or from the beginning where the server refuses ranges.

    at: the place of the next byte. end: None until it is known.
    """

    def __init__(self, known: KnownFile, answer: FileAnswer, at: int, end: int | None) -> None:
        self._known, self._answer = known, answer
        self.at, self.end = at, end
        self._passed = answer.begin  # by this connection
        self._counted = at  # where progress was last seen

    def read(self, count: int) -> bytes:
        """Some bytes; b"" at the end. Raises Unreachable."""
        while self.end is None or self.at < self.end:
            left = count if self.end is None else min(count, self.end - self.at)
            try:
                data = self._take(max(1, min(self.at - self._passed or left, PIECE)))
            except (HTTPError, OSError, WireFault) as error:
                self._again(fault_of(self._known.url, error, self._known.patience), error)
                continue
            if not data:
                if self.end is None and self._passed >= self.at:
                    self.end = self.at
                    break
                self._again(ENDED)
                continue
            self._passed += len(data)
            if self._passed > self.at:
                self.at = self._passed
                if self.at - self._counted >= PROGRESS:
                    self._counted = self.at
                    self._known.patience.progressed()
                return data
        self.close()
        return b""

    def _take(self, count: int) -> bytes:
        """Bytes of the connection, as they come. Raises HTTPError, OSError, WireFault."""
        with self._known.patience.spending() as spent:
            data: bytes = self._answer.response.read1(count) or b""
            spent(len(data))
        return data

    def _again(self, fault: str, cause: Exception | None = None) -> None:
        """Continue with another connection."""
        size = self._answer.size
        of = "" if size is None else f" of {size:,}"
        self._answer.response.close()
        forget_connections()
        self._known.patience.failed(f"{fault} at byte {self._passed:,}{of}", cause=cause)
        self._answer = self._known.ask(self.at, self.end or ENDLESS)
        self._passed = self._answer.begin
        self._counted = self.at

    def close(self) -> None:
        """Keeps the connection for the next request if nothing is left in it."""
        response = self._answer.response
        if getattr(response, "length_remaining", 1) == 0:
            response.release_conn()
        else:
            response.close()


class Facts(NamedTuple):
    """What a server says of a file. size: None if it does not say. modified: ns since 1970."""

    size: int | None
    etag: str
    modified: int | None


def facts_of(url: str) -> Facts:
    """The facts of a file, by one request for a byte of it. Raises Unreachable."""
    return beginning_of(url, 1)[0]


def beginning_of(url: str, count: int) -> tuple[Facts, bytes]:
    """What the server says of a file, and its first bytes, by one request. Raises Unreachable."""
    require_web_url(url)
    known = KnownFile(url)
    answer = known.ask(0, count)
    body = Body(known, answer, 0, min(count, answer.size) if answer.size is not None else None)
    data = _read(body, count)
    return Facts(answer.size, answer.etag, _nanoseconds(answer.modified)), data


def range_of(url: str, begin: int, count: int) -> bytes:
    """Fewer bytes only at the end of the file. Raises Unreachable."""
    require_web_url(url)
    known = KnownFile(url)
    answer = known.ask(begin, begin + count)
    end = begin + count if answer.size is None else min(begin + count, answer.size)
    return _read(Body(known, answer, begin, None if answer.size is None else end), count)


def _read(body: Body, count: int) -> bytes:
    data = bytearray()
    try:
        while len(data) < count and (more := body.read(count - len(data))):
            data += more
    finally:
        body.close()
    return bytes(data)


def _nanoseconds(date: str) -> int | None:
    """The nanoseconds since 1970 of an HTTP date; None if it is not one."""
    try:
        return int(email.utils.parsedate_to_datetime(date).timestamp()) * 10**9
    except (ValueError, TypeError, OverflowError):
        return None
