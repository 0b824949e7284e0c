"""Character references in the value of an attribute, as the tokenizer of the HTML standard reads
them: one without a semicolon is text where a letter, a digit or `=` follows."""

from __future__ import annotations

import re

_REFERENCE = re.compile(
    r"&(?:#(?:([0-9]+)|[xX]([0-9A-Fa-f]+));?|([A-Za-z][A-Za-z0-9]*)(;|=|))", re.ASCII
)
_USUAL = {"amp": "&", "lt": "<", "gt": ">", "quot": '"'}
_REPLACEMENT = "\ufffd"
_MOST_DIGITS = 8
_LAST = 0x10FFFF


def unescaped(value: str) -> str:
    """The value with characters in place of references."""
    return _REFERENCE.sub(_character, value)


def _character(match: re.Match[str]) -> str:
    decimal, hexadecimal, name, end = match.groups()
    if name is None:
        digits = (decimal or hexadecimal).lstrip("0")
        if len(digits) > _MOST_DIGITS:
            return _REPLACEMENT
        return _of_code(int(digits or "0", 10 if decimal else 16))
    if end == "=":
        return match[0]
    known = _USUAL.get(name) or _named(name + end)
    return match[0] if known is None else known


def _named(name: str) -> str | None:
    from html.entities import html5  # a table of 2,231 names, which few pages need

    return html5.get(name)


def _of_code(code: int) -> str:
    if 0x80 <= code < 0xA0:  # as windows-1252 has them, but for five that it leaves out
        return bytes((code,)).decode("cp1252", "ignore") or chr(code)
    if code == 0 or code > _LAST or 0xD800 <= code < 0xE000:
        return _REPLACEMENT
    return chr(code)
