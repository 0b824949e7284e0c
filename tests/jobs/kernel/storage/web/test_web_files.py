"""Files on web servers that behave, and on servers that do not. All servers are on loopback."""

from __future__ import annotations

import email.utils
import io
import random
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.systems.web_server import MODIFIED, Served, WebServer

from crawlrank.jobs.kernel.errors import BadInput, Unreachable
from crawlrank.jobs.kernel.storage import opening
from crawlrank.jobs.kernel.storage.opening import (
    modified_of,
    name_of,
    open_binary,
    read_range,
    size_of,
)
from crawlrank.jobs.kernel.storage.web import connections, requests
from crawlrank.jobs.kernel.storage.web.bodies import WebFile
from crawlrank.jobs.kernel.storage.web.connections import ALLOW_HTTP, ALLOW_PRIVATE, is_public

DATA = random.Random(7).randbytes(1_500_000)


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    with WebServer().running() as server:
        yield server


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What is allowed; and the waits, which are not waited for."""
    monkeypatch.setenv(ALLOW_HTTP, "1")
    monkeypatch.setenv(ALLOW_PRIVATE, "1")
    seconds: list[float] = []
    monkeypatch.setattr("time.sleep", seconds.append)
    connections._manager.cache_clear()
    return seconds


def read(url: str) -> bytes:
    with open_binary(url) as file:
        return file.read()


def read_impatiently(url: str) -> bytes:
    """A stall ends sooner."""
    with io.BufferedReader(WebFile(url, stalled=0.3)) as file:
        return file.read()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ranges": False},
        {"ranges": False, "unsized": True},
        {"etag": "", "modified": ""},
        {"etag": 'W/"1"'},
        {"cut": (100_000, 9)},
        {"cut": (100_000, 3), "ranges": False},
        {"before": [(503, {}), (429, {"Retry-After": "0"}), (500, {})]},
    ],
    ids=str,
)
def test_a_file_is_as_on_a_disk(web: WebServer, options: dict[str, Any]) -> None:
    url = web.put("/x", DATA, **options)
    assert read(url) == DATA
    assert size_of(url) == len(DATA)
    assert read_range(url, 1_000_000, 9) == DATA[1_000_000:1_000_009]
    assert read_range(url, len(DATA) - 5, 100) == DATA[-5:]
    with open_binary(url) as file:
        for begin, count in ((0, 9), (1_400_000, 10**6), (5, 2**20), (10**9, 1), (7, 7)):
            file.seek(begin)
            assert file.read(count) == DATA[begin : begin + count]
        assert file.seek(0, 2) == len(DATA)


@pytest.mark.slow
def test_a_connection_that_stalls_is_made_again(web: WebServer) -> None:
    assert read_impatiently(web.put("/stall", DATA, stall=(300_000, 2))) == DATA


class SmallRanges(WebFile):
    SMALL = LARGE = NEAR = KEPT = 700


@settings(max_examples=examples(30))
@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 3000)), max_size=8), st.booleans())
def test_any_steps_and_reads(web: WebServer, steps: list[tuple[int, int]], ranges: bool) -> None:
    data = DATA[:4000]
    url = web.put("/steps", data, ranges=ranges)
    with SmallRanges(url) as file:
        for begin, count in steps:
            file.seek(begin)
            got = b""
            while len(got) < count and (more := file.read(count - len(got))):
                got += more
            assert got == data[begin : begin + count]


def test_what_a_server_says(web: WebServer) -> None:
    url = web.put("/x", b"abc")
    expected = email.utils.parsedate_to_datetime(MODIFIED).timestamp()
    assert modified_of(url) == expected * 1e9
    assert modified_of(web.put("/y", b"abc", modified="soon")) is None
    assert (read(web.put("/empty", b"")), size_of(web.url("/empty"))) == (b"", 0)
    assert name_of("https://h/a/b%20c.warc.gz?token=1/2#x") == "b c.warc.gz"
    assert name_of("a/b%20c?d") == "b%20c?d"


def test_ranges_grow_and_connections_are_kept(web: WebServer) -> None:
    url = web.put("/grow", DATA)
    web.asked.clear()
    assert read(url) == DATA
    sizes = [int(e) - int(b) + 1 for _, r, _ in web.asked for b, e in [r[6:].split("-")]]
    assert sizes == [1 << 20, len(DATA) - (1 << 20)]
    assert [etag for _, _, etag in web.asked] == ["", '"1"']


def test_small_steps_back_take_no_request(web: WebServer) -> None:
    url = web.put("/back", DATA)
    with open_binary(url) as file:
        web.asked.clear()
        for begin in range(0, 1_400_000, 45_000):
            file.seek(max(0, begin - 50))
            assert file.read(45_050) == DATA[max(0, begin - 50) :][:45_050]
    assert len(web.asked) <= 2


def test_a_step_far_away_takes_no_bytes_between(web: WebServer) -> None:
    url = web.put("/far", DATA)
    web.asked.clear()
    with open_binary(url) as file:
        file.read(10)
        file.seek(1_200_000)
        assert file.read(10) == DATA[1_200_000:1_200_010]
    assert [asked for _, asked, _ in web.asked] == ["bytes=0-1048575", "bytes=1200000-1499999"]


def fails(url: str, *words: str, reader: Callable[[str], bytes] = read) -> str:
    with pytest.raises(Unreachable) as caught:
        reader(url)
    message = str(caught.value)
    for word in (url, *words):
        assert word in message
    assert caught.value.expected
    return message


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_a_status_that_does_not_pass_is_not_tried_again(web: WebServer, status: int) -> None:
    url = web.put("/no", DATA, before=[(status, {})] * 9)
    fails(url, f"HTTP status {status}", "Look at the URL")
    assert len(web.files["/no"].before) == 8


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_status_that_passes_is_tried_so_many_times(
    web: WebServer, status: int, waits: list[float]
) -> None:
    url = web.put("/later", DATA, before=[(status, {})] * 9)
    fails(url, f"HTTP status {status}", "5 times in a row", "again later")
    assert len(web.files["/later"].before) == 4
    assert waits == [1, 2, 4, 8]


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured(web: WebServer, form: str, waits: list[float]) -> None:
    wait = "99" if form == "seconds" else email.utils.formatdate(time.time() + 99, usegmt=True)
    url = web.put("/wait", b"abc", before=[(429, {"Retry-After": wait})])
    assert read(url) == b"abc"
    (waited,) = waits
    assert waited == 99 if form == "seconds" else 60 < waited < 99


def test_a_server_that_asks_for_hours_is_left_alone(web: WebServer) -> None:
    url = web.put("/hours", DATA, before=[(503, {"Retry-After": "7200"})] * 2)
    fails(url, "asks to wait for 7,200 s")
    assert len(web.files["/hours"].before) == 1


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cut": (5000, 99)}, ["ended at byte 25,000 of 1,500,000", "5 times"]),
        ({"cut": (5000, 99), "ranges": False}, ["ended at byte 5,000 of 1,500,000"]),
        ({"length": 4_000_000, "ranges": False}, ["ended at byte 1,500,000 of 4,000,000"]),
        ({"shift": 5}, ["other bytes than those asked for", "bytes 0-"]),
        ({"then": Served(DATA, '"2"')}, ["has changed while it was read", "ETag"]),
        ({"then": Served(DATA, "", "Thu, 22 Oct 2015 07:28:00 GMT")}, ["Last-Modified"]),
        ({"then": Served(DATA + b"x", "", "")}, ["changed", "size 1500001, before 1500000"]),
        ({"then": Served(DATA, ranges=False)}, ["refuses a range"]),
    ],
    ids=str,
)
def test_a_server_that_misbehaves(
    web: WebServer, options: dict[str, Any], words: list[str]
) -> None:
    fails(web.put("/bad", DATA, **options), *words)


@pytest.mark.slow
def test_a_server_that_stalls_for_ever(web: WebServer) -> None:
    url = web.put("/stalls", DATA, stall=(5000, 99))
    fails(url, "no byte in 0.3 s", "5 times", reader=read_impatiently)


def test_a_length_that_is_too_short_ends_there(web: WebServer) -> None:
    """Nobody can see more: what follows would be the next answer. An archive is damaged there."""
    assert read(web.put("/short", DATA, length=1000, ranges=False)) == DATA[:1000]
    url = web.put("/short-range", DATA, length=1000, linger=0.1)
    assert read_range(url, 0, 4000) == DATA[:4000]


@pytest.mark.slow
def test_drops_of_bytes_do_not_last_for_ever(web: WebServer) -> None:
    begin = time.monotonic()
    url = web.put("/drip", DATA, drip=0.02)
    fails(url, "fewer than 1,024 bytes in a second", reader=read_impatiently)
    assert time.monotonic() - begin < 600


def test_a_reader_does_not_wait_twice_for_what_failed(web: WebServer) -> None:
    url = web.put("/once", DATA, cut=(5000, 99))
    with open_binary(url) as file:
        with pytest.raises(Unreachable):
            file.read()
        web.asked.clear()
        with pytest.raises(Unreachable):
            file.read()
        assert not web.asked


# redirects and addresses


def test_redirects_are_followed_within_bounds(web: WebServer) -> None:
    web.put("/end", DATA[:10])
    for name, target in (("/a", "b"), ("/b", web.url("/end")), ("/loop", "loop")):
        web.put(name, b"", before=[(302, {"Location": target})] * 99)
    assert read(web.url("/a")) == DATA[:10]
    fails(web.url("/loop"), "more than 10 redirects")


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://h/x", "gopher://h", "s3://b/k"])
def test_no_redirect_leads_to_another_scheme(web: WebServer, target: str) -> None:
    url = web.put("/away", b"", before=[(301, {"Location": target})])
    fails(url, f"redirects to {target}", "https://")


@pytest.mark.parametrize("target", ["https://[::1", "https://[v1.x]:y]/", "//[", "https://a]b/"])
def test_a_redirect_to_what_is_no_url(web: WebServer, target: str) -> None:
    fails(web.put("/nowhere", b"", before=[(302, {"Location": target})]), "cannot be read as a URL")


def test_no_redirect_leads_from_https_to_http(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Unreachable, match="redirects to http://h/x"):
        monkeypatch.delenv(ALLOW_HTTP)
        requests._require_scheme("https://h/", "http://h/x")
    fails(web.put("/x", b"abc"), "not encrypted", "--allow-http")


def test_private_addresses_are_refused(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    web.put("/x", b"abc")
    monkeypatch.delenv(ALLOW_PRIVATE)
    web.asked.clear()
    for host in ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"):
        fails(web.url("/x", host), "private address", "--allow-private")
    assert not web.asked


def test_a_redirect_to_a_private_address_is_refused(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first host is public in what is looked up, and on loopback in what is connected to."""
    web.put("/x", b"abc")
    web.put("/inward", b"", before=[(302, {"Location": web.url("/x")})])
    with_public_name(monkeypatch, {"public.example": ["93.184.215.14"]})
    monkeypatch.delenv(ALLOW_PRIVATE)
    web.asked.clear()
    fails(web.url("/inward", "public.example"), "private address 127.0.0.1")
    assert [path for path, *_ in web.asked] == ["/inward"]


