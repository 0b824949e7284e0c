"""The decoders of the Encoding Standard, step by step as its text has them.

A decoder is fed one byte after another, and None for the end of the queue. It returns code points,
ERROR, CONTINUE or FINISHED; bytes that it restores go back to the queue.
"""

from __future__ import annotations

from collections.abc import Callable

from support.encoding.indexes import SINGLE_BYTE, code_point_of, range_code_point

ERROR, CONTINUE, FINISHED = "error", "continue", "finished"
Step = str | tuple[int, ...]
Restore = Callable[..., None]

_BIG5_PAIRS = {
    1133: (0xCA, 0x304), 1135: (0xCA, 0x30C), 1164: (0xEA, 0x304), 1166: (0xEA, 0x30C),
}  # fmt: skip


class _SingleByte:
    def __init__(self, name: str) -> None:
        self.name = name

    def step(self, byte: int | None, restore: Restore) -> Step:
        if byte is None:
            return FINISHED
        if byte < 0x80:
            return (byte,)
        found = code_point_of(self.name, byte - 0x80)
        return ERROR if found is None else (found,)


class _Gb18030:
    first = second = third = 0

    def step(self, byte: int | None, restore: Restore) -> Step:
        if byte is None:
            pending = self.first or self.second or self.third
            self.first = self.second = self.third = 0
            return ERROR if pending else FINISHED
        if self.third:
            return self._fourth(byte, restore)
        if self.second:
            if 0x81 <= byte <= 0xFE:
                self.third = byte
                return CONTINUE
            restore(self.second, byte)
            self.first = self.second = 0
            return ERROR
        if self.first:
            return self._second(byte, restore)
        if byte < 0x80:
            return (byte,)
        if byte == 0x80:
            return (0x20AC,)
        if byte <= 0xFE:
            self.first = byte
            return CONTINUE
        return ERROR

    def _fourth(self, byte: int, restore: Restore) -> Step:
        first, second, third = self.first, self.second, self.third
        self.first = self.second = self.third = 0
        if not 0x30 <= byte <= 0x39:
            restore(second, third, byte)
            return ERROR
        pointer = (first - 0x81) * 12600 + (second - 0x30) * 1260 + (third - 0x81) * 10
        found = range_code_point(pointer + byte - 0x30)
        return ERROR if found is None else (found,)

    def _second(self, byte: int, restore: Restore) -> Step:
        if 0x30 <= byte <= 0x39:
            self.second = byte
            return CONTINUE
        leading, self.first = self.first, 0
        found = None
        if 0x40 <= byte <= 0x7E or 0x80 <= byte <= 0xFE:
            offset = 0x40 if byte < 0x7F else 0x41
            found = code_point_of("gb18030", (leading - 0x81) * 190 + byte - offset)
        return _found_or_restored(found, byte, restore)


def _found_or_restored(found: int | None, byte: int, restore: Restore) -> Step:
    if found is not None:
        return (found,)
    if byte < 0x80:
        restore(byte)
    return ERROR


class _LeadAndTrail:
    """What Big5, EUC-KR and Shift_JIS have in common."""

    leading = 0

    def step(self, byte: int | None, restore: Restore) -> Step:
        leading, self.leading = self.leading, 0
        if byte is None:
            return ERROR if leading else FINISHED
        if leading:
            return self.pair(leading, byte, restore)
        return self.alone(byte)

    def pair(self, leading: int, byte: int, restore: Restore) -> Step:
        raise NotImplementedError

    def alone(self, byte: int) -> Step:
        if byte < 0x80:
            return (byte,)
        if 0x81 <= byte <= 0xFE:
            self.leading = byte
            return CONTINUE
        return ERROR


class _Big5(_LeadAndTrail):
    def pair(self, leading: int, byte: int, restore: Restore) -> Step:
        found = None
        if 0x40 <= byte <= 0x7E or 0xA1 <= byte <= 0xFE:
            pointer = (leading - 0x81) * 157 + byte - (0x40 if byte < 0x7F else 0x62)
            if pointer in _BIG5_PAIRS:
                return _BIG5_PAIRS[pointer]
            found = code_point_of("big5", pointer)
        return _found_or_restored(found, byte, restore)


class _EucKr(_LeadAndTrail):
    def pair(self, leading: int, byte: int, restore: Restore) -> Step:
        found = None
        if 0x41 <= byte <= 0xFE:
            found = code_point_of("euc-kr", (leading - 0x81) * 190 + byte - 0x41)
        return _found_or_restored(found, byte, restore)


