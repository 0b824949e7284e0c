"""The media type of a message, from its header as the Fetch standard says ("extract a MIME type").

Each value may be a list. What is no media type counts for nothing, nor does `*/*`. The last of the
others wins; a charset is kept where a later value has the same type and none. Like Chromium, a type
ends at the first blank, so `text/html charset=x` is `text/html`, without a charset.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from crawlrank.jobs.kernel.archive.record_headers import Fields, every, first

LONGEST_TYPE = 1024  # characters of a value that are read
_NAME = "content-type"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# One type and at most a charset, which need no reading.
_usual = re.compile(rf"{_TOKEN}/{_TOKEN}(?:; ?charset=[\w.:-]+)?", re.IGNORECASE).fullmatch
_QUOTED = r'"(?:[^"\\]|\\.)*(?:"|\Z)'
_one_of_list = re.compile(rf'(?:[^",]|{_QUOTED})+', re.DOTALL)
_type_of = re.compile(rf"[ \t\r\n]*({_TOKEN}/{_TOKEN})(?=[ \t\r\n;(]|\Z)").match
_parameter = re.compile(rf';[ \t\r\n]*({_TOKEN})=({_QUOTED}|[^;"]*)|{_QUOTED}|[^;"]+|;', re.DOTALL)
_WORD = re.compile(r"[^;,=\s]*")


class MediaType(NamedTuple):
    """essence: in lower case. charset: its label, or ''."""

    essence: str
    charset: str


def content_type(fields: Fields) -> str:
    """That of an HTTP header: `text/html` or `text/html;charset=x`. Where no value is a media type,
    the first word of the first one, which names none."""
    value = first(fields, _NAME)
    if _usual(value) and value != "*/*" and len(every(fields, _NAME)) == 1:
        return value[:LONGEST_TYPE]
    return media_type(every(fields, _NAME))


@lru_cache(1000)  # a crawl has few different ones
def media_type(values: tuple[str, ...]) -> str:
    """As `content_type`, of the values of its fields."""
    chosen = MediaType("", "")
    for one in _listed(values):
        if one.essence == chosen.essence and not one.charset:
            continue
        chosen = one
    if not chosen.essence:
        match = _WORD.match(values[0].strip()) if values else None
        return match[0][:LONGEST_TYPE] if match else ""
    return f"{chosen.essence};charset={chosen.charset}" if chosen.charset else chosen.essence


def _listed(values: tuple[str, ...]) -> Iterator[MediaType]:
    for value in values:
        for one in _one_of_list.findall(value[:LONGEST_TYPE]):
            if (match := _type_of(one)) and match[1] != "*/*":
                yield MediaType(match[1].lower(), _charset(one[match.end() :]))


def _charset(parameters: str) -> str:
    """The first that is not empty."""
    for name, value in _parameter.findall(parameters):
        label = re.sub(r"\\(.)", r"\1", value[1:].removesuffix('"')) if value[:1] == '"' else value
        if name.lower() == "charset" and label.strip():
            return label.strip()
    return ""
