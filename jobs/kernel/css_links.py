"""The links of a style sheet: `url()` and `@import`, all E; comments and other strings are none.

One expression goes over the text once. Each alternative that begins matches, to the end of the
text if need be, so no beginning is tried twice and time is linear whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_STRING = (
    r"[\"](?P<{0}1>[^\"\\\n]*(?:\\.[^\"\\\n]*)*)[\"\\]?"
    r"|['](?P<{0}2>[^'\\\n]*(?:\\.[^'\\\n]*)*)['\\]?"
)
_IN_IMPORT, _IN_URL, _ELSEWHERE = map(_STRING.format, ("import", "quoted", "other"))
_TOKEN = re.compile(
    r"/\*.*?(?:\*/|\Z)"
    r"|@namespace[^;{}]*"  # a name of a vocabulary, never loaded
    rf"|@import\s*(?:{_IN_IMPORT})"
    rf"|(?<![\w\-])url\(\s*(?:{_IN_URL}"
    r"|(?P<bare>[^\"'()\\\s]*(?:\\.[^\"'()\\\s]*)*))"
    rf"|{_ELSEWHERE}",
    re.IGNORECASE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})\s?|(.))", re.DOTALL)
_GROUPS = ("import1", "import2", "quoted1", "quoted2", "bare")


def may_hold_links(lower: bytes) -> bool:
    """Whether it is worth looking, told from the text in lower case: true of all that has links."""
    return b"url(" in lower or b"@import" in lower


def css_references(css: str) -> Iterator[str]:
    """The references in the order of the sheet; none to a part of the page itself."""
    for token in _TOKEN.finditer(css):
        reference = next((text for group in _GROUPS if (text := token[group])), "").strip()
        if reference and not reference.startswith("#"):
            yield _ESCAPE.sub(_unescaped, reference) if "\\" in reference else reference


def _unescaped(match: re.Match[str]) -> str:
    if not match[1]:
        return "" if match[2] in "\n\r\f" else match[2]
    code = int(match[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
