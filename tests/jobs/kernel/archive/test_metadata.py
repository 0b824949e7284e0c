"""Metadata records: fields and outlinks from any line ends, junk told apart, hops put right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.paths import DATA

from crawlrank.jobs.kernel.archive.metadata import LONGEST_LINE, Field, Junk, Outlink, read_metadata
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import read_records

LINES = [
    b"via: http://h/",
    b"seed:",
    b"outlink: http://h/a L a/@href",
    b"outlink: http://h/a b E img/@src",
    b"OUTLINK: http://h/i E link[rel='shortcut icon']/@href",
    b"outlink: http://h/r R",
]
READ = [
    Field("via", "http://h/"),
    Field("seed", ""),
    Outlink("http://h/a", "L", "a/@href"),
    Outlink("http://h/a b", "E", "img/@src"),
    Outlink("http://h/i", "E", "link[rel='shortcut icon']/@href"),
    Outlink("http://h/r", "R", ""),
]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r\n\r\n"])
def test_lines(end: bytes) -> None:
    assert list(read_metadata(end.join(LINES))) == READ
    assert list(read_metadata(end.join(LINES) + end)) == READ


def test_folded_lines() -> None:
    body = b"outlink: http://h/a\r\n L\n\ta/@href\r\nvia: x\n  y\n"
    assert list(read_metadata(body)) == [Outlink("http://h/a", "L", "a/@href"), Field("via", "x y")]


@pytest.mark.parametrize("context", ["option/@value", "PARAM/@VALUE", "input/@value", "base/@href"])
def test_guesses_are_x_whatever_heritrix_wrote(context: str) -> None:
    (outlink,) = read_metadata(f"outlink: http://h/ L {context}".encode())
    assert outlink == Outlink("http://h/", "X", context)


JUNK = [
    b"no colon",
    b": no name",
    b"two words: x",
    b"outlink:",
    b"outlink: http://h/",
    b"outlink: http://h/ LL a/@href",
    b"outlink: http://h/ l a/@href",
    b"outlink: http://h/" + b"a" * LONGEST_LINE + b" L a/@href",
    b"\x00\xff\xfe",
]


@pytest.mark.parametrize("line", JUNK)
def test_junk(line: bytes) -> None:
    read = list(read_metadata(LINES[0] + b"\n" + line + b"\n" + LINES[2]))
    assert [type(item) for item in read] == [Field, Junk, Outlink]


def test_a_line_of_continuations_without_end_is_junk() -> None:
    body = b"via: x\n" + b" y" * 100 + b"\n" + b" yyyyyyyy\n" * 10**5
    assert [type(item) for item in read_metadata(body)] == [Junk]


@given(st.binary())
def test_anything_can_be_read(body: bytes) -> None:
    assert all(isinstance(item, Field | Junk | Outlink) for item in read_metadata(body))


def test_the_outlinks_of_a_real_crawl() -> None:
    expected = []
    for line in (DATA / "heritrix" / "first.outlinks.tsv").read_text().splitlines():
        source, *outlink = line.split("\t")
        expected.append((source, *outlink))
    with (DATA / "heritrix" / "first.warc.gz").open("rb") as stream:
        found = [
            (record.uri, *item)
            for record in read_records(stream, "first.warc.gz")
            if isinstance(record, Record) and record.kind == "metadata"
            for item in read_metadata(record.body)
            if isinstance(item, Outlink)
        ]
    put_right = [("X" if c == "base/@href" else hop) for _, _, hop, c in expected]
    assert [(s, u, c) for s, u, _, c in found] == [(s, u, c) for s, u, _, c in expected]
    assert [hop for _, _, hop, _ in found] == put_right
