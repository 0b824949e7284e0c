"""A file on a web server: its bytes in order, through faults, and as a stream that can seek.

Each answer must be of the file that the first one was of: the same size, and the same ETag and
Last-Modified where the server gives them. Single requests give what a server says of a file, and
pieces of the file.

The stream is read in ranges. The first after a step to another position is small; each that follows
it is larger, so that a file read from end to end takes few requests. Where a server refuses ranges,
the file is copied to a temporary one as far as it is read, once, and read there."""

from __future__ import annotations

import email.utils
import io
from typing import TYPE_CHECKING, NamedTuple

from urllib3.exceptions import HTTPError

from crawlrank.jobs.kernel.storage.temporary import temporary_file
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


if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class WebFile(io.RawIOBase):
    """May seek after its end, as files of a disk may. Raises Unreachable. stalled: as in
    Patience."""

    SMALL, LARGE = 1 << 20, 1 << 26  # bytes of the first range, and of the largest
    NEAR = 1 << 20  # bytes that are read and dropped in place of a new request
    KEPT = 1 << 21  # bytes after which a step back takes a new request

    def __init__(self, url: str, stalled: float = STALLED) -> None:
        self._copy: io.BufferedRandom | None = None  # these first: a file that fails is closed, too
        self._body: Body | None = None
        require_web_url(url)
        self.url = url
        self._known = KnownFile(url, stalled)
        self._at, self._range = 0, self.SMALL
        self._kept, self._kept_at = bytearray(), 0  # bytes that were read last, and their place
        self._fault: Exception | None = None
        self._begin()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        self._at = position + (0, self._at, self.size() if whence == io.SEEK_END else 0)[whence]
        return self._at

    def size(self) -> int:
        """The size in bytes: as the server says, or by reading all of the file."""
        first = self._known.first
        if first is not None and first.size is not None:
            return first.size
        return self._copied_to(ENDLESS)

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        if self._fault:
            raise self._fault
        try:
            data = self._read_copy(len(view)) if self._copy else self._read_range(len(view))
        except Exception as error:
            self._fault = error  # a reader that tries again must not wait again
            raise
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def record_read(self) -> None:
        """The reader has seen a record: what is allowed without one counts anew."""
        self._known.patience.record_read()

    def close(self) -> None:
        if not self.closed:
            if self._body:
                self._body.close()
            if self._copy:
                self._copy.close()
        super().close()

    def _begin(self) -> None:
        answer = self._known.ask(0, self._range)
        self._body = Body(self._known, answer, 0, answer.end)
        if answer.response.status == 200:
            self._copy = temporary_file()

    # by ranges

    def _read_range(self, count: int) -> bytes:
        begin = self._at - self._kept_at
        if 0 <= begin < len(self._kept):  # readers go back a little
            return bytes(self._kept[begin : begin + count])
        body = self._body
        if body is not None and 0 < self._at - body.at <= self.NEAR:
            while body.at < self._at and self._keep(body, self._at - body.at):
                pass
        if self._at >= self.size() or not count:
            return b""
        if body is None or body.at != self._at or body.at == body.end:
            body = self._next_range()
        return self._keep(body, count)

    def _keep(self, body: Body, count: int) -> bytes:
        """Read on, and keep what was read for a while."""
        if body.at != self._kept_at + len(self._kept):
            self._kept, self._kept_at = bytearray(), body.at
        data = body.read(count)
        self._kept += data
        if len(self._kept) > 2 * self.KEPT:
            self._kept_at += len(self._kept) - self.KEPT
            del self._kept[: -self.KEPT]
        return data

    def _next_range(self) -> Body:
        """The range from the current position on: larger than the last if that ended here."""
        if self._body is not None:
            follows = self._body.at == self._at == self._body.end
            self._range = min(self.LARGE, 4 * self._range) if follows else self.SMALL
            self._body.close()
        end = min(self.size(), self._at + self._range)
        answer = self._known.ask(self._at, end)
        self._body = Body(self._known, answer, self._at, end)
        return self._body

    # by a copy, of a server that refuses ranges

    def _read_copy(self, count: int) -> bytes:
        assert self._copy is not None
        self._copied_to(self._at + count)
        self._copy.seek(self._at)
        return self._copy.read(count)

    def _copied_to(self, end: int) -> int:
        """Copy up to there, or to the end of the file; how much is copied."""
        assert self._copy is not None and self._body is not None
        self._copy.seek(0, io.SEEK_END)
        while self._body.at < end and (data := self._body.read(PIECE)):
            self._copy.write(data)
        return self._body.at
