"""The links of a style sheet: `url()` and `@import`, all E; comments and other strings are none.

The text is gone over once. Each alternative that begins matches, to the end of the text if need be,
so no beginning is tried twice and time is linear whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"/\*.*?(?:\*/|\Z)"
    r"|@namespace[^;{}]*"  # a name of a vocabulary, never loaded
    r"|(?P<links>@import\s*|(?<![\w\-])url\(\s*)?(?P<quote>[\"'])"
    r"|(?<![\w\-])url\(\s*(?P<bare>)",
    re.IGNORECASE | re.DOTALL,
).search
# By its quote, what is in a string. Of more escapes than that an expression would keep too much, so
# they are gone over by so many.
_INSIDE = {
    quote: re.compile(rf"[^{stops}\\]*(?:\\.[^{stops}\\]*){{0,99}}", re.DOTALL).match
    for quote, stops in {'"': '"\n', "'": "'\n", "": "\"'()\\s"}.items()
}
_LONGEST_ESCAPED = 2**20  # characters; what is longer is no URI, however many of them are escapes
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})\s?|(.))", re.DOTALL)


def may_hold_links(lower: bytes) -> bool:
    """Whether it is worth looking, told from the text in lower case: true of all that has links."""
    return b"url(" in lower or b"@import" in lower


def css_references(css: str) -> Iterator[str]:
    """The references in the order of the sheet; none to a part of the page itself."""
    place = 0
    while token := _TOKEN(css, place):
        begin = place = token.end()
        if token["quote"] is None and token["bare"] is None:
            continue
        quote = token["quote"] or ""
        end = _end_inside(css, begin, quote)
        place = end + css.startswith((quote or "\\", "\\"), end)
        if quote and token["links"] is None:
            continue
        reference = css[begin:end].strip()
        if reference and not reference.startswith("#"):
            is_escaped = "\\" in reference and len(reference) <= _LONGEST_ESCAPED
            yield _ESCAPE.sub(_unescaped, reference) if is_escaped else reference


def _end_inside(css: str, place: int, quote: str) -> int:
    """Of a string, or of a `url()` without quotes, that begins at place."""
    end = place
    while True:
        match = _INSIDE[quote](css, end)
        if match is None or match.end() == end or not css.startswith("\\", match.end()):
            return match.end() if match else end
        end = match.end()


def _unescaped(match: re.Match[str]) -> str:
    if not match[1]:
        return "" if match[2] in "\n\r\f" else match[2]
    code = int(match[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
