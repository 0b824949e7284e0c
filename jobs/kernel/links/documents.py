"""The kind of document that a body is: by its type, and by its beginning where the type does not
say enough.

| document | which bodies |
|---|---|
| html | HTML types, XHTML also as plain XML; unless it begins like a feed, a sitemap or a picture |
| css | text/css |
| svg | XML types with that root; it is read like an `svg` inside an HTML page |
| feed, sitemap | XML types, and like in browsers HTML and unknown types, by the root element |
| sitemap | also plain text named `sitemap*.txt`: a URI a line |
| robots | `/robots.txt` that is no HTML |
| pdf | application/pdf, and unknown types that begin like one |
"""

from __future__ import annotations

import re
import zlib
from codecs import BOM_UTF8
from functools import lru_cache

from jobs.kernel.archive.frames import GZIP_MAGIC
from jobs.kernel.links.xml_links import FEED_ROOTS, SITEMAP_ROOTS, document_of
from jobs.kernel.markup.charsets import UTF_16_MARKS, as_utf8, charset_of

HTML_TYPES = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "html")
XML_TYPES = ("text/xml", "application/xml", "application/rdf+xml")
# What servers and crawlers write for an unknown type. Then the body decides, as it does for a type
# without a slash (`text`, `no-type`, `-`, nothing).
UNKNOWN_TYPES = (
    *("*/*", "unknown/unknown", "application/unknown", "application/x-unknown"),
    *("application/octet-stream", "application/x-unknown-content-type"),
)
GZIP_TYPES = ("application/gzip", "application/x-gzip", "application/octet-stream")

_SNIFFED = 2**14
_TEXT_SITEMAP = re.compile(r"/site-?map[^/]*\.txt\Z", re.IGNORECASE)
_HTML_START = re.compile(
    rb"<(?:!doctype\s+html|(?:html|head|body|title|script|style|iframe|frameset|h1|div|font|table"
    rb"|meta|a|b|br|p)[\s/>])",
    re.IGNORECASE,
)
_XML_START = re.compile(  # including what `_stripped` removes
    rb"(?:%b)?\s*<(?:\?xml|!--|!doctype\s+rss|%b)"
    % (BOM_UTF8, "|".join(sorted(FEED_ROOTS | SITEMAP_ROOTS)).encode()),
    re.IGNORECASE,
)
_PDF = b"%PDF-"
_BINARY_STARTS = (
    *(_PDF, b"GIF8", b"\x89PNG", b"\xff\xd8\xff", b"PK\x03\x04", b"RIFF"),
    b"\x00\x00",
)


def document(media_type: str, body: bytes, uri: str = "") -> str:
    """A name of the table above, or '' for a body whose links are not read."""
    if not body:
        return ""
    name = _type_name(media_type)
    unknown = "/" not in name or name in UNKNOWN_TYPES
    if name == "text/css":
        return "css"
    if name == "application/pdf" or (unknown and body.startswith(_PDF)):
        return "pdf"
    if name not in HTML_TYPES and (name in XML_TYPES or name.endswith("+xml")):
        return _by_root(body, media_type)
    if name in HTML_TYPES:
        return "" if body.startswith(_BINARY_STARTS) else _like_xml(body, media_type) or "html"
    if unknown and (by_root := _like_xml(body, media_type)):
        return by_root
    if unknown and _begins_like_html(body[:_SNIFFED]):
        return "html"
    if not (unknown or name == "text/plain"):
        return ""
    path = _path(uri)
    if _TEXT_SITEMAP.search(path):
        return "sitemap"
    return "robots" if path == "/robots.txt" else ""


def unpacked(media_type: str, body: bytes, uri: str, limit: int) -> bytes:
    """The body, inflated to at most limit bytes if it is a `….xml.gz`, as sitemaps often are."""
    if not (body.startswith(GZIP_MAGIC) and _path(uri).endswith(".xml.gz")):
        return body
    name = _type_name(media_type)
    if "xml" not in name and "/" in name and name not in GZIP_TYPES:
        return body
    try:
        return zlib.decompressobj(31).decompress(body, limit)
    except zlib.error:
        return body


@lru_cache(1000)  # most records of an archive have one of few
def _type_name(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _path(uri: str) -> str:
    path = uri.partition("?")[0].partition("://")[2]
    return "/" + path.partition("/")[2]


def _like_xml(body: bytes, media_type: str) -> str:
    """As `_by_root`, for a body that its type does not call XML."""
    return _by_root(body, media_type) if _XML_START.match(body, 0, _SNIFFED) else ""


def _by_root(body: bytes, media_type: str) -> str:
    head = body[:_SNIFFED]
    if head.startswith(UTF_16_MARKS):
        head = as_utf8(head, charset_of(head, media_type))
    return document_of(_stripped(head).decode("latin-1"))


def _stripped(head: bytes) -> bytes:
    return head.removeprefix(BOM_UTF8).lstrip()


def _begins_like_html(head: bytes) -> bool:
    """Whether a tag of HTML comes first, after blanks, comments and an XML declaration."""
    head = _stripped(head)
    while head.startswith((b"<!--", b"<?xml")):
        head = head.partition(b"-->" if head.startswith(b"<!--") else b">")[2].lstrip()
    return bool(_HTML_START.match(head))
