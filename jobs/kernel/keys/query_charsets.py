"""Queries in the charset of the page that links to them, and the same in UTF-8.

A browser writes the query of a link in the charset of its page (`?q=caf%E9` on a page in Latin-1),
Heritrix and many other crawlers write UTF-8 (`?q=caf%C3%A9`). Which of them made an archive is not
always known; what it has captured tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: of pages, by their share of the web of old; ISO-8859-1 and GBK are parts of others
CHARSETS = (
    "windows-1252", "cp932", "gb18030", "windows-1251", "euc-jp", "euc-kr", "big5",
    "iso8859-2", "windows-1250", "iso8859-9", "windows-1253", "windows-1255", "windows-1256",
    "koi8-r", "cp874", "iso8859-15",
)  # fmt: skip
_ESCAPE = re.compile(rb"%([89A-Fa-f][0-9A-Fa-f])")
#: what has such an escape in its query, for expressions of other libraries
BEYOND_ASCII = r"\?.*%[89A-Fa-f][0-9A-Fa-f]"
_has_escapes = re.compile(BEYOND_ASCII.encode()).search


def is_beyond_ascii(uri: bytes) -> bool:
    """Whether the query has escapes of bytes beyond ASCII."""
    return _has_escapes(uri) is not None


def is_foreign(uri: bytes) -> bool:
    """Whether these bytes are no UTF-8."""
    return is_beyond_ascii(uri) and _decoded(_query(uri), "utf-8") is None


def in_utf_8(uri: bytes) -> Iterator[bytes]:
    """The URI with its query in UTF-8, for each charset that it may be in; each once."""
    head = uri[: uri.index(b"?") + 1]
    texts = dict.fromkeys(_decoded(_query(uri), charset) for charset in CHARSETS)
    yield from (head + _escaped(text) for text in texts if text is not None)


def _query(uri: bytes) -> bytes:
    """With the bytes that its escapes beyond ASCII stand for; other escapes stay."""
    return _ESCAPE.sub(lambda escape: bytes.fromhex(escape[1].decode()), uri.partition(b"?")[2])


def _decoded(query: bytes, charset: str) -> str | None:
    try:
        return query.decode(charset)
    except UnicodeDecodeError:
        return None


def _escaped(text: str) -> bytes:
    return b"".join(
        char.encode() if char.isascii() else b"".join(b"%%%02X" % byte for byte in char.encode())
        for char in text
    )
