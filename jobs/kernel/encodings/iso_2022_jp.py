"""ISO-2022-JP, whose escape sequences switch between ASCII, Roman, katakana and JIS X 0208."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

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
