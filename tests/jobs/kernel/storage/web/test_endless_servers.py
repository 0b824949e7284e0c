"""Servers that never end what they send, fast and slowly: each ends here, within its bound."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from crawlrank.jobs.kernel.archive.sources import read_archives
from crawlrank.jobs.kernel.errors import Unreachable
from crawlrank.jobs.kernel.storage.web.bodies import WebFile
from crawlrank.jobs.kernel.storage.web.connections import (
    ALLOW_HTTP,
    ALLOW_PRIVATE,
    BESIDE,
    WEB_BYTES,
    WEB_TIME,
)

STALLED = 0.1  # seconds
SECONDS = 600  # of one file, with five attempts that stall or drip for 0.2 s, on a busy machine
HUGE = 10**15
OK, CHUNKED = "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n\r\n"
SIZED = f"Content-Length: {HUGE}\r\n\r\n"
PART = f"HTTP/1.1 206 OK\r\nContent-Range: bytes 0-{HUGE - 1}/{HUGE}\r\n"
RECORD = "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.org/\r\n"

#: what is sent first, and what for ever after it
ENDLESS = {
    "nothing": ("", ""),
    "status": ("HTTP/1.1 200 ", "a"),
    "status-number": ("HTTP/1.1 ", "2"),
    "version": ("HTTP/", "1"),
    "header-name": (OK + "A", "a"),
    "header-value": (OK + "A: ", "a"),
    "header-folded": (OK + "A: b\r\n", " c\r\n"),
    "headers": (OK, "A: b\r\n"),
    "100-continue": ("", "HTTP/1.1 100 Continue\r\n\r\n"),
    "100-header": ("HTTP/1.1 100 Continue\r\n", "A: b\r\n"),
    "103-hints": ("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    "redirect-header": ("HTTP/1.1 302 Found\r\nLocation: /b\r\nA: ", "a"),
    "error-header": ("HTTP/1.1 503 Later\r\nA: ", "a"),
    "no-space-header": (OK + "A", "\r\n"),
    "chunk-size": (OK + CHUNKED, "0"),
    "chunk-extension": (OK + CHUNKED + "1;", "a"),
    "chunk-extensions": (OK + CHUNKED, "1;" + "a" * 60_000 + "\r\na\r\n"),
    "chunks": (OK + CHUNKED, "1\r\n\0\r\n"),
    "chunk": (OK + CHUNKED + "fffffffffffffff\r\n", "\0"),
    "trailer": (OK + CHUNKED + "0\r\nA: ", "a"),
    "trailers": (OK + CHUNKED + "0\r\n", "A: b\r\n"),
    "zeros": (OK + SIZED, "\0"),
    "zeros-in-parts": (PART + SIZED, "\0"),
    "zeros-unsized": (OK + "\r\n", "\0"),
    "lines": (OK + SIZED, "\r\n"),
    "gzip-heads": (OK + SIZED, "\x1f\x8b\x08\0"),
    "header-of-record": (PART + SIZED + RECORD, "A: b\r\n"),
    "record": (PART + SIZED + RECORD + f"Content-Length: {HUGE}\r\n\r\n", "a"),
    "garbage": (PART + SIZED + RECORD, "WARC/"),
    "zip": (PART + SIZED + "PK\3\4", "PK\1\2"),
}
SOONER = {"status", "header-value", "100-continue", "trailers", "zeros-in-parts", "record"}
CASES = [
    pytest.param(
        name, slow,
        marks=[pytest.mark.slow] if (slow and name not in SOONER) or name == "chunks" else [],
        id=f"{name}-{'slow' if slow else 'fast'}",
    )
    for slow in (False, True) for name in ENDLESS
]  # fmt: skip


class _Endless:
    """Sends one thing for ever to whoever asks. taken: bytes that went out."""

    def __init__(self, first: str, then: str, slow: bool) -> None:
        self._first, self._slow = first.encode("latin-1"), slow
        self._then = then.encode("latin-1") * (1 if slow else max(1, (1 << 16) // (len(then) or 1)))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/a.warc"
        self.taken, self._ended = 0, threading.Event()

    @contextlib.contextmanager
    def running(self) -> Iterator[_Endless]:
        thread = threading.Thread(target=self._serve, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
            thread.join()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # closed at the end
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):  # the client has left
            connection.recv(1 << 16)
            connection.sendall(self._first)
            while not self._ended.wait(0.05 if self._slow or not self._then else 0):
                connection.sendall(self._then)
                self.taken += len(self._then)


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOW_HTTP, "1")
    monkeypatch.setenv(ALLOW_PRIVATE, "1")
    monkeypatch.setenv(WEB_BYTES, str(1 << 18))
    monkeypatch.setenv(WEB_TIME, "10")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # before a fault is tried again


def test_there_are_sixty() -> None:
    assert len(CASES) == 60


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "slow"), CASES)
def test_it_ends(name: str, slow: bool) -> None:
    begin = time.monotonic()
    with _Endless(*ENDLESS[name], slow).running() as server:
        with pytest.raises(Unreachable) as error:
            records(server.url)
        assert time.monotonic() - begin < SECONDS
        assert "not foreseen" not in str(error.value)
        assert server.taken < 5 * (BESIDE + (16 << 20))


def records(url: str) -> list[Any]:
    with io.BufferedReader(WebFile(url, STALLED)) as file:
        archives = read_archives(file, url, max_record=1 << 20)
        return [len(list(archive.items)) for archive in archives]
