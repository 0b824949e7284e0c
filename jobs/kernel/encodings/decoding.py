"""The decoders of the Encoding Standard, on top of Python's codecs.

Python's codecs are fast, but they lack some sequences of bytes, read a few otherwise, and take
other bytes for an error than the standard. What a codec refuses, its error handler here decodes.
What it reads otherwise is replaced in its text. All errors become U+FFFD. A byte of ASCII is never
part of an error, except in ISO-2022-JP and UTF-16: so no lead byte hides a `<`.

Escape sequences of ISO-2022-JP switch between ASCII, Roman, katakana and JIS X 0208.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from functools import cache, partial

from crawlrank.jobs.kernel.encodings.tables import BIG5, GB18030, LABELS

_ENCODINGS = {label: name for name, labels in LABELS.items() for label in labels.split()}
UTF_16 = ("utf-16be", "utf-16le")
REPLACED = "replacement"  # of pages that may hide markup: a decoder reads nothing of them


def encoding_of(label: str) -> str:
    """The encoding with this label, by its name in lower case; '' if there is none."""
    label = label.strip("\t\n\f\r ")
    return _ENCODINGS.get(label.lower(), "") if label.isascii() else ""


def output_encoding(encoding: str) -> str:
    """The encoding of what a browser sends from a page in this one."""
    return "utf-8" if encoding in (*UTF_16, REPLACED) else encoding


_SHIFTS = "\x0e\x0f\x1b"  # which no text may bring into the bytes
_ASCII, _ROMAN, _KATAKANA, _JIS_0208 = b"\x1b(B", b"\x1b(J", b"\x1b(I", b"\x1b$B"
_ESCAPES = re.compile(rb"(\x1b(?:\([BIJ]|\$[@B])?)")
_GRAPHIC = re.compile(rb"[!-~]*").fullmatch
_RUNS = re.compile(rb"([!-~]*)([^!-~]*)").findall
# Text is made EUC-JP, in which this byte is an error. Two bytes stand for characters of Roman.
_ERROR = b"\xff"
_YEN, _OVERLINE = b"\x0e", b"\x0f"
_IN_EUC_JP = bytes(byte | 0x80 for byte in range(0x80)) + bytes(range(0x80, 0x100))
_ascii = bytes(range(0x80)).replace(b"\x0e\x0f", _ERROR * 2) + _ERROR * 0x80
_katakana = [bytes((0x8E, byte | 0x80)) if 0x21 <= byte < 0x60 else _ERROR for byte in range(256)]


def iso_2022_jp_decoded(data: bytes, euc_jp: Callable[[bytes], str]) -> str:
    """The text of the bytes; euc_jp: decodes them as EUC-JP. Of two escape sequences with nothing
    between, the second is an error."""
    text, *others = _ESCAPES.split(data)
    state, follows_escape = _ASCII, False
    written = [_in_euc_jp(text, state)]
    for escape, text in zip(others[::2], others[1::2], strict=True):
        is_known = len(escape) > 1
        if follows_escape or not is_known:
            written.append(_ERROR)
        if is_known:
            state = escape
        follows_escape = is_known and not text
        written.append(_in_euc_jp(text, state))
    decoded = euc_jp(b"".join(written))
    return decoded.replace(_YEN.decode(), "\xa5").replace(_OVERLINE.decode(), "\u203e")


def _in_euc_jp(text: bytes, state: bytes) -> bytes:
    if state == _ASCII:
        return text.translate(_ascii)
    if state == _ROMAN:
        return text.translate(_ascii).replace(b"\\", _YEN).replace(b"~", _OVERLINE)
    if state == _KATAKANA:
        return b"".join(_katakana[byte] for byte in text)
    if len(text) % 2 == 0 and _GRAPHIC(text):
        return text.translate(_IN_EUC_JP)
    written = list[bytes]()
    for graphic, other in _RUNS(text):
        single = len(graphic) % 2  # it takes the next byte with it, whatever that is
        written.append(graphic[: len(graphic) - single].translate(_IN_EUC_JP))
        written.append(_ERROR * max(single, len(other)))
    return b"".join(written)


def iso_2022_jp_encoded(text: str, pairs: Mapping[str, bytes], missing: bytes) -> bytes:
    """The bytes of a text; pairs: of JIS X 0208, as in EUC-JP. missing: as in `encoded`."""
    written, state = list[bytes](), _ASCII
    for character in text:
        needed, raw = _in_state(character, state, pairs)
        if needed != state:
            written.append(needed)
            state = needed
        written.append(raw or missing % (0xFFFD if character in _SHIFTS else ord(character)))
    return b"".join(written) + (b"" if state == _ASCII else _ASCII)


def _in_state(character: str, state: bytes, pairs: Mapping[str, bytes]) -> tuple[bytes, bytes]:
    """The escape sequence of the state that a character needs, and its bytes in it; no bytes if it
    has none."""
    if character in "\xa5\u203e":
        return _ROMAN, b"\\" if character == "\xa5" else b"~"
    if pair := pairs.get(character):
        return _JIS_0208, bytes(byte & 0x7F for byte in pair)
    stays = state == _ROMAN and character not in "\\~"
    is_written = character.isascii() and character not in _SHIFTS
    return state if stays else _ASCII, character.encode() if is_written else b""


Decoder = Callable[[bytes], str]
Correction = tuple[str, int]  # what to write, and where to read on

REPLACEMENT = "\ufffd"
ASCII = range(0x80)
_LEADS = range(0x81, 0xFF)
_EUC = range(0xA1, 0xFF)
_DIGITS = range(0x30, 0x3A)

_PYTHON = {"ibm866": "cp866", "macintosh": "mac-roman", "x-mac-cyrillic": "mac-cyrillic",
           "windows-874": "cp874", "iso-8859-8-i": "iso-8859-8"}  # fmt: skip
_SINGLE_BYTES = {  # that Python's codecs have otherwise
    "koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
    "x-user-defined": {byte: chr(0xF780 + byte - 0x80) for byte in range(0x80, 0x100)},
}


def decoded(data: bytes, encoding: str) -> str:
    """The text; bytes that are none become U+FFFD. A byte order mark stays."""
    return decoder_of(encoding)(data)


@cache
def decoder_of(encoding: str) -> Decoder:
    """`decoded` for an encoding by its name in lower case."""
    if encoding in _DECODERS:
        return _DECODERS[encoding]
    return partial(_by_table, table=_single_bytes(encoding))


def table_of(text: str) -> dict[bytes, str]:
    """The characters of a table (tables.py) by sequence of bytes."""
    return {bytes.fromhex(entry[:4]): entry[4:] for entry in text.split(" ") if entry}


_BIG5, _GB18030 = table_of(BIG5), table_of(GB18030)


def _by_table(data: bytes, table: str) -> str:
    return codecs.charmap_decode(data, "replace", table)[0]


def _single_bytes(encoding: str) -> str:
    """What each byte stands for. Bytes from 0x80 to 0x9F are controls where a code page has nothing
    else."""
    python = "latin-1" if encoding == "x-user-defined" else _PYTHON.get(encoding, encoding)
    characters = [bytes((byte,)).decode(python, "replace") for byte in range(0x100)]
    for byte in range(0x80, 0xA0):
        if characters[byte] == REPLACEMENT:
            characters[byte] = chr(byte)
    for byte, character in _SINGLE_BYTES.get(encoding, {}).items():
        characters[byte] = character
    return "".join(characters)


def _pair(data: bytes, start: int, character: str | None = None) -> Correction:
    """A lead byte and what follows: one character or an error, of which ASCII is no part."""
    end = start + 2
    if character:
        return character, end
    is_single = end > len(data) or data[start + 1] in ASCII
    return REPLACEMENT, start + 1 if is_single else end


def _shift_jis(data: bytes, start: int) -> Correction:
    return _pair(data, start)


def _euc_kr(data: bytes, start: int) -> Correction:
    return _pair(data, start) if data[start] in _LEADS else (REPLACEMENT, start + 1)


def _big5(data: bytes, start: int) -> Correction:
    if data[start] not in _LEADS:
        return REPLACEMENT, start + 1
    return _pair(data, start, _BIG5.get(data[start : start + 2]))


def _euc_jp(data: bytes, start: int) -> Correction:
    lead, *following = data[start : start + 3]
    if lead not in (0x8E, 0x8F) and lead not in _EUC:
        return REPLACEMENT, start + 1
    if lead != 0x8F or not following or following[0] not in _EUC:
        return _pair(data, start, _jis_0208(lead, following[0]) if following else None)
    return _pair(data, start + 1)  # JIS X 0212


def _jis_0208(lead: int, trail: int) -> str | None:
    """The character of a pair in EUC-JP, as Shift_JIS has it: NEC's and IBM's, too."""
    if lead not in _EUC or trail not in _EUC:
        return None
    row, cell = divmod((lead - 0xA1) * 94 + trail - 0xA1, 188)
    pair = bytes((row + (0x81 if row < 0x1F else 0xC1), cell + (0x40 if cell < 0x3F else 0x41)))
    return _by_python_strictly(pair, "cp932")


def _gb18030(data: bytes, start: int) -> Correction:
    """Python's codec `gbk` has the usual characters of GB18030 as the standard has them."""
    lead, trail = data[start], data[start + 1 : start + 2]
    if lead not in _LEADS:
        return "\u20ac" if lead == 0x80 else REPLACEMENT, start + 1
    if trail and trail[0] in _DIGITS:
        return _four_bytes(data[start : start + 4], start)
    pair = data[start : start + 2]
    return _pair(data, start, _GB18030.get(pair) or _by_python_strictly(pair, "gb18030"))


