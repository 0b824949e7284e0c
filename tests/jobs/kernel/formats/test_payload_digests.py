"""Digests of bodies with a transfer coding, beside hashlib."""

from __future__ import annotations

import gzip
import hashlib
import io
from base64 import b32encode

import pytest

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records
from crawlrank.jobs.kernel.formats.rows import digests_in, with_digest_of

PAGE = b"<p>a page</p>" * 20
BASE_32 = "sha1:" + b32encode(hashlib.sha1(PAGE).digest()).decode()


def chunked(body: bytes, size: int) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])


def digest_of(block: bytes, stated: str, kind: str = "response", **options: int) -> str:
    """The digest as a record that is read has it."""
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a.example/\r\n"
        "WARC-Date: 2024-05-06T07:00:00Z\r\nContent-Type: application/http;msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n"
    )
    head += f"WARC-Payload-Digest: {stated}\r\n" if stated else ""
    data = head.encode() + b"\r\n" + block + b"\r\n\r\n"
    digests = set()
    for archive in (data, gzip.compress(data) + gzip.compress(data)):  # as a run, as frames
        items = read_records(io.BytesIO(archive), "a", **options)
        digests |= {item.digest for item in items if isinstance(item, Record)}
    (digest,) = digests
    return digest


def message(body: bytes, *fields: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/html", *fields, "", ""]
    return "\r\n".join(lines).encode() + body


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256", "sha512", "SHA-256"])
def test_the_form_is_that_of_the_stated_digest(name: str) -> None:
    right = hashlib.new(name.lower().replace("-", ""), PAGE).digest()
    for stated, made in (
        (b"?" * len(right)).hex(), right.hex()
    ), (b32encode(b"?" * len(right)).decode(), b32encode(right).decode()), (
        b32encode(b"?" * len(right)).decode().rstrip("="), b32encode(right).decode().rstrip("=")
    ):  # fmt: skip
        digests = f"{name}:{made},{name}:{stated}"
        assert with_digest_of(PAGE, f"{name}:{stated}") == digests
        assert with_digest_of(PAGE, f"{name}:{made}") == f"{name}:{made}"
        assert digests_in(digests.encode()) == digests.encode().split(b",")


@pytest.mark.parametrize("stated", ["", "crc32:1a", "A" * 32])
def test_a_digest_of_no_known_kind(stated: str) -> None:
    assert with_digest_of(PAGE, stated) == BASE_32 + ("," + stated if stated else "")


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_chunks_change_no_digest_of_a_record(size: int) -> None:
    body = chunked(PAGE, size)
    stated = "sha1:" + b32encode(hashlib.sha1(body).digest()).decode()
    block = message(body, "Transfer-Encoding: chunked")
    assert digest_of(block, stated) == f"{BASE_32},{stated}"
    assert digest_of(block, BASE_32) == digest_of(block, "") == BASE_32
    packed = message(chunked(gzip.compress(PAGE), size), "Transfer-Encoding: gzip, chunked")
    assert digest_of(packed, stated) == f"{BASE_32},{stated}"


def test_content_codings_are_part_of_the_payload() -> None:
    body = gzip.compress(PAGE, mtime=0)
    right = "sha1:" + b32encode(hashlib.sha1(body).digest()).decode()
    fields = "Transfer-Encoding: chunked", "Content-Encoding: gzip"
    assert digest_of(message(chunked(body, 9), *fields), "sha1:A") == right + ",sha1:A"


def test_digests_that_stay() -> None:
    fields = ("Transfer-Encoding: chunked",)
    assert digest_of(message(PAGE, *fields), "sha1:A") == "sha1:A"  # decoded before it was written
    assert digest_of(message(PAGE), "sha1:A") == "sha1:A"
    assert digest_of(message(b"0\r\n\r\n", *fields), "sha1:A", "revisit") == "sha1:A"
    large = message(chunked(PAGE, 9), *fields)
    assert digest_of(large, "sha1:A", max_record=100) == "sha1:A"
