"""Encoders against those of the Encoding Standard's text: every code point."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from make_encoding_tables import TABLES, source
from support.drawing import examples
from support.encoding.encoders import encode
from support.encoding.indexes import ENCODINGS, SINGLE_BYTE

from crawlrank.jobs.kernel.encodings.decoding import output_encoding
from crawlrank.jobs.kernel.encodings.encoding import encoded

OUTPUT = sorted({output_encoding(name) for name in ENCODINGS})
BEYOND = ("utf-8", "big5")  # whose characters beyond the first 65,536 are no ranges
SHOWN = "a\\~<&\n\x0e\x0f\x1b\x7f\xa0é¥‾−ｱﾞ亜ў€\ue5e5\ue7c7\ue81e\uf780\ufffd\U0001f600\U00020021"
TEXTS = st.text(st.sampled_from(SHOWN) | st.characters(exclude_categories=["Cs"]), max_size=8)


def reference(code: int) -> bytes:
    return b"&#%d;" % code


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("encoding", OUTPUT)
def test_every_code_point(encoding: str) -> None:
    last = 0x30000 if encoding in BEYOND else 0x10100
    differences = []
    for code in [*range(0xD800), *range(0xE000, last), *range(last, 0x110000, 4999), 0x10FFFF]:
        character = chr(code)
        if encoded(character, encoding) != encode(encoding, character, reference):
            differences.append(character)
    assert differences == []


@pytest.mark.few(8)
@pytest.mark.parametrize("encoding", OUTPUT)
@given(texts=st.lists(TEXTS, min_size=examples(20), max_size=examples(20)))
def test_any_text(encoding: str, texts: list[str]) -> None:
    for text in texts:
        assert encoded(text, encoding) == encode(encoding, text, reference)


@pytest.mark.parametrize(
    ("encoding", "text", "expected"),
    [
        ("gbk", "a©€b", b"a&#169;\x80b"),
        ("gb18030", "©€", b"\x810\x848\xa2\xe3"),
        ("big5", "ü十", b"&#252;\xa4Q"),
        ("koi8-u", "ў", b"\xae"),
        ("shift_jis", "¥‾−ⅰ", b"\\~\x81|\xfa@"),
        ("iso-2022-jp", "¥a亜é", b"\x1b(J\\a\x1b$B0!\x1b(B&#233;"),
        ("windows-1252", "\x81ў", b"\x81&#1118;"),
        ("utf-8", "\ud800", "\ufffd".encode()),
        ("gbk", "\ud800", b"&#65533;"),
        ("utf-16le", "é", b"\xe9\0"),
    ],
)
def test_by_hand(encoding: str, text: str, expected: bytes) -> None:
    assert encoded(text, encoding) == expected


def test_single_bytes_are_all_there() -> None:
    assert {name for name in OUTPUT if name in SINGLE_BYTE} == {*SINGLE_BYTE}


def test_what_a_page_sends_is_never_in_utf_16() -> None:
    others = {name: output_encoding(name) for name in ENCODINGS if name != output_encoding(name)}
    assert others == dict.fromkeys(("utf-16be", "utf-16le", "replacement"), "utf-8")


def test_the_tables_are_those_of_the_standard() -> None:
    assert TABLES.read_text() == source()