def _by_python_strictly(sequence: bytes, codec: str) -> str | None:
    try:
        return sequence.decode(codec)
    except UnicodeDecodeError:
        return None


def _four_bytes(sequence: bytes, start: int) -> Correction:
    if not re.match(rb"..(?:[\x81-\xfe](?:[0-9]|\Z)|\Z)", sequence, re.DOTALL):
        return REPLACEMENT, start + 1
    if sequence == b"\x81\x35\xf4\x37":
        return "\ue7c7", start + 4
    return _by_python_strictly(sequence, "gb18030") or REPLACEMENT, start + len(sequence)


_REFUSED = {
    "shift_jis": _shift_jis,
    "euc-kr": _euc_kr,
    "big5": _big5,
    "euc-jp": _euc_jp,
    "gb18030": _gb18030,
}
_HANDLER = "crawlrank-"  # the names of error handlers are those of a whole process
for _encoding, _refused in _REFUSED.items():

    def _corrected(
        error: UnicodeError, refused: Callable[[bytes, int], Correction] = _refused
    ) -> Correction:
        assert isinstance(error, UnicodeDecodeError)
        return refused(error.object, error.start)

    codecs.register_error(_HANDLER + _encoding, _corrected)
_OTHERWISE = {  # characters of Python's codecs, and those of the standard
    "shift_jis": tuple(zip("\uf8f0\uf8f1\uf8f2\uf8f3", REPLACEMENT * 4, strict=True)),
    "euc-jp": tuple(zip("〜‖−¢£¬", "～∥－￠￡￢", strict=True)),
    "big5": tuple(zip("•､‾∼♁☉¥¢£", "‧﹑¯～⊕⊙￥￠￡", strict=True)),
}


