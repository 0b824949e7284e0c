"""Queries in the charset of the page that links to them, and the same in UTF-8.

A browser writes the query of a link in the charset of its page (`?q=caf%E9` on a page in Latin-1),
Heritrix and many other crawlers write UTF-8 (`?q=caf%C3%A9`). Which of them made an archive is not
always known; what it has captured tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawlrank.jobs.kernel.encodings.decoding import REPLACEMENT, decoded

#: of pages, by their share of the web of old; GBK is read as GB18030, others are parts of these
CHARSETS = (
    "windows-1252", "shift_jis", "gb18030", "windows-1251", "euc-jp", "euc-kr", "big5",
    "iso-8859-2", "windows-1250", "windows-1254", "windows-1253", "windows-1255", "windows-1256",
    "koi8-r", "windows-874", "iso-8859-15",
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
    if not is_beyond_ascii(uri):
        return False
    try:
        _query(uri).decode()
    except UnicodeDecodeError:
        return True
    return False


def in_utf_8(uri: bytes) -> Iterator[bytes]:
    """The URI with its query in UTF-8, for each charset that it may be in; each once."""
    head = uri[: uri.index(b"?") + 1]
    texts = dict.fromkeys(decoded(_query(uri), charset) for charset in CHARSETS)
    yield from (head + _escaped(text) for text in texts if REPLACEMENT not in text)


def _query(uri: bytes) -> bytes:
    """The query, with bytes in place of escapes beyond ASCII; other escapes stay."""
    return _ESCAPE.sub(lambda escape: bytes.fromhex(escape[1].decode()), uri.partition(b"?")[2])


def _escaped(text: str) -> bytes:
    return b"".join(
        char.encode() if char.isascii() else b"".join(b"%%%02X" % byte for byte in char.encode())
        for char in text
    )
