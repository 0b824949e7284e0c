"""The `Sitemap:` lines of robots.txt: hop X, as they address robots and no reader sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 500 * 2**10  # bytes that robots read (RFC 9309)
_SITEMAP = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*([^ \t\n\v\f#]+)", re.IGNORECASE | re.MULTILINE)


def robots_references(text: str) -> Iterator[str]:
    return (match[1] for match in _SITEMAP.finditer(text.replace("\r", "\n")))
