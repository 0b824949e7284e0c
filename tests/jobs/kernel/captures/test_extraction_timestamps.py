"""What extraction adds where several crawls are to be told apart: timestamps of links, ids and
references of captures, and canonical addresses."""

from __future__ import annotations

import io
import re
from collections import Counter
from typing import Any

import pytest
from support.inputs.archive_samples import page
from support.inputs.several_crawls import captured, html_record, response, revisit

from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.lines import format_capture, parse_capture
from crawlrank.jobs.kernel.formats.rows import Capture, Link


def found(data: bytes, **more: Any) -> tuple[list[Link], list[Capture]]:
    items = list(extract(io.BytesIO(data), "a.warc", ExtractionOptions(**more), Counter()))
    links = [item for item in items if isinstance(item, Link)]
    return links, [item for item in items if isinstance(item, Capture)]


def test_links_and_captures_tell_nothing_more_unless_asked() -> None:
    data = html_record("http://h/", "<link rel=canonical href=/c><a href=/a>", day=1)
    links, captures = found(data + revisit("http://h/", 2, of=captured("http://h/", 1)))
    assert [link.timestamp for link in links] == [b"-"]
    assert all(format_capture(row).count(b"\t") == 9 for row in captures)


def test_links_tell_when_their_page_was_captured() -> None:
    data = html_record("http://h/", "<a href=/a>", day=3) + page("<a href=/b>", "http://h/")
    links, _ = found(data, timestamps=True)
    assert (links[0].target, links[0].timestamp) == (b"http://h/a", b"20240503000000")


def test_a_revisit_tells_what_it_refers_to() -> None:
    of = captured("http://h/", 1)
    _, (row,) = found(revisit("http://h/x", 2, of=of), timestamps=True)
    assert (row.refers_to_uri, row.refers_to_timestamp) == (b"http://h/", b"20240501000000")
    assert row.refers_to == of.id.encode()
    assert row.id not in (b"-", row.refers_to)
    assert parse_capture(format_capture(row)) == row


def test_ids_without_brackets_are_those_with_them() -> None:
    of = captured("http://h/", 1)
    with_them = html_record("http://h/", "", day=1) + revisit("http://h/x", 2, of=of)
    without = re.sub(rb"<(urn:[^>]*)>", rb"\1", with_them)
    assert without != with_them
    assert found(without, timestamps=True)[1] == [
        row._replace(offset=other.offset)
        for row, other in zip(
            found(with_them, timestamps=True)[1], found(without, timestamps=True)[1], strict=True
        )
    ]


CANONICAL = [
    ("<link rel=canonical href=/c>", "", [b"http://h/c"]),
    ("<link rel='x CANONICAL' href=//other/c>", "", [b"http://other/c"]),
    ("<base href=http://b/d/><link rel=canonical href=c>", "", [b"http://b/d/c"]),
    ("<link rel=alternate href=/c>", "", []),
    ("<!doctype html><head><title>a<b></title><link rel=canonical href=/c>", "", [b"http://h/c"]),
    ("<head></head> <!-- x --> <link rel=canonical href=/c><body>", "", [b"http://h/c"]),
    ("<noscript><link rel=canonical href=/c></noscript>", "", [b"http://h/c"]),
    ("\ufeff<link href='/c?a=1&amp;b' rel=canonical>", "", [b"http://h/c?a=1&b"]),
    ("<template><p></template><link rel=canonical href=/c>", "", [b"http://h/c"]),
    (
        "<head></p><link rel=canonical href=/c><link rel=canonical href=/d>",
        "",
        [b"http://h/c", b"http://h/d"],
    ),
    ("<body><link rel=canonical href=/c>", "", []),
    ("<p><link rel=canonical href=/c>", "", []),
    ("x<link rel=canonical href=/c>", "", []),
    ("<head><p></head><link rel=canonical href=/c>", "", []),
    ("<noscript><p></noscript><link rel=canonical href=/c>", "", []),
    ("<head></br><link rel=canonical href=/c>", "", []),
    ("<template><link rel=canonical href=/c></template>", "", []),
    ("<title><link rel=canonical href=/c></title>", "", []),
    ("<svg><link rel=canonical href=/c></svg>", "", []),
    ("<link rel=canonical href=/c", "", []),
    ("<link rel=canonical href='#x'>", "", []),
    ("", 'Link: </c>; rel="canonical"\r\n', [b"http://h/c"]),
    ("", 'Link: </c>; rel="next"\r\n', []),
    ("<iframe srcdoc='<link rel=canonical href=/c>'></iframe>", "", []),
]


@pytest.mark.parametrize(("body", "header", "expected"), CANONICAL)
@pytest.mark.parametrize("links", ["nav", "all"])
def test_canonical_addresses(body: str, header: str, expected: list[bytes], links: str) -> None:
    data = response("http://h/p", 1, body, headers=header)
    more, _ = found(data, links=links, canonical=True)
    assert [link.target for link in more if link.hop == b"C"] == expected
    usual, _ = found(data, links=links)
    assert [link for link in more if link.hop != b"C"] == usual
