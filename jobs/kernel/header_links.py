"""Links in the HTTP header: Location and Refresh (R), and Link by its relation, as in `link`.

Location counts where a browser or a client goes by it: status 3xx and 201.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jobs.kernel.link_rules import refresh_target, relation_hop, robots_nofollow
from jobs.kernel.record_headers import Fields, every, first

Reference = tuple[str, str, str]  # reference, hop, context

_LINK = re.compile(r'<([^<>]*)>([^<,"]*(?:"[^"]*"[^<,"]*)*)')
_RELATION = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)
_ANCHOR = re.compile(r";\s*anchor\s*=", re.IGNORECASE)


def location(fields: Fields, status: int) -> Iterator[Reference]:
    target = first(fields, "Location")
    if target and (300 <= status < 400 or status == 201):
        yield target, "R", "Location:"


def header_references(fields: Fields) -> Iterator[Reference]:
    """What else a header links to; of a `Link` with an anchor another resource is the source."""
    for reference, hop in refresh_target(first(fields, "Refresh")):
        yield reference, hop, "Refresh:"
    for value in every(fields, "Link"):
        for target, parameters in _LINK.findall(value):
            relation = _RELATION.search(parameters)
            hop = relation_hop((relation[1] or relation[2] or "") if relation else "")
            if hop and target.strip() and not _ANCHOR.search(parameters):
                yield target, hop, "Link:"


def header_nofollow(fields: Fields) -> bool:
    return any(robots_nofollow(value) for value in every(fields, "X-Robots-Tag"))
