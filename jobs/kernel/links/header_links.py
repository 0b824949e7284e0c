"""Links in the HTTP header: Location and Refresh (R), and Link by its relation, as in `link`.

Location counts where a browser or a client goes by it: status 3xx and 201.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.kernel.archive.record_headers import Fields, every, first
from jobs.kernel.links.link_rules import (
    names_canonical,
    refresh_target,
    relation_hop,
    robots_nofollow,
)

Reference = tuple[str, str, str]  # reference, hop, context

_QUOTED = r'"([^"\\]*(?:\\.[^"\\]*)*)"'
_LINK = re.compile(rf'<([^<>]*)>([^<,"]*(?:{_QUOTED}[^<,"]*)*)')
_PARAMETER = re.compile(rf';\s*([^\s;,="]+)\s*(?:=\s*(?:{_QUOTED}|([^\s;,"]+)))?|"[^"]*"')


def location(fields: Fields, status: int) -> Iterator[Reference]:
    target = first(fields, "location")
    if target and (300 <= status < 400 or status == 201):
        yield target, "R", "Location:"


def header_references(fields: Fields, *, canonical: bool = False) -> Iterator[Reference]:
    """What else a header links to; of a `Link` with an anchor another resource is the source.
    canonical: also the address that it names as canonical, hop C."""
    for reference, hop in refresh_target(first(fields, "refresh")):
        yield reference, hop, "Refresh:"
    for value in every(fields, "link"):
        for target, written, _ in _LINK.findall(value):
            parameters = _parameters(written)
            relations = parameters.get("rel", "")
            if not target.strip() or "anchor" in parameters:
                continue
            if hop := relation_hop(relations):
                yield target, hop, "Link:"
            if canonical and names_canonical(relations):
                yield target, "C", "Link:"


def _parameters(written: str) -> dict[str, str]:
    """By name in lower case; of several of a name the first counts."""
    parameters: dict[str, str] = {}
    for name, quoted, bare in _PARAMETER.findall(written):
        parameters.setdefault(name.lower(), quoted or bare)
    return parameters


def header_nofollow(fields: Fields) -> bool:
    return any(robots_nofollow(value) for value in every(fields, "x-robots-tag"))
