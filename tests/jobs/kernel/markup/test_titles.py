"""Titles of pages as a column of captures, where extraction is asked for them."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from typing import Any

import pytest
from lxml import html as lxml_html
from support.drawing import examples
from support.growth import assert_linear
from support.inputs.archive_samples import response, warc, zipped
from support.inputs.mutated_pages import mutated_page, pages
from support.inputs.titled_pages import PAGES, UTF8, XHTML
from support.paths import SAMPLES

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.lines import format_capture, parse_capture
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture
from crawlrank.jobs.kernel.links.html_documents import Document, HtmlOptions
from crawlrank.jobs.kernel.markup.page_text import LONGEST_TITLE, PageText, shown_title

BOTH_WAYS = (HtmlOptions(nav=True, titles=True), HtmlOptions(titles=True, scanned=False))


def items_of(data: bytes, **options: Any) -> tuple[list[Any], Counter[str]]:
    counters: Counter[str] = Counter()
    return list(extract(io.BytesIO(data), "a", ExtractionOptions(**options), counters)), counters


def title_in(data: bytes, **options: Any) -> bytes:
    rows = items_of(data, titles=True, **options)[0]
    (row,) = [item for item in rows if isinstance(item, Capture)]
    return row.title


def titles_of(page: bytes, media_type: str = UTF8) -> list[str]:
    """The title by a scan, where one will do, and by a parser."""
    return [Document(PageText(page, media_type), options).title for options in BOTH_WAYS]


@pytest.mark.parametrize("name", PAGES)
def test_titles_are_those_of_a_browser(name: str) -> None:
    page, media_type, title = PAGES[name]
    assert titles_of(page, media_type) == [title] * 2


def test_long_titles_are_cut() -> None:
    for text, words in (("\u00e4" * 300, "\u00e4" * 300), ("ab " * 400_000, "ab " * 99 + "ab…")):
        page = f"<title>{text}</title>".encode()
        assert titles_of(page) == [words] * 2
        assert len(words) <= LONGEST_TITLE
    assert shown_title("x" * 301) == "x" * 299 + "…"


@pytest.mark.parametrize("piece", ["x", " ", "&", "&a", "&#", "<", "</title", "<![CDATA[", "\0"])
def test_the_work_on_a_title_is_linear(piece: str) -> None:
    def read(count: int) -> None:
        for media_type in (UTF8, XHTML):
            titles_of(f"<title>{piece * count}</title>".encode(), media_type)

    assert_linear(read, 2**17)


def test_a_scan_gives_the_titles_of_a_parser() -> None:
    titled = 0
    for number in range(examples(5000)):
        page = mutated_page(1, number)
        scanned, parsed = titles_of(page.body, page.media_type)
        titled += bool(parsed)
        assert scanned == parsed, page.body
    assert titled


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("*arc.gz")))
@pytest.mark.slow
def test_nothing_else_of_real_archives_changes(sample: str) -> None:
    data = (SAMPLES / sample).read_bytes()
    (usual, counters), (more, counted) = items_of(data), items_of(data, titles=True)
    assert counted == counters
    rows, titled = (
        [item for item in items if isinstance(item, Capture)] for items in (usual, more)
    )
    assert [row._replace(title=UNKNOWN) for row in titled] == rows
    assert any(row.title != UNKNOWN for row in titled)
    links = [[item for item in items if not isinstance(item, Capture)] for items in (usual, more)]
    assert links[0] == links[1]
    for row in titled:
        assert parse_capture(format_capture(row, titles=True)) == row
    seldom, of_metadata = (
        items_of(data, outlinks="metadata"),
        items_of(data, outlinks="metadata", titles=True),
    )
    assert of_metadata[1] == seldom[1]
    assert [row for row in of_metadata[0] if isinstance(row, Capture)] == titled


def test_only_pages_that_were_read_have_one() -> None:
    page = b"<title>x</title>"
    html = "Content-Type: text/html\r\n"
    assert title_in(response(200, page, html)) == b"x"
    assert title_in(response(203, page, html), outlinks="metadata") == b"x"
    assert title_in(warc(page, kind="resource", media_type="text/html")) == b"x"
    for status in (301, 404, 500):
        assert title_in(response(status, page, html)) == UNKNOWN
    assert title_in(response(200, page, "Content-Type: text/plain\r\n")) == UNKNOWN
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><title>x</title></svg>"
    assert title_in(response(200, svg, "Content-Type: image/svg+xml\r\n")) == UNKNOWN


@pytest.mark.slow
def test_titles_of_a_real_crawl_are_those_of_lxml() -> None:
    compared = 0
    for page in pages(reference=False):
        try:
            expected = lxml_html.fromstring(page.body.decode()).findtext(".//title")
        except ValueError:  # another charset, or a declaration of one that lxml refuses
            continue
        if expected is not None:
            compared += 1
            assert titles_of(page.body, page.media_type)[0] == shown_title(expected)
    assert compared


def packed(lines: list[bytes], *, page: bytes = b"<p>x", **more: Any) -> bytes:
    """A WACZ of a page, and what it says of pages."""
    data = response(200, page, "Content-Type: text/html\r\n")
    pages = b"".join(line + b"\n" for line in lines)
    return zipped({"archive/a.warc": data, "pages/extraPages.jsonl": pages}, **more)


OTHERS = [
    b'{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}', b"", b"no JSON", b"[]",
    b'"title"', b'{"title": 1, "url": 2}', b"[" * 10_000 + b'"title"', b'\xff{"title": "x"}',
    b'{"url": "http://other.example/", "title": "other"}', b'{"url": "mailto:x", "title": "x"}',
    b'{"text": "' + b"x" * 3_000_000 + b'", "url": "http://h/", "title": "long"}',
]  # fmt: skip


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wacz_tells_those_that_scripts_set(method: int) -> None:
    line = b'{"url": "http://h/#top", "title": "by \\u202e a  script"}'
    assert title_in(packed([line], method=method)) == b"by a script"
    assert title_in(packed([*OTHERS[:10], line], method=method)) == b"by a script"
    assert title_in(packed([line, *OTHERS], method=method)) == b"by a script"
    assert title_in(packed(OTHERS, method=method)) == UNKNOWN
    assert title_in(packed([line], page=b"<title>own</title>", method=method)) == b"own"


def test_a_damaged_list_of_pages_costs_titles_alone() -> None:
    line = b'{"url": "http://h/", "title": "here"}'
    whole, damaged = packed([line]), packed([line]).replace(b'"here"', b"here\0\0")
    assert items_of(damaged)[0] == items_of(whole)[0]
    assert title_in(whole) == b"here"
    assert title_in(damaged) == UNKNOWN
    without = packed([line]).replace(b"PK\x01\x02", b"PK\x01\x00")  # no list of entries
    assert {type(item) for item in items_of(without, titles=True)[0]} == {Capture, Damage}


def test_a_wat_tells_them() -> None:
    page = {"Head": {"Title": "a < b & </title>"}, "Links": [{"path": "A@/href", "url": "/x"}]}
    http = {
        "Headers": {"Content-Type": "text/html"},
        "Response-Message": {"Status": "200"},
        "HTML-Metadata": page,
    }
    envelope = {
        "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": "http://h/"},
        "Payload-Metadata": {"HTTP-Response-Metadata": http},
    }
    wat = json.dumps({"Envelope": envelope}).encode()
    data = warc(wat, kind="metadata", media_type="application/json")
    assert title_in(data) == b"a < b & </title>"
