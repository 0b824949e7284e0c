"""One page served on loopback, until nobody has asked for it for a while.

It answers GET and HEAD for `/` alone, and only under the names of loopback: a page of the web whose
host name leads here (DNS rebinding) gets nothing.
"""

from __future__ import annotations

import errno
import io
import socket
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from crawlrank.jobs.kernel.errors import BadInput

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LOOPBACK = "127.0.0.1"
TURN = 0.5  # seconds that the server waits for a request before it looks at the clock
PATIENCE = 10.0  # seconds in which a whole request has to come once it is connected


class PageServer(ThreadingHTTPServer):
    """port: 0 for any that is free. Raises BadInput where it is taken."""

    daemon_threads = True
    timeout = TURN
    request_queue_size = 128

    def __init__(self, text: str, port: int = 0) -> None:
        self.content, self.last_request = text.encode(), time.monotonic()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            what = "taken by another program" if taken else str(error)
            cure = "Give another --port, or none for any that is free."
            raise BadInput(f"port {port}", what, "a free port", cure) from error

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/"

    def serve_until_idle(self, seconds: float) -> None:
        """Wait until there was no request for this number of seconds."""
        with self:
            while time.monotonic() < self.last_request + seconds:
                self.handle_request()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that went away is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = PATIENCE
    server_version, sys_version = "crawlrank", ""

    def setup(self) -> None:
        super().setup()
        raw = self.rfile.detach()
        self.rfile = io.BufferedReader(_Within(self.connection, raw, self.timeout))

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are nothing to tell."""

    def _answer(self, *, body: bool) -> None:
        self.server.last_request = time.monotonic()
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        known = host in (LOOPBACK, "localhost") and self.path.partition("?")[0] == "/"
        content = self.server.content if known else b"Only / of loopback is here.\n"
        self.send_response(200 if known else 404)
        kind = "text/html" if known else "text/plain"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)


class _Within(io.RawIOBase):
    """The bytes that come within `seconds`. Raises TimeoutError after them."""

    def __init__(self, connection: socket.socket, raw: io.RawIOBase, seconds: float) -> None:
        self._connection, self._raw, self._seconds = connection, raw, seconds
        self._end = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        count = self._raw.readinto(buffer)
        self._connection.settimeout(self._seconds)  # the answer has its own
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
