"""Extraction: which records are captures, which links count, on made and on real archives."""

from __future__ import annotations

import gzip
import runpy
import time
from collections import Counter
from pathlib import Path

import pytest
from archive_samples import ARCHIVES, HTML, extracted, page, plain, warc
from hypothesis import given
from hypothesis import strategies as st
from samples import DATA, REFERENCE, needs_reference

from jobs.kernel.documents import is_html
from jobs.kernel.errors import BadInput
from jobs.kernel.extraction import Options, extract, totals
from jobs.kernel.html_links import html_references
from jobs.kernel.lines import Capture, Link, format_capture, format_link, parse_capture, parse_link
from jobs.kernel.records import Record, open_archive, read_records

FIELDS = "application/warc-fields"
ID = "WARC-Record-ID: <urn:uuid:{}>\r\n"
OF = "WARC-Concurrent-To: <urn:uuid:{}>\r\n"
LINES = b"outlink: http://h/line L a/@href\r\noutlink: http://h/favicon.ico I =INFERRED_MISC\r\n"


def response(status: int, body: bytes = b"", header: str = "", **more: object) -> bytes:
    block = f"HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n{header}\r\n".encode() + body
    return warc(block, "http://h/", **more)  # type: ignore[arg-type]


def metadata(of: object = "", uri: str = "http://h/", body: bytes = LINES) -> bytes:
    extra = OF.format(of) if of else ""
    return warc(body, uri, "metadata", media_type=FIELDS, extra=extra)


def targets(data: bytes, **options: object) -> list[tuple[str, str]]:
    return [(link.target.decode(), link.hop.decode()) for link in extracted(data, **options)[0]]


HEADERS = {
    (201, "Location: b"): [("http://h/b", "R")],
    (200, "Location: b"): [],
    (200, "Refresh: 1; url=b"): [("http://h/b", "R")],
    (200, "Link: <b>; rel=preload, <c>; rel=next"): [("http://h/b", "E"), ("http://h/c", "X")],
    (302, "Link: <b>; rel=preload"): [],
    (404, "Refresh: 1; url=b"): [],
}


@pytest.mark.parametrize(("status", "header"), HEADERS)
def test_headers(status: int, header: str) -> None:
    links, _, _, counters = extracted(response(status, b"", header + "\r\n"), links="all")
    found = [(link.target.decode(), link.hop.decode()) for link in links]
    assert found == HEADERS[status, header]
    assert counters["links.from.header"] == len(links)


def of_type(media_type: str, body: bytes, uri: str = "http://h/") -> bytes:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n".encode() + body
    return warc(block, uri)


