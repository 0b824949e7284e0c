"""Titles of pages as a column of captures, where extraction is asked for them."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import pytest
from lxml import html as lxml_html
from support.drawing import examples
from support.growth import assert_linear
from support.inputs.archive_samples import response, warc
from support.inputs.mutated_pages import mutated_page, pages
from support.paths import SAMPLES

from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.lines import format_capture, parse_capture
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture
from crawlrank.jobs.kernel.links.html_documents import Document, HtmlOptions
from crawlrank.jobs.kernel.markup.page_text import LONGEST_TITLE, PageText, shown_title

BOTH_WAYS = (HtmlOptions(nav=True, titles=True), HtmlOptions(titles=True, scanned=False))
UTF8, XHTML = "text/html; charset=utf-8", "application/xhtml+xml"


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


PAGES: dict[str, tuple[bytes, str, str]] = {
    "blanks": (b"<title>\n one \t two\r\nthree </title>", UTF8, "one two three"),
    "none": (b"<h1>x</h1>", UTF8, ""),
    "empty": (b"<title></title><title>second</title>", UTF8, ""),
    "only blanks": (b"<title> \n\t </title>", UTF8, ""),
    "a dash": (b"<title> - </title>", UTF8, ""),
    "several": (b"<title>first</title><title>second</title>", UTF8, "first"),
    "unclosed": (b"<title>a<p>b", UTF8, "a<p>b"),
    "in the body": (b"<body><p>x<div><title>late</title></div>", UTF8, "late"),
    "after the body": (b"<body>x</body></html><title>last</title>", UTF8, "last"),
    "capital letters": (b"<TITLE LANG=en>x</Title >", UTF8, "x"),
    "of SVG": (b"<svg><title>no</title><g><title>no</title></g></svg><title>yes", UTF8, "yes"),
    "of SVG alone": (b"<svg><title>no</title></svg>", UTF8, ""),
    "of HTML in SVG": (
        b"<svg><foreignObject><title>yes</title></foreignObject></svg>", UTF8, "yes",
    ),
    "of MathML": (b"<math><title>no</title></math><title>yes</title>", UTF8, "yes"),
    "in a template": (b"<template><title>no</title></template><title>yes</title>", UTF8, "yes"),
    "in a select": (b"<select><title>x</title></select>", UTF8, "x"),
    "in noscript": (b"<head><noscript><title>x</title></noscript>", UTF8, "x"),
    "in a comment": (b"<!-- <title>no</title> --><title>yes</title>", UTF8, "yes"),
    "in a script": (b"<script>'<title>no</title>'</script><title>yes</title>", UTF8, "yes"),
    "in a style": (b"<style><title>no</title></style><title>yes</title>", UTF8, "yes"),
    "in an attribute": (b"<a title='<title>no</title>'>x</a><title>yes</title>", UTF8, "yes"),
    "in srcdoc": (b"<iframe srcdoc='<title>no</title>'></iframe><title>yes</title>", UTF8, "yes"),
    "markup": (b"<title><b>x</b><!-- y --><!DOCTYPE z></title>", UTF8,
               "<b>x</b><!-- y --><!DOCTYPE z>"),
    "references": (b"<title>&lt;i&gt; &amp;amp; &#65;&#x42; &#128; &copy2 &notit; &no; &</title>",
                   UTF8, "<i> &amp; AB \u20ac \u00a92 \u00acit; &no; &"),
    "many digits": (b"<title>&#%b; &#%b65;</title>" % (b"9" * 9000, b"0" * 5000), UTF8, "\ufffd A"),
    "no-break space": (b"<title>&nbsp;x&nbsp;</title>", UTF8, "\u00a0x\u00a0"),
    "NUL": (b"<title>a\0b</title>", UTF8, "a\ufffdb"),
    "controls": (b"<title>a\x01\x1b[31mb\x7f&#x9d;&#7;c</title>", UTF8, "a[31mbc"),
    "directions": ("<title>\u202egnp.\u2066x\u2069\u200fy</title>".encode(), UTF8, "gnp.xy"),
    "ends of lines": ("<title>a\u2028b\u2029c</title>".encode(), UTF8, "a b c"),
    "windows-1251": ("<title>Привет</title>".encode("cp1251"),
                     "text/html; charset=windows-1251", "Привет"),
    "declared": ("<meta charset=koi8-r><title>Привет</title>".encode("koi8-r"), "text/html",
                 "Привет"),
    "Shift_JIS": ("<title>表示ソ</title>".encode("shift_jis"), "text/html; charset=Shift_JIS",
                  "表示ソ"),
    "UTF-16": ("\ufeff<title>日本 &amp;</title>".encode("utf-16-le"), "text/html", "日本 &"),
    "no UTF-8": (b"<title>a\xffb</title>", UTF8, "a\ufffdb"),
    "XHTML": (b"<html><head><title>a &amp; b</title></head></html>", XHTML, "a & b"),
    "empty in XHTML": (b"<head><title/></head><body><p>x</p></body>", XHTML, ""),
    "CDATA in XHTML": (b"<title>1<![CDATA[ < 2 ]]><!-- no --> &lt; 3</title>", XHTML, "1 < 2 < 3"),
    "CDATA in HTML": (b"<title><![CDATA[x]]></title>", UTF8, "<![CDATA[x]]>"),
}  # fmt: skip


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
