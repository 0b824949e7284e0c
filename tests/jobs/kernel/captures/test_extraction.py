"""Extraction: which records are captures, and which of their links count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.archive_samples import (
    HTML,
    extracted,
    metadata,
    page,
    response,
    targets,
    warc,
)

from crawlrank.jobs.kernel.captures.counters import totals
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import (
    format_capture,
    format_link,
    parse_capture,
    parse_link,
)
from crawlrank.jobs.kernel.formats.rows import Capture, Link

A = [("http://h/a", "L")]


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


OTHER_KINDS = ("conversion", "continuation", "request", "metadata", "x\ty")


def test_kinds() -> None:
    body = b"<a href=http://h/a>"
    made = {
        kind: extracted(warc(body, "http://h/", kind, media_type="text/html"))
        for kind in ("response", "resource", "revisit", *OTHER_KINDS)
    }
    assert [kind for kind, result in made.items() if result[1]] == [
        "response",
        "resource",
        "revisit",
    ]
    assert [len(result[0]) for result in made.values()] == [1, 1, 1, 0, 0, 0, 0, 0]
    for kind, (_, _, _, counters) in made.items():
        counted = {name: n for name, n in counters.items() if name.startswith("records.")}
        assert counted == {"records." + ("other" if "\t" in kind else kind): 1}
    assert made["response"][1][0].status == b"-"


NO_PAGES = {
    **{"dns:h": "scheme.dns", "ftp://h/x": "scheme.ftp", "FTPS://h/x": "scheme.ftps"},
    **{"whois://h/x": "scheme.whois", "whois:h": "scheme.whois", "urn:view:x": "scheme.urn"},
    **{"screenshot:http://h/": "scheme.screenshot", "thumbnail:http://h/": "scheme.thumbnail"},
    **{"file:///x": "scheme.other", "filedesc://x": "scheme.other", "": "invalid"},
    **{"http://": "invalid", "mailto:a@h": "scheme.mailto", "x\ty:z": "invalid"},
}


@pytest.mark.parametrize("uri", NO_PAGES)
def test_other_schemes_are_no_captures(uri: str) -> None:
    links, captures, _, counters = extracted(page("<a href=http://h/>", uri))
    assert (links, captures) == ([], [])
    dropped = {name: n for name, n in counters.items() if name.startswith("dropped.")}
    assert dropped == {f"dropped.capture.{NO_PAGES[uri]}": 1}
    assert extracted(metadata(uri=uri))[3][f"dropped.metadata.{NO_PAGES[uri]}"] == 1


STATUSES = {200: A, 204: A, 206: A, 301: [], 304: [], 404: [], 500: [], 199: []}


@pytest.mark.parametrize("status", STATUSES)
def test_links_come_from_2xx(status: int) -> None:
    data = response(status, b"<a href=a>")
    assert targets(data) == STATUSES[status]
    assert len(extracted(data)[1]) == 1


def test_hops() -> None:
    html = "<frameset><frame src=f></frameset>"
    lines = "".join(f"outlink: http://h/{hop} {hop} x\n" for hop in "LREXIPMS").encode()
    lines += b"outlink: http://h/o L option/@value\noutlink: http://h/f E frame/@src\n"
    lines += b"outlink: http://h/b L BASE/@href\n"  # never a link
    nav = [("http://h/L", "L"), ("http://h/R", "R"), ("http://h/M", "L"), ("http://h/f", "E")]
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
    assert counters["dropped.over-limit"] == 1  # pages: the rest is not read
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


def test_an_http_header_is_no_html() -> None:
    assert targets(warc(HTML, "http://h/")) == []
