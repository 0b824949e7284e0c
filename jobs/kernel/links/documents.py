"""The kind of document that a body is: by its type, and by its beginning where the type does not
say enough.

| document | which bodies |
|---|---|
| html | HTML types, XHTML also as plain XML; unless it begins like a feed, a sitemap or a picture |
| css | text/css |
| svg | XML types with that root; it is read like an `svg` inside an HTML page |
| feed, sitemap | all types but CSS and PDF, by the root element |
| feed | also JSON that names the version of JSON Feed |
| sitemap | also text named `sitemap*.txt`, packed or not: a URI a line |
| robots | `/robots.txt` that is no HTML |
| pdf | application/pdf, and unknown types that begin like one |
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from functools import lru_cache

from crawlrank.jobs.kernel.archive.http_payload import PACKED, BodyDamage, unpacked
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.links.xml_links import FEED_ROOTS, SITEMAP_ROOTS, document_of, root_of
from crawlrank.jobs.kernel.markup.charsets import UTF_16_MARKS, as_utf8, charset_of

HTML_TYPES = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "html")
XML_TYPES = ("text/xml", "application/xml", "application/rdf+xml", "text/x-opml")
# What servers and crawlers write for an unknown type. Then the body decides, as it does for a type
# without a slash (`text`, `no-type`, `-`, nothing).
UNKNOWN_TYPES = (
    *("*/*", "unknown/unknown", "application/unknown", "application/x-unknown"),
    *("application/octet-stream", "application/x-unknown-content-type", "binary/octet-stream"),
)
_SNIFFED = 2**14
_TEXT_SITEMAP = re.compile(r"/site-?map[^/]*\.txt(?:\.gz)?\Z", re.IGNORECASE)
_JSON_FEED = re.compile(rb"\"version\"\s{0,99}:\s{0,99}\"https?:\\?/\\?/jsonfeed\.org\\?/version")
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
_OF_ANY_TYPE = ("feed", "sitemap")  # as nothing else begins like them
_PDF = b"%PDF-"
_begins_binary = re.compile(  # pictures, films and packed files
    rb"%PDF-|GIF8|\x89PNG|\xff\xd8\xff|PK\x03\x04|RIFF.{4}(?:WAVE|AVI |WEBP)"
    rb"|\0\0[\1\2]\0|\0\0\0.ftyp",
    re.DOTALL,
).match
_BLANKS = BOM_UTF8 + b" \t\r\n\f"
# The beginning of most pages, which is of no other document, and of no body that is packed.
_begins_page = re.compile(rb"\s{0,99}<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE).match


def readable(record: Record, limit: int) -> tuple[bytes, str, BodyDamage]:
    """A body as its links can be read, at most limit bytes if it was packed; its name; and the
    damage to what was packed."""
    type_name = _type_name(record.media_type)
    if type_name == "text/html" and _begins_page(record.body):
        return record.body, "html", []
    body, damage = inflated(record.body, record.media_type, record.uri, limit)
    by_type = body is record.body or type_name in HTML_TYPES
    name = document(record.media_type if by_type else "", body, record.uri)
    if name in ("html", "svg"):
        body = without_prefix(record.media_type, body)
    return body, name, damage


def document(media_type: str, body: bytes, uri: str = "") -> str:
    """A name of the table above, or '' for a body whose links are not read."""
    if not body:
        return ""
    name = _type_name(media_type)
    if name == "text/css":
        return "css"
    if name in HTML_TYPES:
        return _of_html_type(body, media_type)
    if name in XML_TYPES or name.endswith("+xml"):
        return _by_root(body, media_type)
    unknown = _is_unknown(name)
    if name == "application/pdf" or (unknown and body.startswith(_PDF)):
        return "pdf"
    by_content = _by_content(body, media_type)
    if by_content and (unknown or by_content in _OF_ANY_TYPE):
        return by_content
    if not (unknown or name == "text/plain" or "gzip" in name):
        return ""
    if _TEXT_SITEMAP.search(_path(uri)):
        return "sitemap"
    return "robots" if is_robots_txt(uri) and "gzip" not in name else ""


def _is_unknown(type_name: str) -> bool:
    return "/" not in type_name or type_name in UNKNOWN_TYPES


def is_robots_txt(uri: str) -> bool:
    return _path(uri) == "/robots.txt"


def _of_html_type(body: bytes, media_type: str) -> str:
    if _begins_binary(body):
        return ""
    return _like_xml(body, media_type) or "html"


def _by_content(body: bytes, media_type: str) -> str:
    head = _stripped(body[:_SNIFFED])
    if head.startswith(b"{"):  # its members have no order
        return "feed" if b"jsonfeed.org" in body and _JSON_FEED.search(body) else ""
    return _like_xml(body, media_type) or ("html" if _begins_like_html(head) else "")


def inflated(body: bytes, media_type: str, uri: str, limit: int) -> tuple[bytes, BodyDamage]:
    """At most limit bytes of the body, which is inflated if it holds a packed page, feed or
    sitemap."""
    if not body.startswith(PACKED):
        return body, []
    name = _type_name(media_type)
    if name not in HTML_TYPES and not _TEXT_SITEMAP.search(_path(uri)):
        by_content = _by_content(unpacked(body, _SNIFFED)[0], "")
        if by_content not in _OF_ANY_TYPE and not (by_content == "html" and _is_unknown(name)):
            return body, []
    return unpacked(body, limit)


def unread(media_type: str, body: bytes) -> str:
    """What a body looks like whose links are not read as its type says that it is something else:
    `html`, `svg` or `xml`; '' if like none of these."""
    name = _type_name(media_type)
    if name in XML_TYPES or name.endswith("+xml") or body[:99].lstrip(_BLANKS)[:1] != b"<":
        return ""
    if _stripped(body[:_SNIFFED]).startswith((b"<?xml", b"<svg")):
        return _by_root(body, media_type) or "xml"
    return _by_content(body, media_type)


def without_prefix(media_type: str, body: bytes) -> bytes:
    """An XHTML page, or a picture of SVG, whose elements have a prefix (`html:a`) as one without
    it, as HTML has none."""
    head = body[:_SNIFFED].lower()
    is_html = _type_name(media_type) in ("text/html", "html")
    if is_html or (b":html" not in head and b":svg" not in head):
        return body
    prefix = root_of(_stripped(body[:_SNIFFED]).decode("latin-1")).rpartition(":")[0]
    if not prefix.isascii() or not prefix:
        return body
    return re.sub(rb"<(/?)%b:" % re.escape(prefix.encode()), rb"<\1", body, flags=re.IGNORECASE)


@lru_cache(1000)  # most records of an archive have one of few
def _type_name(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _path(uri: str) -> str:
    path = uri.partition("?")[0].partition("://")[2]
    return "/" + path.partition("/")[2]


def _like_xml(body: bytes, media_type: str) -> str:
    """The kind as of `_by_root`, for a body that its type does not call XML."""
    return _by_root(body, media_type) if _XML_START.match(body, 0, _SNIFFED) else ""


def _by_root(body: bytes, media_type: str) -> str:
    head = body[:_SNIFFED]
    if head.startswith(UTF_16_MARKS) or b"\0" in head[:4]:
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