class _ShiftJis(_LeadAndTrail):
    def pair(self, leading: int, byte: int, restore: Restore) -> Step:
        found = None
        if 0x40 <= byte <= 0x7E or 0x80 <= byte <= 0xFC:
            row = leading - (0x81 if leading < 0xA0 else 0xC1)
            pointer = row * 188 + byte - (0x40 if byte < 0x7F else 0x41)
            if 8836 <= pointer <= 10715:
                return (0xE000 - 8836 + pointer,)
            found = code_point_of("jis0208", pointer)
        return _found_or_restored(found, byte, restore)

    def alone(self, byte: int) -> Step:
        if byte <= 0x80:
            return (byte,)
        if 0xA1 <= byte <= 0xDF:
            return (0xFF61 - 0xA1 + byte,)
        if 0x81 <= byte <= 0x9F or 0xE0 <= byte <= 0xFC:
            self.leading = byte
            return CONTINUE
        return ERROR


class _EucJp:
    jis0212, leading = False, 0

    def step(self, byte: int | None, restore: Restore) -> Step:
        leading, self.leading = self.leading, 0
        if byte is None:
            return ERROR if leading else FINISHED
        if leading == 0x8E and 0xA1 <= byte <= 0xDF:
            return (0xFF61 - 0xA1 + byte,)
        if leading == 0x8F and 0xA1 <= byte <= 0xFE:
            self.jis0212, self.leading = True, byte
            return CONTINUE
        if leading:
            found = None
            if 0xA1 <= leading <= 0xFE and 0xA1 <= byte <= 0xFE:
                name = "jis0212" if self.jis0212 else "jis0208"
                found = code_point_of(name, (leading - 0xA1) * 94 + byte - 0xA1)
            self.jis0212 = False
            return _found_or_restored(found, byte, restore)
        if byte < 0x80:
            return (byte,)
        if byte in (0x8E, 0x8F) or 0xA1 <= byte <= 0xFE:
            self.leading = byte
            return CONTINUE
        return ERROR


class _Iso2022Jp:
    state = output_state = "ascii"
    leading, output = 0, False

    def step(self, byte: int | None, restore: Restore) -> Step:
        step: Step = getattr(self, "_" + self.state)(byte, restore)
        return step

    def _usual(self, byte: int | None) -> Step | None:
        """What the states of characters have in common."""
        if byte == 0x1B:
            self.state = "escape_start"
            return CONTINUE
        if byte is None:
            return FINISHED
        self.output = False
        return None

    def _ascii(self, byte: int | None, restore: Restore) -> Step:
        if (usual := self._usual(byte)) is not None:
            return usual
        assert byte is not None
        return (byte,) if byte < 0x80 and byte not in (0x0E, 0x0F) else ERROR

    def _roman(self, byte: int | None, restore: Restore) -> Step:
        step = self._ascii(byte, restore)
        return {(0x5C,): (0xA5,), (0x7E,): (0x203E,)}.get(step, step)  # type: ignore[call-overload]

    def _katakana(self, byte: int | None, restore: Restore) -> Step:
        if (usual := self._usual(byte)) is not None:
            return usual
        assert byte is not None
        return (0xFF61 - 0x21 + byte,) if 0x21 <= byte <= 0x5F else ERROR

    def _leading(self, byte: int | None, restore: Restore) -> Step:
        if (usual := self._usual(byte)) is not None:
            return usual
        assert byte is not None
        if 0x21 <= byte <= 0x7E:
            self.leading, self.state = byte, "trailing"
            return CONTINUE
        return ERROR

    def _trailing(self, byte: int | None, restore: Restore) -> Step:
        if byte == 0x1B:
            self.state = "escape_start"
            return ERROR
        self.state = "leading"
        if byte is None or not 0x21 <= byte <= 0x7E:
            return ERROR
        found = code_point_of("jis0208", (self.leading - 0x21) * 94 + byte - 0x21)
        return ERROR if found is None else (found,)

    def _escape_start(self, byte: int | None, restore: Restore) -> Step:
        if byte in (0x24, 0x28):
            self.leading, self.state = byte, "escape"
            return CONTINUE
        if byte is not None:
            restore(byte)
        self.output, self.state = False, self.output_state
        return ERROR

    def _escape(self, byte: int | None, restore: Restore) -> Step:
        leading, self.leading = self.leading, 0
        states = {
            (0x28, 0x42): "ascii", (0x28, 0x4A): "roman", (0x28, 0x49): "katakana",
            (0x24, 0x40): "leading", (0x24, 0x42): "leading",
        }  # fmt: skip
        if byte is not None and (state := states.get((leading, byte))):
            self.state = self.output_state = state
            output, self.output = self.output, True
            return ERROR if output else CONTINUE
        restore(*((leading,) if byte is None else (leading, byte)))
        self.output, self.state = False, self.output_state
        return ERROR


