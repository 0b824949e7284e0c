"""A file on a web server as a stream that can seek.

It is read in ranges. The first after a step to another place is small; each that follows it is
larger, so that a file read from end to end takes few requests. Where a server refuses ranges, the
file is copied to a temporary one as far as it is read, once, and read there.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from crawlrank.jobs.kernel.storage.temporary import temporary_file
from crawlrank.jobs.kernel.storage.web.bodies import ENDLESS, PIECE, Body, KnownFile
from crawlrank.jobs.kernel.storage.web.requests import STALLED, require_web_url

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
        """In bytes: as the server says, or by reading all of the file."""
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
        """From the current place on: larger than the last if that ended here."""
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
