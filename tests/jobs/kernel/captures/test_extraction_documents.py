"""Extraction: links of each kind of document and of headers, nofollow, forms."""

from __future__ import annotations

import gzip

import pytest
from support.inputs.archive_samples import (
    ID,
    extracted,
    metadata,
    response,
    targets,
    warc,
)

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


def test_a_picture_of_vectors() -> None:
    """Its links and pictures, as a browser finds them; it is counted as no page."""
    svg = b"""<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://dtd/">
    <svg xmlns="http://ns/" xmlns:xlink="http://xlink/"><title/>
    <style><![CDATA[ rect { fill: url(/style) } ]]></style><!-- <a href="/no"/> -->
    <a xlink:href="/old"><image xlink:href="/image"/></a><a href="/new"/>
    <use href="/use#part"/><use href="#own"/></svg>"""
    data = of_type("image/svg+xml", svg, "http://h/d/x.svg")
    found = ("/style", "E"), ("/old", "L"), ("/image", "E"), ("/new", "L"), ("/use", "E")
    assert targets(data, links="all") == [(f"http://h{path}", hop) for path, hop in found]
    counters = extracted(data, links="all")[3]
    assert (counters["pages.html"], counters["links.from.svg"]) == (0, 5)


def test_a_sitemap_of_lines() -> None:
    body = "\ufeffhttp://h/a\r\n\r\n HTTPS://h/b?x#y \nno uri\nftp://h/\nhttp://h/\u00fc".encode()
    data = of_type("text/plain", body, "http://h/d/sitemap1.txt")
    links, _, _, counters = extracted(data)
    assert [(link.target, link.hop) for link in links] == [
        *((b"http://h/a", b"L"), (b"https://h/b?x", b"L"), (b"http://h/%C3%BC", b"L")),
    ]
    assert (counters["links.from.sitemap"], counters["dropped.no-uri"]) == (3, 2)
    assert targets(of_type("text/plain", body, "http://h/d/list.txt")) == []


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
