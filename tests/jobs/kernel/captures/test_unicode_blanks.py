"""Blanks and ends of lines that Unicode knows and the formats do not: each is a part of its URI.

Standards: HTML, CSS, XML, RFC 9112 and WARC have blanks of ASCII alone, and so have lines of text.
"""

from __future__ import annotations

import io
import json
import unicodedata
from collections import Counter
from collections.abc import Callable
from urllib.parse import quote

import pytest
from support.inputs.archive_samples import arc_head, metadata, page, targets, warc

from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import Capture

# str.isspace, str.splitlines or `\s` takes these for blanks or for ends of lines
SIGNS = [
    chr(code)
    for code in range(0x80, 0x10000)
    if chr(code).isspace() or len(f"a{chr(code)}b".splitlines()) > 1
]
PLACES = {"inside": "http://t.example/x%sy", "at the end": "http://t.example/x%s"}
SITEMAP = '<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml"><url>%s</url></urlset>'


def answer(body: str, media_type: str, uri: str = "http://h.example/p", fields: str = "") -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type};charset=utf-8\r\n{fields}\r\n"
    return warc((head + body).encode(), uri)


def html(body: str) -> Callable[[str], bytes]:
    return lambda uri: answer(body % uri, "text/html")


def document(body: str, media_type: str, uri: str = "http://h.example/p") -> Callable[[str], bytes]:
    return lambda reference: answer(body % reference, media_type, uri)


def outlinks_of_wat(uri: str) -> bytes:
    records = [{"Name": "outlink", "Value": f"{uri} L a/@href"}]
    about = {"WARC-Type": "metadata", "WARC-Target-URI": "http://h.example/p"}
    about["Content-Type"] = "application/warc-fields"
    payload = {"WARC-Metadata-Metadata": {"Metadata-Records": records}}
    text = json.dumps({"Envelope": {"WARC-Header-Metadata": about, "Payload-Metadata": payload}})
    return page("x", "http://h.example/p") + warc(
        text.encode(), "http://h.example/p", "metadata", media_type="application/json"
    )


READERS: dict[str, Callable[[str], bytes]] = {
    "href": html('<a href="%s">x</a>'),
    "href without quotes": html("<a href=%s>x</a>"),
    "base": html('<base href="%s/"><a href="">x</a>'),
    "srcset": html('<img srcset="%s 1x, /b 2x">'),
    "meta refresh": html('<meta http-equiv=refresh content="5; url=%s">'),
    "style": html('<p style="background: url(%s)">'),
    "XHTML": document('<html><a href="%s">x</a></html>', "application/xhtml+xml"),
    "SVG": document('<svg><a xlink:href="%s"/></svg>', "image/svg+xml"),
    "CSS": document("p { background: url( %s ) }", "text/css"),
    "CSS in quotes": document('p { background: url( "%s" ) }', "text/css"),
    "CSS import": document('@import "%s";', "text/css"),
    "text sitemap": document("%s\nhttp://t/\n", "text/plain", "http://h.example/sitemap.txt"),
    "sitemap": document(SITEMAP % "<loc> %s </loc>", "application/xml"),
    "language": document(SITEMAP % '<xhtml:link href=" %s "/>', "application/xml"),
    "RSS": document("<rss><item><link> %s </link></item></rss>", "application/rss+xml"),
    "Atom": document('<feed><link href=" %s "/></feed>', "application/atom+xml"),
    "xml:base": document('<feed xml:base="%s/"><link href="?"/></feed>', "application/atom+xml"),
    "JSON feed": lambda uri: answer(
        json.dumps({"version": "https://jsonfeed.org/version/1", "items": [{"url": uri}]}),
        "application/feed+json",
    ),
    "robots.txt": document("Sitemap: %s # x\n", "text/plain", "http://h.example/robots.txt"),
    "Location": lambda uri: warc(
        f"HTTP/1.1 301 M\r\nLocation: {uri} \r\n\r\n".encode(), "http://h.example/p"
    ),
    "Refresh": lambda uri: answer("", "text/html", fields=f"Refresh: 5; url={uri}\r\n"),
    "Link": lambda uri: answer("", "text/html", fields=f"Link: <{uri}>; rel=next\r\n"),
    "outlink": lambda uri: (
        page("x", "http://h.example/p")
        + metadata(uri="http://h.example/p", body=f"outlink: {uri} L a/@href\r\n".encode())
    ),
    "outlink of a WAT": outlinks_of_wat,
}
AROUND = {"base": "%s/", "xml:base": "%s/?"}  # what the reference is then


def test_signs() -> None:
    assert {unicodedata.category(sign) for sign in SIGNS} == {"Cc", "Zl", "Zp", "Zs"}
    assert {"\x85", "\xa0", "\u2028", "\u2029", "\u3000"} <= set(SIGNS)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("reader", READERS)
def test_references(reader: str, place: str) -> None:
    for sign in SIGNS:
        uri = PLACES[place] % sign
        seen = [target for target, _ in targets(READERS[reader](uri), links="all", outlinks="both")]
        assert quote(AROUND.get(reader, "%s") % uri, safe=":/?") in seen, ascii(sign)


def test_an_escape_of_css_ends_at_a_blank_of_css() -> None:
    for sign in SIGNS:
        body = f'@import "http://t.example/\\78{sign}y";'
        assert targets(answer(body, "text/css"), links="all") == [
            ("http://t.example/x" + quote(f"{sign}y"), "E")
        ]


CAPTURES: dict[str, Callable[[str], bytes]] = {
    "WARC": lambda uri: page("x", uri),
    "ARC": lambda uri: arc_head() + f"{uri} 192.0.2.1 20240506070809 text/html 1\nx\n".encode(),
    "CDX": lambda uri: f" CDX a b m\n{uri} 20240506070809 text/html\n".encode(),
    "CDXJ": lambda uri: f'h)/ 20240506070809 {{"url": "{uri}"}}\n'.encode(),
    "JSON": lambda uri: f'{{"timestamp": "20240506070809", "url": "{uri}"}}\n'.encode(),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("reader", CAPTURES)
def test_captures(reader: str, place: str) -> None:
    for sign in SIGNS:
        uri = PLACES[place] % sign
        data = io.BytesIO(CAPTURES[reader](uri))
        rows = extract(data, "x", ExtractionOptions(), Counter())
        seen = [row.uri.decode() for row in rows if isinstance(row, Capture)]
        assert seen == [quote(uri, safe=":/")], ascii(sign)
