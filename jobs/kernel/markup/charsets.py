"""The charset of a document: by byte order mark, HTTP header, its own declaration, or a guess.

A document declares it in a meta element, an XML declaration or, at its first byte, `@charset`.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

from crawlrank.jobs.kernel.encodings.decoding import REPLACED, UTF_16, decoded, encoding_of
from crawlrank.jobs.kernel.markup.html_tokens import attributes_of, start_tags, value_of

UTF_16_MARKS = (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)
_BYTE_ORDER_MARKS = dict(zip((codecs.BOM_UTF8, *UTF_16_MARKS), ("utf-8", *UTF_16), strict=True))
_MARKS = tuple(_BYTE_ORDER_MARKS)
_PRESCAN = 4096  # the standard says 1,024; pages with long scripts before it are many
_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9._:\-]{2,40})", re.IGNORECASE)
_CHARSET = re.compile(rb"charset", re.IGNORECASE).search
_DECLARED = re.compile(
    rb"\s{0,9}<\?xml[^>]{0,200}?\sencoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9._:\-]{2,40})"
    rb"|@charset \"([A-Za-z0-9._:\-]{2,40})\";"
)

_OTHER_THAN_ASCII = frozenset({*UTF_16, "iso-2022-jp", REPLACED})  # of bytes below 0x80
_BEGINNINGS = (b"iso-2022-", b"csiso2022", b"hz-gb-2312", b"replacement")  # of their labels


def charset_of(body: bytes, content_type: str) -> str:
    """The encoding of the page, by its name in the Encoding Standard, in lower case. content_type:
    the value of the HTTP header."""
    if body.startswith(_MARKS):
        return next(name for mark, name in _BYTE_ORDER_MARKS.items() if body.startswith(mark))
    return _labelled(content_type) or _declared(body[:_PRESCAN]) or _guess(body)


@lru_cache(1000)  # a crawl has few different values
def _labelled(content_type: str) -> str:
    label = _LABEL.search(content_type)
    return encoding_of(label[1]) if label else ""


def _declared(head: bytes) -> str:
    encoding = _of_meta(head) if _CHARSET(head) else ""
    if not encoding and (declared := _DECLARED.match(head)):
        encoding = encoding_of(declared[declared.lastindex or 0].decode())
    # In UTF-16 the declaration itself could not have been read.
    return "utf-8" if encoding in UTF_16 else encoding


def _of_meta(head: bytes) -> str:
    """The encoding of the first meta element that names one, found as the HTML standard finds it;
    '' if there is none."""
    labels = map(_meta_label, start_tags(head, b"meta"))
    encoding = next(filter(None, map(encoding_of, labels)), "")
    return "windows-1252" if encoding == "x-user-defined" else encoding


def _meta_label(rest: bytes) -> str:
    """The label in the attributes of a meta element, '' if there is none."""
    values: dict[bytes, str] = {}
    for name, attribute in attributes_of(rest):
        values.setdefault(name, value_of(attribute).decode("latin-1"))
    if b"charset" in values:
        return values[b"charset"]
    if values.get(b"http-equiv", "").lower() != "content-type":
        return ""
    label = _LABEL.search(values.get(b"content", ""))
    return label[1] if label else ""


def _guess(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        cut = error.start >= len(body) - 3 and not body[: error.start].isascii()
        return "utf-8" if cut else "windows-1252"  # a body may end inside a character
    return "utf-8"


def reads_ascii_as_it_is(body: bytes, content_type: str) -> bool:
    """Whether each byte of the page below 0x80 is that character of ASCII, whatever its charset."""
    if body.startswith(UTF_16_MARKS):
        return False
    if labelled := _labelled(content_type):
        return labelled not in _OTHER_THAN_ASCII
    head = body[:_PRESCAN]
    return not _may_be_other(head.lower()) or _declared(head) not in _OTHER_THAN_ASCII


def _may_be_other(head: bytes) -> bool:
    """Whether a head in lower case may declare such an encoding: cheaper than to look for it."""
    declares = b"charset" in head or b"<?xml" in head[: len(b"<?xml") + 9]
    return declares and any(label in head for label in _BEGINNINGS)


def decodes_by_parts(body: bytes, charset: str) -> bool:
    """Whether the parts between marks of ASCII decode alone as they do in the page. They do not
    where a mark cuts off a sequence of four bytes: its digit is a character then."""
    if charset not in ("gbk", "gb18030") or body.isascii():
        return True
    try:
        body.decode("gb18030")
    except UnicodeDecodeError:
        return False
    return True


def as_utf8(body: bytes, charset: str) -> bytes:
    """The page in UTF-8, without byte order mark; bytes that are no text become U+FFFD."""
    if charset not in _OTHER_THAN_ASCII and body.isascii():
        return body
    text = decoded(body, charset)
    if charset in _BYTE_ORDER_MARKS.values():
        text = text.removeprefix("\ufeff")
    return text.encode("utf-8", "replace")
