"""Links in the HTTP header: Location and Refresh (R), and Link by its relation, as in `link`.

Location counts where a browser or a client goes by it: status 3xx and 201.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.kernel.link_rules import (
    names_canonical,
    refresh_target,
    relation_hop,
    robots_nofollow,
)
from jobs.kernel.record_headers import Fields, every, first

Reference = tuple[str, str, str]  # reference, hop, context

_LINK = re.compile(r'<([^<>]*)>([^<,"]*(?:"[^"]*"[^<,"]*)*)')
_RELATION = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)
_ANCHOR = re.compile(r";\s*anchor\s*=", re.IGNORECASE)


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
        for target, parameters in _LINK.findall(value):
            relation = _RELATION.search(parameters)
            relations = (relation[1] or relation[2] or "") if relation else ""
            if not target.strip() or _ANCHOR.search(parameters):
                continue
            if hop := relation_hop(relations):
                yield target, hop, "Link:"
            if canonical and names_canonical(relations):
                yield target, "C", "Link:"


def header_nofollow(fields: Fields) -> bool:
    return any(robots_nofollow(value) for value in every(fields, "x-robots-tag"))
