"""The links of a style sheet: `url()` and `@import`, all of hop E; not comments, nor other strings.

The text is read once. Every alternative that begins to match also ends, at the end of the text at
the latest, so no beginning is tried twice and time is linear for any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawlrank.jobs.kernel.links.link_rules import BLANKS

_TOKEN = re.compile(
    r"/\*.*?(?:\*/|\Z)"
    r"|@namespace[^;{}]*"  # names a vocabulary, which is never loaded
    rf"|(?P<links>@import(?:[{BLANKS}]|/\*.*?\*/){{0,9}}[{BLANKS}]*|(?<![\w\-])url\([{BLANKS}]*)?(?P<quote>[\"'])"
    rf"|(?<![\w\-])url\([{BLANKS}]*(?P<bare>)",
    re.IGNORECASE | re.DOTALL,
).search
# The inside of a string, by its quote; a blank that follows an escape by number is part of it. An
# expression remembers every repetition, so it takes at most 99 escapes at once.
_AN_ESCAPE = rf"\\(?:[0-9A-Fa-f]{{1,6}}[{BLANKS}]?|.)"
_INSIDE = {
    quote: re.compile(rf"[^{stops}\\]*(?:{_AN_ESCAPE}[^{stops}\\]*){{0,99}}", re.DOTALL).match
    for quote, stops in {'"': '"\n', "'": "'\n", "": f"\"'(){BLANKS}"}.items()
}
_closed = re.compile(rf"[{BLANKS}]*(?:\)|\Z)").match
_LONGEST_ESCAPED = 2**20  # characters; a longer text is no URI, even if most of it is escapes
_ESCAPE = re.compile(rf"\\(?:([0-9A-Fa-f]{{1,6}})[{BLANKS}]?|(.))", re.DOTALL)


def may_hold_links(lower: bytes) -> bool:
    """Whether a text, given in lower case, may hold links; true for every text that does."""
    return b"url(" in lower or b"@import" in lower


def css_references(css: str) -> Iterator[str]:
    """The references in order, without those to a part of the page itself."""
    position = 0
    while token := _TOKEN(css, position):
        begin = position = token.end()
        if token["quote"] is None and token["bare"] is None:
            continue
        quote = token["quote"] or ""
        end = _end_inside(css, begin, quote)
        position = end + css.startswith((quote or "\\", "\\"), end)
        if quote and token["links"] is None:
            continue
        if not quote and not _closed(css, end):  # such a `url()` loads nothing
            position = css.find(")", end) + 1 or len(css)
            continue
        reference = css[begin:end].strip(BLANKS)
        if reference and not reference.startswith("#"):
            is_escaped = "\\" in reference and len(reference) <= _LONGEST_ESCAPED
            yield _ESCAPE.sub(_unescaped, reference) if is_escaped else reference


def _end_inside(css: str, position: int, quote: str) -> int:
    """The end of a string, or of a `url()` without quotes, that begins at position."""
    end = position
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
