"""HTTP messages: the same body from every coding, and from headers that lie about it."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.jobs.kernel.archive.http_payload import decode, split_message

TEXT = b"<html>" + b"words and words " * 500


def chunked(body: bytes, size: int) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def bare(body: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-15)
    return deflater.compress(body) + deflater.flush()


CODED = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "identity": bytes,
}


@given(st.binary(min_size=1), st.integers(1, 40))
def test_chunks(body: bytes, size: int) -> None:
    fields = [("transfer-encoding", "Chunked")]
    assert decode(fields, chunked(body, size), 2**20)[:2] == (body, [])
    trailers = chunked(body, size)[:-2] + b"Trailer: x\r\n\r\n"
    assert decode(fields, trailers, 2**20)[:2] == (body, [])


@pytest.mark.parametrize("coding", CODED)
def test_encodings(coding: str) -> None:
    payload = CODED[coding](TEXT)
    assert decode([("content-encoding", coding)], payload, 2**20)[:2] == (TEXT, [])
    both = [("content-encoding", coding.upper()), ("transfer-encoding", "chunked")]
    assert decode(both, chunked(payload, 100), 2**20)[:2] == (TEXT, [])


def test_bare_deflate_and_two_encodings() -> None:
    assert decode([("content-encoding", "deflate")], bare(TEXT), 2**20)[:2] == (TEXT, [])
    twice = gzip.compress(zlib.compress(TEXT))
    assert decode([("content-encoding", "deflate, gzip")], twice, 2**20)[:2] == (TEXT, [])


def test_brotli() -> None:
    brotli = pytest.importorskip("brotli")
    fields = [("content-encoding", "br")]
    assert decode(fields, brotli.compress(TEXT), 2**20)[:2] == (TEXT, [])
    bomb = brotli.compress(b"\0" * 2**24, quality=5)
    body, damage, _ = decode(fields, bomb, 2**16)
    assert (len(body), damage[0][0]) == (2**16, "body-too-large")


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "identity", ""])
def test_headers_that_lie(coding: str) -> None:
    fields = [("content-encoding", coding), ("transfer-encoding", "chunked")]
    assert decode(fields, TEXT, 2**20)[:2] == (TEXT, [])


def test_gzip_that_no_header_tells_of() -> None:
    html = [("content-type", "text/html")]
    assert decode(html, gzip.compress(TEXT), 2**20).body == TEXT
    other = [("content-type", "application/gzip")]
    assert decode(other, gzip.compress(TEXT), 2**20).body == gzip.compress(TEXT)


def test_what_breaks_is_counted_and_used() -> None:
    cut = gzip.compress(TEXT)[:-20]
    body, damage, _ = decode([("content-encoding", "gzip")], cut, 2**20)
    assert TEXT.startswith(body)
    assert body.startswith(b"<html>")
    assert [reason for reason, _ in damage] == ["bad-encoding"]
    body, damage, _ = decode([("transfer-encoding", "chunked")], chunked(TEXT, 1000)[:3000], 2**20)
    assert TEXT.startswith(body)
    assert [reason for reason, _ in damage] == ["bad-chunks"]
    broken = b"3\r\nabc\r\nzz\r\ndef"
    assert decode([("transfer-encoding", "chunked")], broken, 99).body == b"abczz\r\ndef"
    _, damage, _ = decode([("content-encoding", "\x1b[2J")], TEXT, 2**20)
    assert damage[0][1].isprintable()


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_body_stops_at_the_limit(coding: str) -> None:
    bomb = CODED[coding](b"a" * 2**24)
    body, damage, _ = decode([("content-encoding", coding)], bomb, 2**16)
    assert (body, damage[0][0]) == (b"a" * 2**16, "body-too-large")


@given(st.binary(), st.sampled_from(["gzip", "deflate", "br", "gzip, br", "x", ""]), st.booleans())
def test_anything_decodes_to_something(body: bytes, coding: str, chunks: bool) -> None:
    fields = [("content-encoding", coding)] + [("transfer-encoding", "chunked")] * chunks
    assert isinstance(decode(fields, body, 1000).body, bytes)
    split_message(b"HTTP/1.1 " + body)


MESSAGES = {
    b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nx": (200, b"x"),
    b"HTTP/1.0 404\nA: b\n\nx": (404, b"x"),
    b"http/2 301 \r\n\r\nx": (301, b"x"),
    b"HTTP/1.1 banana\r\nA: b\r\n\r\nx": (None, b"x"),
    b"HTTP/1.1 200 OK\r\nA: b": (200, b""),
    b"<html>HTTP/1.1 200": (None, b"<html>HTTP/1.1 200"),
    b"": (None, b""),
}


@pytest.mark.parametrize("block", MESSAGES)
def test_messages(block: bytes) -> None:
    message = split_message(block)
    assert (message.status, message.payload) == MESSAGES[block]