class _Replacement:
    returned = False

    def step(self, byte: int | None, restore: Restore) -> Step:
        if byte is None or self.returned:
            return FINISHED
        self.returned = True
        return ERROR


class _Utf16:
    byte: int | None = None
    surrogate: int | None = None

    def __init__(self, *, big: bool) -> None:
        self.big = big

    def step(self, byte: int | None, restore: Restore) -> Step:
        if byte is None:
            pending = self.byte is not None or self.surrogate is not None
            self.byte = self.surrogate = None
            return ERROR if pending else FINISHED
        if self.byte is None:
            self.byte = byte
            return CONTINUE
        unit = (self.byte << 8) + byte if self.big else (byte << 8) + self.byte
        self.byte = None
        if self.surrogate is not None:
            first, self.surrogate = self.surrogate, None
            if 0xDC00 <= unit <= 0xDFFF:
                return (0x10000 + ((first - 0xD800) << 10) + unit - 0xDC00,)
            restore(*((unit >> 8, unit & 0xFF) if self.big else (unit & 0xFF, unit >> 8)))
            return ERROR
        if 0xD800 <= unit <= 0xDBFF:
            self.surrogate = unit
            return CONTINUE
        return ERROR if 0xDC00 <= unit <= 0xDFFF else (unit,)


class _UserDefined:
    def step(self, byte: int | None, restore: Restore) -> Step:
        if byte is None:
            return FINISHED
        return (byte if byte < 0x80 else 0xF780 + byte - 0x80,)


class _Utf8:
    code_point = seen = needed = 0
    lower, upper = 0x80, 0xBF

    def step(self, byte: int | None, restore: Restore) -> Step:
        if byte is None:
            pending, self.needed = self.needed, 0
            return ERROR if pending else FINISHED
        if not self.needed:
            return self._first(byte)
        inside = self.lower <= byte <= self.upper
        self.lower, self.upper = 0x80, 0xBF
        if not inside:
            self.code_point = self.needed = self.seen = 0
            restore(byte)
            return ERROR
        self.code_point = self.code_point << 6 | byte & 0x3F
        self.seen += 1
        if self.seen != self.needed:
            return CONTINUE
        found = self.code_point
        self.code_point = self.needed = self.seen = 0
        return (found,)

    def _first(self, byte: int) -> Step:
        if byte < 0x80:
            return (byte,)
        if 0xC2 <= byte <= 0xDF:
            self.needed, self.code_point = 1, byte & 0x1F
        elif 0xE0 <= byte <= 0xEF:
            self.lower = 0xA0 if byte == 0xE0 else 0x80
            self.upper = 0x9F if byte == 0xED else 0xBF
            self.needed, self.code_point = 2, byte & 0xF
        elif 0xF0 <= byte <= 0xF4:
            self.lower = 0x90 if byte == 0xF0 else 0x80
            self.upper = 0x8F if byte == 0xF4 else 0xBF
            self.needed, self.code_point = 3, byte & 0x7
        else:
            return ERROR
        return CONTINUE


_DECODERS: dict[str, Callable[[], object]] = {
    "gbk": _Gb18030,
    "gb18030": _Gb18030,
    "big5": _Big5,
    "euc-jp": _EucJp,
    "iso-2022-jp": _Iso2022Jp,
    "shift_jis": _ShiftJis,
    "euc-kr": _EucKr,
    "replacement": _Replacement,
    "utf-16be": lambda: _Utf16(big=True),
    "utf-16le": lambda: _Utf16(big=False),
    "x-user-defined": _UserDefined,
    "utf-8": _Utf8,
}


def decode(name: str, data: bytes) -> str:
    """`data` as the decoder of this name reads it, in the error mode `replacement`."""
    decoder = _SingleByte(name) if name in SINGLE_BYTE else _DECODERS[name]()
    queue = list(reversed(data))
    written: list[str] = []

    def restore(*values: int) -> None:
        queue.extend(reversed(values))

    while True:
        step = decoder.step(queue.pop() if queue else None, restore)  # type: ignore[union-attr]
        if step == FINISHED:
            return "".join(written)
        if step == ERROR:
            written.append("\ufffd")
        elif step != CONTINUE:
            written += map(chr, step)  # type: ignore[arg-type]
