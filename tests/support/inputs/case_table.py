"""Inputs as the web has them: tests/data/cases/inputs.tsv, a row for each shape.

shape: what is odd. judge: who says what is right: `browser` (a real Chromium is asked by
`make test-browser`), or the section of a standard. path: of the URI on http://h.example. header,
body: with escapes as in Python. packing: what is done to the body, of PACKINGS. links: the targets,
sorted.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable
from typing import NamedTuple

import brotli
import zstandard

from support.paths import ROOT

HOST = "http://h.example"
BROWSER = "browser"


class InputCase(NamedTuple):
    shape: str
    judge: str
    path: str
    header: str
    body: str
    packing: str
    links: str

    @property
    def uri(self) -> str:
        return HOST + self.path

    @property
    def block(self) -> bytes:
        """The HTTP message as it was sent."""
        return _bytes(self.header) + PACKINGS[self.packing](_bytes(self.body))

    def record(self, number: int) -> bytes:
        """A WARC record. number: of seconds, so that each has a time of its own."""
        block = self.block
        header = (
            f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {self.uri}\r\n"
            f"WARC-Date: 2024-05-06T07:{number // 60:02}:{number % 60:02}Z\r\n"
            f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:012}>\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(block)}\r\n\r\n"
        )
        return header.encode() + block + b"\r\n\r\n"


def _bytes(text: str) -> bytes:
    return text.encode("ascii").decode("unicode_escape").encode("latin-1")


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def _twice(pack: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """The body in two members, cut in its first tag."""
    return lambda body: pack(body[:2]) + pack(body[2:])


_zstd = zstandard.ZstdCompressor().compress
PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "gzip of gzip": lambda body: gzip.compress(gzip.compress(body)),
    "gzip twice": _twice(gzip.compress),
    "gzip, first member empty": lambda body: gzip.compress(b"") + gzip.compress(body),
    "deflate": zlib.compress,
    "raw deflate": _raw_deflate,
    "br": lambda body: bytes(brotli.compress(body)),
    "zstd": _zstd,
    "zstd twice": _twice(_zstd),
}


def input_cases() -> list[InputCase]:
    table = ROOT / "tests/data/cases/inputs.tsv"
    with table.open(encoding="ascii", newline="") as file:
        _, *rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [InputCase(*row) for row in rows]