def _by_codec(data: bytes, codec: str, encoding: str) -> str:
    text = data.decode(codec, _HANDLER + encoding)
    for character, right in _OTHERWISE.get(encoding, ()):
        if character in text:
            text = text.replace(character, right)
    return text


_eucjp_decoded = partial(_by_codec, codec="euc_jp", encoding="euc-jp")
_big5_decoded = partial(_by_codec, codec="big5hkscs", encoding="big5")
# Where a character begins: a lead byte takes the next one, or that one is ASCII and stands alone.
_BIG5_CHARACTERS = re.compile(rb"\xa2[AB]|[\x81-\xfe].?", re.DOTALL).finditer


def _euc_jp_text(data: bytes) -> str:
    """Python's codec reads the tilde of JIS X 0212 as that of ASCII."""
    if b"\x8f\xa2\xb7" not in data:
        return _eucjp_decoded(data)
    return "~".join(_eucjp_decoded(part).replace("~", "～") for part in data.split(b"~"))


def _big5_text(data: bytes) -> str:
    """Python's codec reads A2 41 and A2 42 as the slashes that A1 FE and A2 40 stand for."""
    text = _big5_decoded(data)
    if ("／" in text or "＼" in text) and (b"\xa2A" in data or b"\xa2B" in data):
        parts, end = list[str](), 0
        for match in _BIG5_CHARACTERS(data):
            if (pair := match[0]) in (b"\xa2A", b"\xa2B"):
                parts += _big5_decoded(data[end : match.start()]), _BIG5[pair]
                end = match.end()
        text = "".join(parts) + _big5_decoded(data[end:])
    return text


def _replaced(data: bytes) -> str:
    return REPLACEMENT if data else ""


def _utf_8(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _utf_16(data: bytes, codec: str) -> str:
    return data.decode(codec, "replace")


_gb18030_text = partial(_by_codec, codec="gbk", encoding="gb18030")
_DECODERS: dict[str, Decoder] = {
    "utf-8": _utf_8,
    **{name: partial(_utf_16, codec=name) for name in UTF_16},
    "gbk": _gb18030_text,
    "gb18030": _gb18030_text,
    "big5": _big5_text,
    "euc-jp": _euc_jp_text,
    "iso-2022-jp": partial(iso_2022_jp_decoded, euc_jp=_eucjp_decoded),
    "shift_jis": partial(_by_codec, codec="cp932", encoding="shift_jis"),
    "euc-kr": partial(_by_codec, codec="cp949", encoding="euc-kr"),
    "replacement": _replaced,
}