DOCUMENTS = {
    "css": (of_type("text/css", b"a{b:url(a)}"), "E"),
    "feed": (of_type("text/xml", b"<rss><link>/a</link></rss>"), "L"),
    "sitemap": (of_type("text/xml", b"<urlset><url><loc>/a</loc></url></urlset>"), "L"),
    "robots": (of_type("text/plain", b"Sitemap: /a", "http://h/robots.txt"), "X"),
    "html": (of_type("text/xml", b"<?xml version='1.0'?><html><a href='a'/></html>"), "L"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents(name: str) -> None:
    data, hop = DOCUMENTS[name]
    links, _, _, counters = extracted(data, links="all")
    assert [(link.target, link.hop) for link in links] == [(b"http://h/a", hop.encode())]
    assert counters[f"links.from.{name}"] == counters[f"links.{hop}"] == 1
    assert counters["pages.html"] == (name == "html")
    assert targets(data) == [("http://h/a", hop)] * (hop == "L")
    assert targets(data, outlinks="metadata", links="all") == []


def test_a_feed_in_its_charset_and_with_its_base() -> None:
    body = "<?xml version='1.0' encoding='cp1251'?><feed xml:base='/b/'><link href='я'/></feed>"
    assert targets(of_type("application/atom+xml", body.encode("cp1251"))) == [
        ("http://h/b/%D1%8F", "L")
    ]


def test_a_packed_sitemap() -> None:
    body = gzip.compress(b"<urlset><loc>/a</loc></urlset>")
    assert targets(of_type("application/x-gzip", body, "http://h/s.xml.gz")) == [
        ("http://h/a", "L")
    ]


def test_css_and_metadata_lines_give_a_link_once() -> None:
    css = of_type("text/css", b"a{b:url(a)}").replace(
        b"WARC-Date", ID.format(1).encode() + b"WARC-Date"
    )
    lines = metadata(1, body=b"outlink: http://h/a E url()\noutlink: http://h/b E url()\n")
    assert targets(css + lines, links="all") == [("http://h/a", "E"), ("http://h/b", "E")]


def test_nofollow_is_counted_and_dropped_on_request() -> None:
    html = b"<a href=a rel=nofollow><a href=a><a href=b rel=ugc><img src=c>"
    _, _, _, counters = extracted(response(200, html))
    assert (counters["links"], counters["flagged.nofollow"]) == (2, 2)
    links, _, _, counters = extracted(response(200, html), nofollow="drop")
    assert [link.target for link in links] == [b"http://h/a"]
    assert counters["flagged.nofollow"] == counters["dropped.nofollow"] == 2
    tagged = response(200, html, "X-Robots-Tag: noindex, nofollow\r\n")
    assert targets(tagged, nofollow="drop", links="all") == [("http://h/c", "E")]


def test_forms_are_links_on_request() -> None:
    data = response(200, b"<form action=a>")
    assert targets(data, links="all", forms=True) == [("http://h/a", "X")]
    assert targets(data, forms=True) == targets(data, links="all") == []


A = [("http://h/a", "L")]
LINE = [("http://h/line", "L")]


def test_a_capture_and_its_links() -> None:
    data = page("<a href=a#x><a href=a><a href=mailto:x>")
    links, captures, damage, counters = extracted(data)
    assert links == [Link(b"http://example.com/a", b"http://example.com/", b"L")]
    assert captures == [
        Capture(
            *(b"http://example.com/", b"20240506070809", b"200", b"text/html", b"-"),
            *(b"response", b"test.warc", b"0"),
        )
    ]
    assert damage == []
    assert counters == {
        **{"records": 1, "records.response": 1, "captures": 1, "captures.response": 1},
        **{"bytes": len(data.rstrip()), "captures.status.200": 1, "captures.type.text/html": 1},
        **{"pages.html": 1, "links": 1, "links.L": 1},
        **{"links.from.html": 1, "dropped.duplicate": 1, "dropped.scheme.mailto": 1},
    }
    assert totals(counters) == {
        **{"records": 1, "captures": 1, "pages.html": 1},
        **{"metadata.used": 0, "links": 1, "damage": 0},
    }


def test_kinds() -> None:
    body = b"<a href=http://h/a>"
    made = {
        kind: extracted(warc(body, "http://h/", kind, media_type="text/html"))
        for kind in ("response", "resource", "revisit", "conversion", "request", "metadata", "x\ty")
    }
    assert [kind for kind, result in made.items() if result[1]] == [
        "response",
        "resource",
        "revisit",
    ]
    assert [len(result[0]) for result in made.values()] == [1, 1, 1, 0, 0, 0, 0]
    assert made["x\ty"][3]["records.other"] == 1
    assert made["response"][1][0].status == b"-"


NO_PAGES = ["dns:h", "ftp://h/x", "whois://h/x", "screenshot:http://h/", "file:///x", "urn:x"]


@pytest.mark.parametrize("uri", [*NO_PAGES, "", "http://", "filedesc://x"])
def test_other_schemes_are_no_captures(uri: str) -> None:
    links, captures, _, counters = extracted(page("<a href=http://h/>", uri))
    assert (links, captures) == ([], [])
    assert sum(n for name, n in counters.items() if name.startswith("dropped.capture.")) == 1


STATUSES = {200: A, 204: A, 206: A, 301: [], 304: [], 404: [], 500: [], 199: []}


@pytest.mark.parametrize("status", STATUSES)
def test_links_come_from_2xx(status: int) -> None:
    data = response(status, b"<a href=a>")
    assert targets(data) == STATUSES[status]
    assert len(extracted(data)[1]) == 1


@pytest.mark.parametrize("outlinks", ["auto", "html", "metadata", "both"])
def test_a_redirect_gives_its_location(outlinks: str) -> None:
    data = response(302, b"<a href=a>", "Location: ../b?c#d\r\n", extra=ID.format(1)) + metadata(1)
    assert targets(data, outlinks=outlinks) == [("http://h/b?c", "R")]
    assert targets(response(302, b"", "Location: mailto:x\r\n")) == []


HTML_AND_LINES = response(200, b"<a href=a>", extra=ID.format(1)), metadata(1)
OUTLINKS = {"auto": A, "html": A, "metadata": LINE, "both": A + LINE}


@pytest.mark.parametrize("outlinks", OUTLINKS)
@pytest.mark.parametrize("order", [1, -1])
def test_html_and_outlinks_in_either_order(outlinks: str, order: int) -> None:
    data = plain(HTML_AND_LINES[::order])
    assert targets(data, outlinks=outlinks) == OUTLINKS[outlinks]


def test_metadata_of_another_id_is_matched_by_uri_and_time() -> None:
    data = metadata(99) + HTML_AND_LINES[0]
    assert targets(data) == A
    later = HTML_AND_LINES[0].replace(b"2024", b"2025")
    assert targets(metadata(99) + later) == A + LINE


def test_outlinks_where_there_is_no_html() -> None:
    revisit = response(200, kind="revisit", extra=ID.format(1))
    text = HTML_AND_LINES[0].replace(b"text/html", b"text/css ")
    for capture in (revisit, text):
        assert targets(capture + metadata(1)) == LINE
        assert targets(metadata(1) + capture) == LINE
        assert targets(capture + metadata(1), outlinks="html") == []
    assert targets(metadata(7)) == LINE
    missing = response(404, b"<a href=a>", extra=ID.format(1))
    assert targets(missing + metadata(1)) == targets(metadata(1) + missing) == []


def test_metadata_waits_for_its_capture_with_bounds() -> None:
    waiting = [metadata(n, f"http://h/{n}") for n in range(1500)]
    links, _, _, counters = extracted(plain([*waiting, HTML_AND_LINES[0]]))
    assert len(links) == 1500 + 1
    assert counters["dropped.hop.I"] == 1500


def test_both_gives_a_link_once() -> None:
    same = metadata(1, body=b"outlink: http://h/a L a/@href\noutlink: http://h/a E img/@src\n")
    data = HTML_AND_LINES[0] + same
    assert targets(data, outlinks="both") == A
    assert targets(data, outlinks="both", links="all") == [*A, ("http://h/a", "E")]


def test_hops() -> None:
    html = "<frameset><frame src=f></frameset>"
    lines = "".join(f"outlink: http://h/{hop} {hop} x\n" for hop in "LREXIPM").encode()
    lines += b"outlink: http://h/o L option/@value\noutlink: http://h/f E frame/@src\n"
    nav = [("http://h/L", "L"), ("http://h/R", "R"), ("http://h/f", "E")]
    more = [("http://h/E", "E"), ("http://h/X", "X"), ("http://h/o", "X")]
    assert targets(metadata(body=lines)) == nav
    assert sorted(targets(metadata(body=lines), links="all")) == sorted(nav + more)
    assert targets(response(200, html.encode())) == [("http://h/f", "E")]
    images = b"<img src=i><iframe src=j></iframe>"
    assert targets(response(200, images)) == []
    assert len(targets(response(200, images), links="all")) == 2


def test_links_of_a_page_are_bounded() -> None:
    html = "".join(f"<a href=/{n}><a href=/{n}>" for n in range(100))
    links, _, _, counters = extracted(page(html), max_links_per_page=30)
    assert len(links) == 30
    assert counters["dropped.over-limit"] == 140
    assert len(extracted(page(html) + page(html), max_links_per_page=30)[0]) == 60


def test_damage_is_counted_and_given() -> None:
    data = page("<a href=a>", length=9999) + page("<a href=b>") + metadata(body=b"junk\njunk\n")
    links, _, damage, counters = extracted(data)
    assert [item.reason for item in damage] == ["bad-length", "bad-metadata"]
    assert counters["damage"] == 2
    assert len(links) == 2


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=20))
def test_lines_can_be_read_again(path: str, href: str, media_type: str) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n<html>"
    block = head.encode("utf-8", "replace") + f'<a href="{href}">'.encode("utf-8", "replace")
    uri = "http://h/" + path.encode("utf-8", "replace").decode()
    try:
        links, captures, _, _ = extracted(warc(block, uri), links="all")
    except BadInput:
        return
    for link in links:
        assert parse_link(format_link(link)) == link
    for capture in captures:
        assert parse_capture(format_capture(capture)) == capture


