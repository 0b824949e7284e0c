"""The bytes of an answer as they come from a connection, status line and headers included.

http.client reads `100 Continue`, headers, extensions of chunks and trailers to their end, however
many come and however slowly. Here both are bounded, below everything that reads.
"""

from __future__ import annotations

import io
import socket
import time
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SLOWEST = 1 << 10  # bytes in a second; fewer count after twice the time of a stall
BESIDE = 1 << 18  # bytes that are no body, such as headers
FRAMING = 1  # more of them for each byte of the body: chunks may be small


class WireFault(Exception):
    """So few bytes come, or so many beside the body, that the answer would never end. Neither of
    urllib3's errors nor an OSError, so that no library takes it for another fault."""


class Answer(HTTPResponse):
    """Raises WireFault, also while its head is read."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self._wire = _Wire(self.fp.detach(), 2 * (sock.gettimeout() or 0))
        self.fp = io.BufferedReader(self._wire)

    def read1(self, n: int = -1) -> bytes:
        data = super().read1(n)
        self._wire.body += len(data)
        return data


class _Wire(io.RawIOBase):
    """body: bytes of the body that were taken. slow_after: seconds of waiting over which the rate
    is taken, 0 for no bound; each such time is judged alone."""

    def __init__(self, raw: io.RawIOBase, slow_after: float) -> None:
        self._raw, self._slow_after = raw, slow_after
        self.body = self._all = self._lately = 0
        self._waited = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        begin = time.monotonic()
        count = self._raw.readinto(buffer)
        self._waited += time.monotonic() - begin
        self._all += count or 0
        self._lately += count or 0
        if self._all > BESIDE + (1 + FRAMING) * self.body + len(memoryview(buffer)):
            raise WireFault(f"more than {BESIDE:,} bytes that are no body")
        if self._slow_after and self._waited > self._slow_after:
            if self._lately < SLOWEST * self._waited:
                raise WireFault(f"fewer than {SLOWEST:,} bytes in a second")
            self._lately, self._waited = 0, 0.0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()