def test_a_name_that_becomes_private_later_is_refused(
    web: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: whatever a name's second address is, that is the one that is checked."""
    web.put("/x", DATA[:10])
    answers = with_public_name(monkeypatch, {"turn.example": ["93.184.215.14", "127.0.0.1"]})
    monkeypatch.delenv(ALLOW_PRIVATE)
    url = web.url("/x", "turn.example")
    assert read(url) == DATA[:10]
    connections._manager.cache_clear()  # or the connection would be kept
    web.asked.clear()
    fails(url, "private address 127.0.0.1")
    assert not web.asked
    assert answers == {"turn.example": []}


def with_public_name(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, list[str]]
) -> dict[str, list[str]]:
    """Names whose addresses are answered in order; connections to public ones go to loopback."""
    look_up = socket.getaddrinfo
    given = {address for addresses in answers.values() for address in addresses}
    public = {address for address in given if is_public(address)}

    def looked_up(host: str, port: int, *args: Any, **more: Any) -> Any:
        address = answers[host].pop(0) if host in answers else host
        return look_up("127.0.0.1" if host in public else address, port, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    return answers


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True), ("2606:2800:21f::1", True), ("10.0.0.1", False),
        ("172.16.3.4", False), ("192.168.1.1", False), ("169.254.169.254", False),
        ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False), ("::1", False),
        ("fe80::1%eth0", False), ("fd00::1", False), ("::ffff:10.0.0.1", False),
        ("::ffff:93.184.215.14", True), ("64:ff9b::a00:1", False), ("2002:a00:1::", False),
        ("255.255.255.255", False), ("::", False), ("ff02::1", False),
    ],
)  # fmt: skip
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(address) == public


# what cannot be asked for


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https:///x", "no host"), ("https://", "no host"), ("https://[x/y", "no host"),
        ("https://h:99999/", "no host"), ("https://u:secret@h/x", "password in the URL"),
        ("https://no-such-host.invalid/x", "no address of its host"),
    ],
)  # fmt: skip
def test_urls_that_cannot_be_asked_for(url: str, words: str) -> None:
    with pytest.raises(Unreachable, match=words) as caught:
        read(url)
    assert "secret" not in str(caught.value)


def test_a_port_where_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        fails(f"http://127.0.0.1:{free.getsockname()[1]}/x", "no connection", "5 times")


def test_the_web_has_files_only() -> None:
    with pytest.raises(OSError, match="only archives"):
        opening.located("https://h/links")


def test_certificates_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(connections.BUNDLE, "/no/such/file")
    with pytest.raises(BadInput, match="cannot be read as certificates"):
        read("https://127.0.0.1:9/x")