def test_the_links_of_a_real_crawl_by_heritrix() -> None:
    truth = set()
    for line in (DATA / "heritrix" / "truth.tsv").read_text().splitlines()[1:]:
        source, target, _, hop = line.split("\t")
        truth.add((target.partition("#")[0].encode(), source.encode(), hop.encode()))
    assert len(truth) == 172
    script = {link for link in truth if link[2] == b"X"}  # that only a script makes
    data = (DATA / "heritrix" / "first.warc.gz").read_bytes()
    for outlinks in ("metadata", "both", "auto"):
        links = set(extracted(data, outlinks=outlinks, links="all")[0])
        assert truth <= links
        base = {(b"http://127.0.0.1:18081/based/", b"http://127.0.0.1:18081/base.html", b"X")}
        assert links - truth == (set() if outlinks == "auto" else base)  # `<base href>`: an X
    assert set(extracted(data, outlinks="html", links="all")[0]) == truth - script
    assert len(script) == 1


SAMPLES = Path(__file__).parents[1] / "sample_data"


def test_an_arc_and_a_warc_of_one_crawl_give_the_same() -> None:
    data = [(SAMPLES / f"aut-example.{kind}.gz").read_bytes() for kind in ("arc", "warc")]
    (links, captures, _, counters), (links2, captures2, _, _) = (
        extracted(each_, outlinks="html", links="all") for each_ in data
    )
    assert links == links2
    assert len(links) > 20_000
    assert {name for name in counters if name.startswith("links.from.")} == {
        *("links.from.html", "links.from.feed", "links.from.header", "links.from.robots"),
    }
    same = [capture[:4] for capture in captures]
    assert same == [capture[:4] for capture in captures2]


