"""The encoders of the Encoding Standard, step by step as its text has them."""

from __future__ import annotations

from collections.abc import Callable

from support.encoding.indexes import (
    SINGLE_BYTE,
    big5_pointers,
    index,
    pointers,
    range_pointer,
    shift_jis_pointers,
)

_BEFORE_2022 = {
    0xE78D: "A6D9", 0xE78E: "A6DA", 0xE78F: "A6DB", 0xE790: "A6DC", 0xE791: "A6DD",
    0xE792: "A6DE", 0xE793: "A6DF", 0xE794: "A6EC", 0xE795: "A6ED", 0xE796: "A6F3",
    0xE81E: "FE59", 0xE826: "FE61", 0xE82B: "FE66", 0xE82C: "FE67", 0xE832: "FE6D",
    0xE843: "FE7E", 0xE854: "FE90", 0xE864: "FEA0",
}  # fmt: skip


def _single_byte(name: str, code: int) -> bytes | None:
    pointer = pointers(name).get(code)
    return None if pointer is None else bytes([pointer + 0x80])


def _gb18030(code: int, *, is_gbk: bool) -> bytes | None:
    if code == 0xE5E5:
        return None
    if is_gbk and code == 0x20AC:
        return b"\x80"
    if code in _BEFORE_2022:
        return bytes.fromhex(_BEFORE_2022[code])
    if (pointer := pointers("gb18030").get(code)) is not None:
        trailing = pointer % 190
        return bytes([pointer // 190 + 0x81, trailing + (0x40 if trailing < 0x3F else 0x41)])
    if is_gbk:
        return None
    pointer = range_pointer(code)
    first, pointer = divmod(pointer, 12600)
    second, pointer = divmod(pointer, 1260)
    third, fourth = divmod(pointer, 10)
    return bytes([first + 0x81, second + 0x30, third + 0x81, fourth + 0x30])


def _big5(code: int) -> bytes | None:
    if (pointer := big5_pointers().get(code)) is None:
        return None
    trailing = pointer % 157
    return bytes([pointer // 157 + 0x81, trailing + (0x40 if trailing < 0x3F else 0x62)])


def _euc_kr(code: int) -> bytes | None:
    pointer = pointers("euc-kr").get(code)
    return None if pointer is None else bytes([pointer // 190 + 0x81, pointer % 190 + 0x41])


def _euc_jp(code: int) -> bytes | None:
    if code in (0xA5, 0x203E):
        return b"\x5c" if code == 0xA5 else b"\x7e"
    if 0xFF61 <= code <= 0xFF9F:
        return bytes([0x8E, code - 0xFF61 + 0xA1])
    pointer = pointers("jis0208").get(0xFF0D if code == 0x2212 else code)
    return None if pointer is None else bytes([pointer // 94 + 0xA1, pointer % 94 + 0xA1])


def _shift_jis(code: int) -> bytes | None:
    if code == 0x80:
        return b"\x80"
    if code in (0xA5, 0x203E):
        return b"\x5c" if code == 0xA5 else b"\x7e"
    if 0xFF61 <= code <= 0xFF9F:
        return bytes([code - 0xFF61 + 0xA1])
    pointer = shift_jis_pointers().get(0xFF0D if code == 0x2212 else code)
    if pointer is None:
        return None
    leading, trailing = divmod(pointer, 188)
    leading += 0x81 if leading < 0x1F else 0xC1
    return bytes([leading, trailing + (0x40 if trailing < 0x3F else 0x41)])


def _user_defined(code: int) -> bytes | None:
    return bytes([code - 0xF780 + 0x80]) if 0xF780 <= code <= 0xF7FF else None


_ENCODERS: dict[str, Callable[[int], bytes | None]] = {
    "gbk": lambda code: _gb18030(code, is_gbk=True),
    "gb18030": lambda code: _gb18030(code, is_gbk=False),
    "big5": _big5,
    "euc-kr": _euc_kr,
    "euc-jp": _euc_jp,
    "shift_jis": _shift_jis,
    "x-user-defined": _user_defined,
    "utf-8": lambda code: chr(code).encode(),
}


def encode(name: str, text: str, missing: Callable[[int], bytes]) -> bytes:
    """The text as the encoder of this name writes it; missing: what an error writes."""
    if name == "iso-2022-jp":
        return _iso_2022_jp(text, missing)
    written = b""
    for code in map(ord, text):
        if code < 0x80:
            written += bytes([code])
            continue
        raw = _single_byte(name, code) if name in SINGLE_BYTE else _ENCODERS[name](code)
        written += missing(code) if raw is None else raw
    return written


def _iso_2022_jp(text: str, missing: Callable[[int], bytes]) -> bytes:
    state, written = "ascii", b""
    queue = [*reversed(list(map(ord, text)))]
    while queue:
        code = queue.pop()
        if state != "jis0208" and code in (0x0E, 0x0F, 0x1B):
            written += missing(0xFFFD)
        elif state == "ascii" and code < 0x80:
            written += bytes([code])
        elif state == "roman" and (
            (code < 0x80 and code not in (0x5C, 0x7E)) or code in (0xA5, 0x203E)
        ):
            written += bytes([{0xA5: 0x5C, 0x203E: 0x7E}.get(code, code)])
        elif code < 0x80:
            queue.append(code)
            state, written = "ascii", written + b"\x1b\x28\x42"
        elif code in (0xA5, 0x203E):
            queue.append(code)
            state, written = "roman", written + b"\x1b\x28\x4a"
        else:
            state, written = _in_jis_0208(code, queue, state, written, missing)
    return written if state == "ascii" else written + b"\x1b\x28\x42"


def _in_jis_0208(
    code: int, queue: list[int], state: str, written: bytes, missing: Callable[[int], bytes]
) -> tuple[str, bytes]:
    if code == 0x2212:
        code = 0xFF0D
    if 0xFF61 <= code <= 0xFF9F:
        wide = index("iso-2022-jp-katakana")[code - 0xFF61]
        assert wide is not None
        code = wide
    pointer = pointers("jis0208").get(code)
    if pointer is None:
        if state == "jis0208":
            queue.append(code)
            return "ascii", written + b"\x1b\x28\x42"
        return state, written + missing(code)
    if state != "jis0208":
        queue.append(code)
        return "jis0208", written + b"\x1b\x24\x42"
    return state, written + bytes([pointer // 94 + 0x21, pointer % 94 + 0x21])
