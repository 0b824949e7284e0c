"""The encoders of the Encoding Standard: what a browser sends from a page in some encoding."""

from __future__ import annotations

import re
from functools import cache
from unicodedata import normalize

from crawlrank.jobs.kernel.encodings.decoding import (
    REPLACEMENT,
    UTF_16,
    decoded,
    iso_2022_jp_encoded,
    table_of,
)
from crawlrank.jobs.kernel.encodings.tables import GB18030

AS_REFERENCE = b"&#%d;"
_BEYOND_ASCII = re.compile(r"([^\x00-\x7f]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_JAPANESE = ("euc-jp", "shift_jis")
_TWO_BYTES = (*_JAPANESE, "gbk", "gb18030", "big5", "euc-kr")
_NO_BYTES = "\ue5e5"  # of GB18030: the standard has a space where the Chinese one has this
_UNUSED_LEADS = {  # extensions that are read, but not written
    "big5": range(0x81, 0xA1),
    "shift_jis": (0xED, 0xEE, *range(0xF0, 0xFA)),
}
_LAST_OF_BIG5 = frozenset("═╞╡╪十卅")  # those written by the last of their sequences


def encoded(text: str, encoding: str, missing: bytes = AS_REFERENCE) -> bytes:
    """The bytes of a text. missing: what stands for a character that the encoding lacks, with `%d`
    for its code point."""
    text = _SURROGATE.sub(REPLACEMENT, text)
    if encoding in ("utf-8", "replacement", *UTF_16):
        return text.encode("utf-8" if encoding == "replacement" else encoding)
    if encoding == "iso-2022-jp":
        return iso_2022_jp_encoded(text, _bytes_of("iso-2022-jp"), missing)
    parts = _BEYOND_ASCII.split(text)  # what is beyond ASCII is at every other place
    return b"".join(
        b"".join(_character(character, encoding, missing) for character in part)
        if number % 2
        else part.encode()
        for number, part in enumerate(parts)
    )


def _character(character: str, encoding: str, missing: bytes) -> bytes:
    known = _bytes_of(encoding).get(character)
    if known is None and encoding == "gb18030" and character != _NO_BYTES:
        return character.encode("gb18030")
    return missing % ord(character) if known is None else known


@cache
def _bytes_of(encoding: str) -> dict[str, bytes]:
    """The bytes of the characters beyond ASCII, but for four bytes of GB18030."""
    if encoding == "iso-2022-jp":
        return _of_iso_2022_jp()
    known: dict[str, bytes] = {}
    for character, sequence in _sequences(encoding):
        if encoding == "big5" and character in _LAST_OF_BIG5:
            known[character] = sequence
        known.setdefault(character, sequence)
    if encoding in _JAPANESE:
        known |= {"\xa5": b"\\", "\u203e": b"~", "\u2212": known["\uff0d"]}
    if encoding in ("gbk", "gb18030"):
        known |= _private_use()
    if encoding == "gb18030":
        known |= {"\u20ac": b"\xa2\xe3", "\ue7c7": b"\x81\x35\xf4\x37"}
    return known


def _sequences(encoding: str) -> list[tuple[str, bytes]]:
    """All single characters beyond ASCII of one or two bytes, in the order of the standard."""
    singles = [bytes((byte,)) for byte in range(0x80, 0x100)]
    pairs = [
        bytes((lead, trail))
        for lead in (range(0x81, 0xFF) if encoding in _TWO_BYTES else ())
        if lead not in _UNUSED_LEADS.get(encoding, ())
        for trail in range(0x40, 0xFF)
    ]
    characters = decoded(b"\n".join(singles + pairs), encoding).split("\n")
    return [
        (character, sequence)
        for character, sequence in zip(characters, singles + pairs, strict=True)
        if len(character) == 1 and character != REPLACEMENT
    ]


def _private_use() -> dict[str, bytes]:
    """Characters that had these bytes before GB18030-2022 gave them to others."""
    return {pair.decode("gb18030"): pair for pair in table_of(GB18030) if pair[0] in b"\xa6\xfe"}


def _of_iso_2022_jp() -> dict[str, bytes]:
    """The pairs of EUC-JP, and wide katakana for those of half width."""
    euc_jp = _bytes_of("euc-jp")
    pairs = {
        character: sequence
        for character, sequence in euc_jp.items()
        if len(sequence) == 2 and sequence[0] != 0x8E
    }
    narrow = map(chr, range(0xFF61, 0xFFA0))
    return pairs | {character: pairs[_wide(character)] for character in narrow}


def _wide(katakana: str) -> str:
    return {"\uff9e": "\u309b", "\uff9f": "\u309c"}.get(katakana) or normalize("NFKC", katakana)
