"""URIs of captures that are not UTF-8: the bytes that the server knows, escaped, wherever one is
read, so that a page is one page to its links, its captures and its revisits."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawls import ok
from support.inputs.archive_samples import HTML, arc_head, extracted, read, targets, warc
from support.inputs.crawl_logs import log
from support.paths import SMALL_ARCHIVES

from crawlrank.jobs.kernel.keys.keys import key_of
from crawlrank.jobs.kernel.keys.uris import as_text
from crawlrank.pipeline.analysis.audit import crawl_log

LATIN1 = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=%s\r\n\r\n"
GBK = "我们".encode("gbk")


def raw_warc(
    uri: bytes, block: bytes = HTML, kind: bytes = b"response", more: bytes = b""
) -> bytes:
    media_type = b"application/warc-fields" if kind == b"metadata" else b"application/http"
    header = (
        b"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
        b"%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
    )
    return header % (kind, uri, more, media_type, len(block)) + block + b"\r\n\r\n"


def raw_arc(uri: bytes, block: bytes = HTML) -> bytes:
    line = b"%s 192.0.2.1 20200102030405 text/html %d\n"
    return line % (uri, len(block)) + block + b"\n"


MAKERS = {
    "WARC": lambda uris: b"".join(map(raw_warc, uris)),
    "ARC": lambda uris: arc_head() + b"".join(map(raw_arc, uris)),
    "folded WARC": lambda uris: b"".join(raw_warc(b"\r\n " + uri) for uri in uris),
}


@pytest.mark.parametrize("form", MAKERS)
def test_pages_that_differ_in_raw_bytes_stay_two(form: str) -> None:
    raw = [
        b"http://h/s?q=\xe9cole",
        b"http://h/s?q=\xe8cole",
        b"http://h/" + GBK,
        b"http://h/\xff%20",
    ]
    _, captures, damage, counters = extracted(MAKERS[form](raw))
    safe = ":/?=%"
    assert [row.uri.decode() for row in captures] == [quote_from_bytes(uri, safe) for uri in raw]
    assert (damage, counters["captures"]) == ([], 4)


@pytest.mark.parametrize("form", MAKERS)
def test_utf_8_stays_as_it_was_crawled(form: str) -> None:
    uri = "http://h/école?q=é".encode()
    assert [row.uri for row in extracted(MAKERS[form]([uri]))[1]] == [uri]


@pytest.mark.parametrize("charset", ["iso-8859-1", "gbk", "windows-1251", "shift_jis", "utf-8"])
@pytest.mark.parametrize("make", [raw_warc, raw_arc])
def test_links_of_a_page_in_its_charset_reach_the_captures(charset: str, make: object) -> None:
    text = {"gbk": "我们业", "windows-1251": "при", "shift_jis": "日本"}.get(charset, "é\xa0à")
    raw = text.encode(charset)
    page = LATIN1 % charset.encode() + b'<a href="/s?q=%s">x</a>' % raw
    archive = [make(b"http://h/", page), make(b"http://h/s?q=" + raw)]  # type: ignore[operator]
    links, captures, _, _ = extracted((arc_head() if make is raw_arc else b"") + b"".join(archive))
    assert key_of(links[0].target) == key_of(captures[1].uri)
    assert charset == "utf-8" or links[0].target == captures[1].uri


@given(st.binary(max_size=12))
def test_the_bytes_decide_the_key_not_their_spelling(raw: bytes) -> None:
    """However much of it happens to be UTF-8."""
    raw = bytes(byte for byte in raw if byte > 0xA0)
    escaped = b"http://h/s?q=" + quote_from_bytes(raw).encode()
    assert key_of(as_text(b"http://h/s?q=" + raw).encode()) == key_of(escaped)


def test_revisits_name_the_page_by_the_same_spelling() -> None:
    refers = (
        b"WARC-Refers-To-Target-URI: http://h/\xe9\r\nWARC-Refers-To-Date: 2020-01-02T03:04:05Z\r\n"
    )
    data = raw_warc(b"http://h/\xe9") + raw_warc(b"http://h/\xe9", HTML, b"revisit", refers)
    rows = extracted(data, timestamps=True)[1]
    assert rows[0].uri == rows[1].uri == rows[1].refers_to_uri == b"http://h/%E9"


def test_redirects_and_headers() -> None:
    block = b"HTTP/1.1 302 Found\r\nLocation: /s?q=\xe9\r\n\r\n"
    assert targets(raw_warc(b"http://h/", block)) == [("http://h/s?q=%E9", "R")]
    block = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nRefresh: 0; url=/\xe8\r\nX: \xe9\r\n\r\n"
    )
    assert targets(raw_warc(b"http://h/", block)) == [("http://h/%E8", "R")]


def test_sitemaps_in_robots_txt() -> None:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nSitemap: /\xe9\nSitemap: /\xe8\n"
    record = raw_warc(b"http://h/robots.txt", block)
    assert targets(record, links="all") == [("http://h/%E9", "X"), ("http://h/%E8", "X")]


def test_metadata_records() -> None:
    lines = b"via: http://h/\xe8\r\nhopsFromSeed: L\r\noutlink: http://h/\xe9 L a/@href\r\n"
    page = raw_warc(b"http://h/\xff", b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
    links, captures, _, counters = extracted(page + raw_warc(b"http://h/\xff", lines, b"metadata"))
    assert [(link.source, link.target) for link in links] == [(b"http://h/%FF", b"http://h/%E9")]
    assert (captures[0].via, counters["metadata.unmatched"]) == (b"http://h/%E8", 0)


@pytest.mark.parametrize("header", ["WARC-Header-Metadata", "ARC-Header-Metadata"])
def test_wats(header: str) -> None:
    """Python's writers leave bytes that are no UTF-8 as lone surrogates."""
    uri, when = "http://h/\udce9", "2020-01-02T03:04:05Z"
    fields = {"WARC-Type": "response", "WARC-Target-URI": uri, "WARC-Date": when}
    if header.startswith("ARC"):
        fields = {"Target-URI": uri, "Date": "20200102030405"}
    links = {"Links": [{"path": "A@/href", "url": "/\udce8"}]}
    http = {"Response-Message": {"Status": "200"}, "HTML-Metadata": links}
    payload = {"HTTP-Response-Metadata": {**http, "Headers": {"Content-Type": "text/html"}}}
    envelope = {"Envelope": {header: fields, "Payload-Metadata": payload}}
    record = warc(json.dumps(envelope).encode(), "", "metadata", media_type="application/json")
    found, captures, _, _ = extracted(record)
    assert [row.uri for row in captures] == [b"http://h/%E9"]
    assert [link.target for link in found] == [b"http://h/%E8"]


