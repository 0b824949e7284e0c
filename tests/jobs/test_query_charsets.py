"""Queries in other charsets and in UTF-8, by Python's own codecs and ada's encoding of URLs."""

from __future__ import annotations

from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.jobs.kernel.keys.keys import (
    CHARSETS,
    in_utf_8,
    is_beyond_ascii,
    is_foreign,
)

WORDS = {
    "windows-1252": "café œuvre", "shift_jis": "日本語 表示", "gb18030": "中文 搜索",
    "euc-kr": "한국어", "big5": "中文 查詢", "windows-1251": "поиск", "koi8-r": "поиск",
    "euc-jp": "検索", "iso8859-2": "žluťoučký", "windows-1253": "αναζήτηση",
}  # fmt: skip


def escaped(text: str, charset: str) -> bytes:
    """A query as browsers write it: bytes beyond ASCII as escapes, ASCII trail bytes as they
    are."""
    return b"".join(
        bytes([byte]) if byte < 0x80 else b"%%%02X" % byte
        for byte in text.replace(" ", "+").encode(charset)
    )


@pytest.mark.parametrize("charset", WORDS)
def test_the_right_charset_is_among_those_tried(charset: str) -> None:
    uri = b"http://h/%E9?a=%26&q=" + escaped(WORDS[charset], charset)
    expected = "http://h/%E9?a=%26&q=" + quote_plus(WORDS[charset])
    assert is_foreign(uri)
    tried = list(in_utf_8(uri))
    assert expected.encode() in tried
    assert len(tried) == len(set(tried)) <= len(CHARSETS)
    assert not any(map(is_foreign, tried))


@pytest.mark.parametrize(
    "uri",
    [
        "http://h/", "http://h/?q=1", "http://h/%E9", "http://h/?q=%20%41", "http://h/?q=caf%C3%A9",
        "http://h/%E9?q=%c3%a9", "http://h/?" + quote("日本語"), "http://h/?q=%",
    ],
)  # fmt: skip
def test_what_is_in_utf_8_or_ascii_is_not_foreign(uri: str) -> None:
    assert not is_foreign(uri.encode())
    assert is_beyond_ascii(uri.encode()) == ("C3" in uri.upper() or "E6" in uri)


@given(st.binary(min_size=1, max_size=8))
def test_any_bytes(query: bytes) -> None:
    uri = b"http://h/?" + b"".join(b"%%%02X" % byte for byte in query)
    text = query.decode("utf-8", "replace")
    assert is_foreign(uri) == ("\ufffd" in text and "\ufffd".encode() not in query)
    for one in in_utf_8(uri) if is_foreign(uri) else ():
        one.decode("ascii")
