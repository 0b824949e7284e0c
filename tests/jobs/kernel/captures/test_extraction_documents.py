"""Extraction: links of each kind of document and of headers, nofollow, forms."""

from __future__ import annotations

import gzip

import pytest
from support.inputs.archive_samples import (
    FIELDS,
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


def reasons(data: bytes, **options: object) -> list[str]:
    return [damage.reason for damage in extracted(data, **options)[2]]


PACKED_PAGE = gzip.compress(b"<a href=a>" + b" " * 3000 + b"<a href=b>", mtime=0)
PACKED_PAGES = {
    "type alone": response(200, PACKED_PAGE),
    **{
        coding: response(200, PACKED_PAGE, f"Content-Encoding: {coding}\r\n")
        for coding in ("identity", "none", "utf-8", "deflate", "gzip")
    },
    "unknown type": of_type("application/octet-stream", PACKED_PAGE),
    "no type": warc(b"HTTP/1.1 200 OK\r\n\r\n" + PACKED_PAGE, "http://h/"),
    "resource": warc(PACKED_PAGE, "http://h/", "resource", media_type="text/html"),
}


@pytest.mark.parametrize("name", PACKED_PAGES)
def test_a_page_that_begins_like_gzip_is_inflated(name: str) -> None:
    """What of it is cut is damage."""
    data = PACKED_PAGES[name]
    assert targets(data) == [("http://h/a", "L"), ("http://h/b", "L")]
    assert reasons(data) == []
    assert targets(data, max_record=1024) == [("http://h/a", "L")]
    assert reasons(data, max_record=1024) == ["body-too-large"]


def test_a_packed_file_that_may_be_a_page_is_none_by_its_type() -> None:
    assert targets(of_type("application/gzip", PACKED_PAGE)) == []


def test_a_packed_sitemap_that_is_cut_is_damage() -> None:
    entries = b"".join(b"<url><loc>/%d</loc></url>" % (n * n) for n in range(300))
    packed = gzip.compress(b"<urlset>" + entries, mtime=0)[:600]
    data = of_type("application/gzip", packed, "http://h/sitemap.xml.gz")
    assert 10 < len(targets(data)) < 300
    assert reasons(data) == ["bad-encoding"]


@pytest.mark.parametrize("how", ["X-Robots-Tag: nofollow\r\n", "<meta name=robots content=none>"])
def test_nofollow_of_a_page_counts_for_its_header(how: str) -> None:
    header, body = (how, "") if how.startswith("X") else ("", how)
    header += "Link: <n>; rel=next, <s>; rel=stylesheet\r\n"
    data = response(200, f"{body}<a href=a>".encode(), header)
    assert targets(data, links="all", nofollow="drop") == [("http://h/s", "E")]
    assert extracted(data, links="all")[3]["flagged.nofollow"] == 2


def test_documents_of_xml_with_prefixes_and_in_utf_16() -> None:
    svg = b'<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:a xlink:href="a"/></s:svg>'
    assert targets(of_type("image/svg+xml", svg)) == [("http://h/a", "L")]
    feed = "<rss><channel><item><link>http://h/a</link></item></channel></rss>"
    for charset in ("utf-16le", "utf-16be"):
        data = of_type(f"text/xml; charset={charset}", feed.encode(charset))
        assert targets(data) == [("http://h/a", "L")]


HERITRIX = warc(b"software: Heritrix/3.4.0\r\n", "", "warcinfo", media_type=FIELDS)
BY_DOCUMENT = {
    "base": response(200, b"<base href=//fa\xc3\x9f.test/><a href=x>"),
    "location": response(302, b"", "Location: http://fa\u00df.test/x\r\n"),
    "feed": of_type("text/xml", "<rss><link>http://faß.test/x</link></rss>".encode()),
    "css": of_type("text/css", "a{b:url(http://faß.test/x)}".encode()),
}


@pytest.mark.parametrize("name", BY_DOCUMENT)
def test_hosts_of_heritrix_are_of_idna_2003_in_all_documents(name: str) -> None:
    found = targets(HERITRIX + BY_DOCUMENT[name], links="all")
    assert [target for target, _ in found] == ["http://fass.test/x"]
    assert targets(BY_DOCUMENT[name], links="all")[0][0] == "http://xn--fa-hia.test/x"
