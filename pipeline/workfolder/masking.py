"""URLs as they may be kept and shown: without passwords, and without queries, which have keys."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "***"
_USER = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s]*@")
_QUERY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(://[^?#\s]*)([?#])([^\s'\",]*)")
GLOBS = ("s3", "hdfs", "file")  # where `?` stands for a character of a name


def masked(text: str) -> str:
    """The text with credentials, queries and fragments of its URLs as `***`."""
    return _QUERY.sub(_without_query, _USER.sub(rf"\1{MASK}@", text))


def _without_query(match: re.Match[str]) -> str:
    scheme, before, sign, rest = match.groups()
    if not rest or (scheme.lower() in GLOBS and "=" not in rest):
        return match[0]
    return f"{scheme}{before}{sign}{MASK}"


def masked_all(words: Iterable[str]) -> list[str]:
    return [masked(word) for word in words]
