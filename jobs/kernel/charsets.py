"""The charset of an HTML page: byte order mark, HTTP header, meta element, then a guess."""

from __future__ import annotations

import codecs
import re

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))
_PRESCAN = 4096  # the standard says 1,024; pages with long scripts before it are many
_LABEL = re.compile(r"charset\s*=\s*[\"']?\s*([A-Za-z0-9._:\-]{2,40})", re.IGNORECASE)
_META = re.compile(
    rb"<meta\b[^>]{0,500}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9._:\-]{2,40})",
    re.IGNORECASE,
)

_ALIASES = {  # labels of the web that Python does not know
    "utf-16": "utf-16-le",
    "utf16": "utf-16-le",
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
    "x-mac-cyrillic": "mac-cyrillic",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
}

# Only codecs of the WHATWG standard, under Python's names: a page must not choose `punycode` or
# `unicode_escape`. Where browsers read a superset, the superset.
_CODECS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
} | {
    name: name
    for name in (
        *(
            "utf-8",
            "gb18030",
            "big5hkscs",
            "euc_jp",
            "iso2022_jp",
            "cp932",
            "cp949",
            "cp874",
            "cp866",
        ),
        *("koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "utf-16-le", "utf-16-be"),
        *(f"cp{number}" for number in range(1250, 1259)),
        *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    )
}


def charset_of(body: bytes, content_type: str) -> str:
    """A Python codec that decodes the page; content_type: the value of the HTTP header."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return codec
    label = _LABEL.search(content_type)
    codec = _codec(label[1]) if label else ""
    if not codec and (found := _META.search(body[:_PRESCAN])):
        codec = _codec(found[1].decode())
        codec = "utf-8" if codec.startswith("utf-16") else codec  # else its meta was not readable
    return codec or _guess(body)


def _codec(label: str) -> str:
    """The codec of a label, '' if it names none that a page may have."""
    name = label.lower()
    try:
        return _CODECS.get(codecs.lookup(_ALIASES.get(name, name)).name, "")
    except LookupError:
        return ""


def _guess(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError as error:
        cut = error.start >= len(body) - 3 and not body[: error.start].isascii()
        return "utf-8" if cut else "cp1252"  # a body may end inside a character
    return "utf-8"


def as_utf8(body: bytes, charset: str) -> bytes:
    """The page in UTF-8, without byte order mark; what cannot be decoded becomes U+FFFD."""
    text = body.decode(charset, "replace").removeprefix("\ufeff")
    return text.encode("utf-8", "replace")
