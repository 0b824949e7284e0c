"""Decoders against those of the Encoding Standard's text: every byte and pair, and drawn bytes."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import examples
from support.encoding.decoders import decode
from support.encoding.indexes import ENCODINGS, RANGES, SINGLE_BYTE

from crawlrank.jobs.kernel.encodings.decoding import decoded, decoder_of

BYTES = range(0x100)
SEVERAL_BYTES = [name for name in ENCODINGS if name not in SINGLE_BYTE]
ASCII_IS_ITSELF = [
    name for name in ENCODINGS if name not in ("iso-2022-jp", "replacement", "utf-16be", "utf-16le")
]
# Bytes at which decoders branch: of escape sequences, marks, digits, and the ends of ranges.
EDGES = b"\x00\n\x0e\x0f\x1b !$(09<>@ABIJ\\_`~\x7f\x80\x81\x8e\x8f\xa0\xa1\xa2\xb7\xc6\xd7\xd8\xdb"
EDGES += b"\xdc\xdf\xe0\xed\xf0\xf4\xf9\xfa\xfc\xfd\xfe\xff"
TEXTS = st.lists(st.sampled_from(EDGES) | st.integers(0, 0xFF), max_size=12).map(bytes)


def differences(encoding: str, sequences: Iterable[bytes]) -> list[tuple[bytes, str, str]]:
    decoder = decoder_of(encoding)
    return [
        (sequence, decoder(sequence), expected)
        for sequence in sequences
        if decoder(sequence) != (expected := decode(encoding, sequence))
    ]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_byte(encoding: str) -> None:
    assert differences(encoding, (bytes((byte,)) for byte in BYTES)) == []
    assert differences(encoding, (bytes((byte, 0x3C)) for byte in BYTES)) == []


@pytest.mark.parametrize("encoding", SEVERAL_BYTES)
@pytest.mark.few(1)
def test_every_pair_of_bytes(encoding: str) -> None:
    assert differences(encoding, map(bytes, product(BYTES, BYTES))) == []


@pytest.mark.slow
def test_every_pair_of_iso_2022_jp() -> None:
    pairs = product(range(0x80), range(0x80))
    assert differences("iso-2022-jp", (b"\x1b$B" + bytes(pair) for pair in pairs)) == []


def test_every_three_bytes_of_jis_x_0212() -> None:
    pairs = product(range(0x80, 0x100), range(0x80, 0x100))
    assert differences("euc-jp", (bytes((0x8F, *pair)) for pair in pairs)) == []


def test_four_bytes_of_gb18030() -> None:
    """At and beside the ends of each range, those without a character, and some between."""
    ends = {pointer + step for pointer, _ in RANGES for step in (-2, -1, 0, 1, 2) if pointer > 1}
    ends |= {0, 1, 7456, 7457, 7458, 39419, 39420, 188999, 1237575, 1237576, 126 * 12600 - 1}
    ends |= {*range(0, 126 * 12600, 997)}
    assert differences("gb18030", map(four_bytes, sorted(ends))) == []


def four_bytes(pointer: int) -> bytes:
    third, fourth = divmod(pointer, 10)
    second, third = divmod(third, 126)
    first, second = divmod(second, 10)
    return bytes((first + 0x81, second + 0x30, third + 0x81, fourth + 0x30))


@pytest.mark.few(4)
@pytest.mark.parametrize("encoding", SEVERAL_BYTES)
@given(data=st.lists(TEXTS, min_size=examples(8), max_size=examples(8)))
def test_any_bytes(encoding: str, data: list[bytes]) -> None:
    assert differences(encoding, data) == []


@pytest.mark.parametrize("encoding", ASCII_IS_ITSELF)
@given(data=st.lists(TEXTS, min_size=examples(4), max_size=examples(4)))
@pytest.mark.few(4)
def test_no_decoder_swallows_a_mark(encoding: str, data: list[bytes]) -> None:
    """Bytes of ASCII that are the second of no character stay, whatever is before them."""
    for text in data:
        for mark in b"<>\"'=/& \n":
            assert chr(mark) in decoded(text + bytes((mark,)), encoding)[-1:]


@pytest.mark.parametrize(
    ("encoding", "data", "text"),
    [
        ("shift_jis", b"\x81<a", "\ufffd<a"),
        ("shift_jis", b"a\x81", "a\ufffd"),
        ("gb18030", b"\x81\x30\x81<", "\ufffd0\ufffd<"),
        ("gb18030", b"\x81\x30\x81", "\ufffd"),
        ("big5", b"\x88b\x88\xa5", "\xca\u0304\xea\u030c"),
        ("big5", b"\xa2A\xa1\xfe\xa2B\xa2@a\xa2A", "∕／﹨＼a∕"),
        ("big5", b"\xa1\xa2A\xa1\xfe", "﹜A／"),
        ("euc-jp", b"~\x8f\xa2\xb7~", "~～~"),
        ("euc-jp", b"\x8fa\xad\xa1", "\ufffda①"),
        ("iso-2022-jp", b"\x1b(J\\~\x1b$B0!\x1b(B\\", "¥‾亜\\"),
        ("iso-2022-jp", b"\x1b(B\x1b(B", "\ufffd"),
        ("replacement", b"<a href=b>", "\ufffd"),
        ("replacement", b"", ""),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("koi8-u", b"\xae\xbe", "ўЎ"),
    ],
)
def test_by_hand(encoding: str, data: bytes, text: str) -> None:
    assert decoded(data, encoding) == text == decode(encoding, data)


@pytest.mark.parametrize("encoding", SEVERAL_BYTES)
def test_long_texts_of_errors(encoding: str) -> None:
    for part in (
        b"\x81",
        b"\xff<",
        b"\x81\x30",
        b"\x1b",
        b"\x1b$B!",
        b"\xa2A\xa1\xfe",
        b"\xd8\x00",
    ):
        assert decoded(part * 3000, encoding) == decode(encoding, part * 3000)