def test_line_ends_in_a_uri() -> None:
    for data in (raw_warc(b"http://h/a\rb"), arc_head() + raw_arc(b"http://h/a\rb")):
        assert [row.uri for row in extracted(data)[1]] == [b"http://h/a%0Db"]


def test_crawl_logs(tmp_path: Path) -> None:
    path = tmp_path / "crawl.log"
    path.write_bytes(log(["http://h/X", "http://h/%E9"]).encode().replace(b"X", b"\xe9", 1))
    seen = crawl_log.LogReport()
    rows = [row for batch in crawl_log.read_logs([path], seen) for row in batch.to_pylist()]
    assert [row["uri"] for row in rows] == ["http://h/%E9"] * 2
    assert not seen.kinds


@pytest.mark.few(1)
@pytest.mark.parametrize("runner", ["embedded", "inline"])
def test_a_run_ranks_both_pages(tmp_path: Path, runner: str) -> None:
    page = LATIN1 % b"iso-8859-1" + b'<a href="/s?q=\xe9">1</a><a href="/s?q=\xe8">2</a>'
    home = LATIN1 % b"iso-8859-1" + b"<a href=/>"
    uris = (b"http://h.example/s?q=\xe9", b"http://h.example/s?q=\xe8")
    path = tmp_path / "raw.warc"
    path.write_bytes(
        raw_warc(b"http://h.example/", page) + b"".join(raw_warc(u, home) for u in uris)
    )
    ok("run", path, "--work", tmp_path / "w", "--runner", runner, "--no-validate", "--jobs", 1)
    listed = (tmp_path / "w" / "precedence.txt").read_text().splitlines()
    spelled = ["http://h.example/", "http://h.example/s?q=%E8", "http://h.example/s?q=%E9"]
    assert sorted(line.split()[0] for line in listed) == spelled


def test_real_archives_keep_their_uris() -> None:
    """No sample has a URI that is not UTF-8: nothing changes for them."""
    for path in sorted(SMALL_ARCHIVES.glob("*.warc*")):
        try:
            records, _ = read(path.read_bytes())
        except Exception:  # noqa: BLE001 (what cannot be read at all is tested elsewhere)
            continue
        assert all("\ufffd" not in record.uri for record in records)
