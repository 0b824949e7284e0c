"""What a body is, so that its links can be read: by its type, and by its beginning where the type
tells nothing or too little.

| document | which bodies |
|---|---|
| html | HTML types, XHTML also as plain XML; unless it begins like a feed, a sitemap or a picture |
| css | text/css |
| svg | XML types with that root: a page of pictures, read as HTML reads it inside pages |
| feed, sitemap | XML types, and HTML types and unknown ones as browsers do, by the root element |
| sitemap | also plain text that its name says is one, `sitemap*.txt`: a URI a line |
| robots | `/robots.txt` that is no HTML |
| pdf | application/pdf, and unknown types that begin like one |
"""

from __future__ import annotations

import re
import zlib

from jobs.kernel.archive.record_starts import GZIP_MAGIC
from jobs.kernel.links.xml_links import document_of
from jobs.kernel.markup.charsets import as_utf8, charset_of

HTML_TYPES = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "html")
XML_TYPES = ("text/xml", "application/xml", "application/rdf+xml")
# What servers and crawlers write when they do not know: the body is looked at instead. So it is
# for a type without a slash (`text`, `no-type`, `-`, nothing).
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
_FEED_START = re.compile(  # with what `_stripped` takes off
    rb"(?:\xef\xbb\xbf)?\s*<(?:\?xml|!--|!doctype\s+rss|rss|feed|rdf:rdf|urlset|sitemapindex)",
    re.IGNORECASE,
)
_BINARY_STARTS = (
    b"%PDF-",
    b"GIF8",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"RIFF",
    b"\x00\x00",
)


def document(media_type: str, body: bytes, uri: str = "") -> str:
    """A name of the table above, or '' for a body whose links are not read."""
    name = media_type.partition(";")[0].strip().lower()
    unknown = "/" not in name or name in UNKNOWN_TYPES
    if not body:
        return ""
    if name == "text/css":
        return "css"
    if name == "application/pdf" or (unknown and body.startswith(b"%PDF-")):
        return "pdf"
    if name not in HTML_TYPES and (name in XML_TYPES or name.endswith("+xml")):
        return _by_root(body, media_type)
    if name in HTML_TYPES:
        return "" if body.startswith(_BINARY_STARTS) else _like_xml(body, media_type) or "html"
    if unknown and (found := _like_xml(body, media_type)):
        return found
    if unknown and _begins_like_html(body[:_SNIFFED]):
        return "html"
    if not (unknown or name == "text/plain"):
        return ""
    path = _path(uri)
    if _TEXT_SITEMAP.search(path):
        return "sitemap"
    return "robots" if path == "/robots.txt" else ""


def unpacked(media_type: str, body: bytes, uri: str, limit: int) -> bytes:
    """A body of `….xml.gz`, as sitemaps often are, inflated to at most limit bytes."""
    if not (body.startswith(GZIP_MAGIC) and _path(uri).endswith(".xml.gz")):
        return body
    name = media_type.partition(";")[0].strip().lower()
    if "xml" not in name and "/" in name and name not in GZIP_TYPES:
        return body
    try:
        return zlib.decompressobj(31).decompress(body, limit)
    except zlib.error:
        return body


def _path(uri: str) -> str:
    path = uri.partition("?")[0].partition("://")[2]
    return "/" + path.partition("/")[2]


def _like_xml(body: bytes, media_type: str) -> str:
    """As `_by_root`, of what its type calls something else."""
    like_xml = _FEED_START.match(body, 0, _SNIFFED)  # of the body itself: most are no XML
    return _by_root(body, media_type) if like_xml else ""


def _by_root(body: bytes, media_type: str) -> str:
    """`feed`, `sitemap` or `html` by the root element."""
    head = body[:_SNIFFED]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        head = as_utf8(head, charset_of(head, media_type))
    return document_of(_stripped(head).decode("latin-1"))


def _stripped(head: bytes) -> bytes:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()


def _begins_like_html(head: bytes) -> bool:
    """Whether a tag of HTML comes first, apart from blanks, comments and an XML declaration."""
    head = _stripped(head)
    while head.startswith((b"<!--", b"<?xml")):
        head = head.partition(b"-->" if head.startswith(b"<!--") else b">")[2].lstrip()
    return bool(_HTML_START.match(head))
