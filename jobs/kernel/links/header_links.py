"""Links in the HTTP header: Location and Refresh (R), and Link by its relation, like `<link>`.

Location counts with the status codes at which clients follow it: 3xx and 201.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crawlrank.jobs.kernel.archive.record_headers import Fields, every, first
from crawlrank.jobs.kernel.formats.rows import CANONICAL_HOP
from crawlrank.jobs.kernel.links.link_rules import (
    Reference,
    names_canonical,
    refresh_target,
    relation_hop,
)
from crawlrank.jobs.kernel.links.robots import robots_nofollow

_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_TARGET = re.compile("<([^<>]*)>")
_UNQUOTED, _QUOTED_TEXT = re.compile('[^<,"]*'), re.compile(_QUOTED)
_PARAMETER = re.compile(rf';\s*([^\s;,="]+)\s*(?:=\s*(?:{_QUOTED}|([^\s;,"]+)))?|"[^"]*"')


def location(fields: Fields, status: int) -> Iterator[Reference]:
    target = first(fields, "location")
    if target and (300 <= status < 400 or status == 201):
        yield target, "R", "Location:"


def header_references(fields: Fields, *, canonical: bool = False) -> Iterator[Reference]:
    """The links of a header but Location. A `Link` with an anchor is left out, as its source is
    another resource. canonical: also the address that it names as canonical."""
    for reference, hop in refresh_target(first(fields, "refresh")):
        yield reference, hop, "Refresh:"
    for value in every(fields, "link"):
        for target, written in link_values(value):
            parameters = _parameters(written)
            relations = parameters.get("rel", "")
            if not target.strip() or "anchor" in parameters:
                continue
            if hop := relation_hop(relations):
                yield target, hop, "Link:"
            if canonical and names_canonical(relations):
                yield target, CANONICAL_HOP, "Link:"


def link_values(value: str) -> Iterator[tuple[str, str]]:
    """Each target of a header `Link`, and its parameters as they are written (RFC 8288, 3).

    Linear: if one quote is not closed, none after it is, as all of those are escaped.
    """
    at, closed = 0, True
    while match := _TARGET.search(value, at):
        at = begin = match.end()
        while plain := _UNQUOTED.match(value, at):
            at = plain.end()
            quoted = _QUOTED_TEXT.match(value, at) if closed and value[at : at + 1] == '"' else None
            if quoted is None:
                closed = closed and value[at : at + 1] != '"'
                break
            at = quoted.end()
        yield match[1], value[begin:at]


def _parameters(written: str) -> dict[str, str]:
    """The parameters by name in lower case; the first of each name counts."""
    parameters: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(written):
        parameters.setdefault(name.lower(), quoted or bare)
    return parameters


def header_nofollow(fields: Fields) -> bool:
    return any(robots_nofollow(value, robots=True) for value in every(fields, "x-robots-tag"))
