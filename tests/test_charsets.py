"""Charsets: which declaration wins, and that a page cannot choose a codec that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.kernel.charsets import as_utf8, charset_of

META = b'<html><meta charset="koi8-r">'
EQUIV = b"<meta http-equiv=Content-Type content='text/html; charset = Shift_JIS'>"
CASES = [
    (b"\xef\xbb\xbf" + META, "text/html; charset=gbk", "utf-8"),
    (b"\xff\xfe<\0", "", "utf-16-le"),
    (META, "text/html; Charset='GB2312'", "gb18030"),
    (META, "text/html", "koi8-r"),
    (META, "text/html; charset=nonsense", "koi8-r"),
    (EQUIV, "", "cp932"),
    (b"<meta charset=utf-16>", "", "utf-8"),
    (b"caf\xe9", "", "cp1252"),
    ("café".encode(), "", "utf-8"),
    ("é café".encode()[:-1], "", "utf-8"),
    (b"caf\xe9", "text/html; charset=iso-8859-1", "cp1252"),
    (b"x", "text/html; charset=punycode", "utf-8"),
    (b"x", "text/html; charset=unicode_escape", "utf-8"),
    (b"x", "text/html; charset=zip", "utf-8"),
    (b"x", "text/html; charset=x-sjis", "cp932"),
]


@pytest.mark.parametrize(("body", "content_type", "codec"), CASES)
def test_charsets(body: bytes, content_type: str, codec: str) -> None:
    assert charset_of(body, content_type) == codec


@given(st.binary(), st.text())
def test_anything_has_a_charset_and_becomes_utf8(body: bytes, content_type: str) -> None:
    codec = charset_of(body, content_type)
    as_utf8(body, codec).decode()


def test_utf8_without_its_mark() -> None:
    assert as_utf8(b"\xef\xbb\xbfx", "utf-8") == as_utf8(b"\xff\xfex\0", "utf-16-le") == b"x"