@pytest.mark.parametrize("kind", ["arc", "warc"])
def test_anchors_are_as_many_as_others_count(kind: str) -> None:
    """The Archives Unleashed Toolkit counts `a[href]` of pages with status 200, whatever it is."""
    anchors = 0
    with open_archive(SAMPLES / f"aut-example.{kind}.gz") as stream:
        for record in read_records(stream, kind):
            if not isinstance(record, Record) or (record.kind, record.status) != ("response", 200):
                continue
            if is_html(record.media_type, record.body):
                references = html_references(record.body, record.media_type)
                anchors += sum(context == "a/@href" for _, _, context, _ in references)
    assert anchors == 37_826


SCRIPT = Path(__file__).parents[1] / "scripts" / "make_extraction_table.py"
TABLE = Path(__file__).parent / "data" / "extraction_table.tsv"


@needs_reference
def test_the_table_of_the_reference_archives(capfd: pytest.CaptureFixture[str]) -> None:
    """As scripts/make_extraction_table.py printed it; no archive takes long, nothing is printed."""
    script = runpy.run_path(str(SCRIPT))
    row = script["row"]
    lines = TABLE.read_text().splitlines()
    assert lines[0] == script["HEADER"]
    for line in lines[1:]:
        began = time.process_time()
        assert row(REFERENCE / "archives", line.split("\t")[0]) == line
        assert time.process_time() - began < 10
    assert len(lines) == 1 + sum(path.is_file() for path in (REFERENCE / "archives").glob("*/*"))
    assert capfd.readouterr() == ("", "")


def test_real_archives_in_all_modes() -> None:
    for path in sorted(ARCHIVES.glob("*arc*")):
        for outlinks in ("auto", "html", "metadata", "both"):
            counters: Counter[str] = Counter()
            with open_archive(path) as stream:
                items = list(extract(stream, path.name, Options(outlinks), counters))  # type: ignore[arg-type]
            assert counters["links"] == sum(isinstance(item, Link) for item in items)
            assert counters["captures"] == sum(isinstance(item, Capture) for item in items)


def test_an_http_header_is_no_html() -> None:
    assert targets(warc(HTML, "http://h/")) == []
