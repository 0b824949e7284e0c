"""The server of one page: what it answers, to whom, and when it ends."""

from __future__ import annotations

import http.client
import itertools
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.pages.serving import LOOPBACK, PageServer

TEXT = "<!doctype html><title>é</title>"


class Quick(PageServer):
    timeout = 0.02


@pytest.fixture
def server() -> Iterator[PageServer]:
    server = Quick(TEXT)
    thread = threading.Thread(target=server.serve_until_idle, args=(3600,))
    thread.start()
    yield server
    server.last_request = -1e9  # long ago
    thread.join(600)
    assert not thread.is_alive()


def answer(
    server: PageServer, method: str, path: str, **headers: str
) -> tuple[int, bytes, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=600)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    return response.status, response.read(), response.headers


def test_the_page_and_nothing_else(server: PageServer) -> None:
    status, body, headers = answer(server, "GET", "/")
    assert (status, body.decode()) == (200, TEXT)
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Length"] == str(len(TEXT.encode()))
    assert answer(server, "HEAD", "/")[:2] == (200, b"")
    assert answer(server, "GET", "/?x")[0] == 200
    for path in ("/favicon.ico", "/../etc/passwd", "/x"):
        assert answer(server, "GET", path)[0] == 404
    for method in ("POST", "PUT", "OPTIONS"):
        assert answer(server, method, "/")[0] == 501


def test_only_loopback_is_its_name(server: PageServer) -> None:
    """A page of the web whose name was made to lead to loopback is another one."""
    assert answer(server, "GET", "/", Host=f"localhost:{server.server_port}")[0] == 200
    assert answer(server, "GET", "/", Host="127.0.0.1")[0] == 200
    for host in (
        "evil.example",
        f"evil.example:{server.server_port}",
        "",
        "localhost.evil.example",
    ):
        assert answer(server, "GET", "/", Host=host)[0] == 404
    assert server.server_address[0] == LOOPBACK


def test_who_is_connected_and_silent_keeps_nobody_out(server: PageServer) -> None:
    with socket.create_connection((LOOPBACK, server.server_port)):
        assert answer(server, "GET", "/")[0] == 200


def test_it_ends_when_nobody_asks() -> None:
    server, begin = Quick(TEXT), time.monotonic()
    server.serve_until_idle(0.1)
    assert time.monotonic() - begin >= 0.1
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((LOOPBACK, server.server_port), 2)


def test_a_request_keeps_it_longer(server: PageServer) -> None:
    before = server.last_request
    assert answer(server, "GET", "/")[0] == 200
    assert server.last_request > before


def test_a_port_that_is_taken(server: PageServer) -> None:
    with pytest.raises(BadInput, match=r"port \d+: taken by another program.*--port"):
        PageServer(TEXT, server.server_port)


def test_a_client_that_drips_is_closed(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte in time does not give it more time."""
    monkeypatch.setattr(server.RequestHandlerClass, "timeout", 0.3)
    begin = time.monotonic()
    with socket.create_connection((LOOPBACK, server.server_port)) as client:
        client.settimeout(0.02)
        for byte in itertools.cycle(b"GET / HTTP/1.1 A:"):
            try:
                client.sendall(bytes([byte]))
                if client.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
            assert time.monotonic() - begin < 600
