"""What extraction counts of an archive, and what the counters say about it.

`records`, `records.KIND`, `bytes` (of records, inflated), `wat` (records that a WAT describes),
`captures`, `captures.KIND`, `captures.status.CODE` and `captures.type.MEDIA` (`-` unknown; `other`
see MAX_TYPES), `pages.DOCUMENT`, `metadata.used`, `metadata.unmatched` (its capture is not here),
`indexes` (1 for an index of captures), `links`, `links.HOP`, `links.from.SOURCE` (a document's
name, `header`, `metadata`), `flagged.nofollow` (with duplicates), `dropped.REASON`, `damage`,
`damage.REASON`, `skipped.pdf.REASON`. `dropped.unread.LIKE` are bodies that look like HTML, a feed
or other XML and are not read because of their type. The unread end of a document that is too long
is `dropped.DOCUMENT-tail`; a document in an encoding that no browser reads is `dropped.encoding`;
one with more links than max_links_per_page counts once as `dropped.over-limit`. Captures of other
methods than GET are `dropped.capture.method.METHOD`, and requests of these whose answer is not here
are `dropped.request.unmatched` (answers.py).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from crawlrank.jobs.kernel.archive.cdx import INDEX
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.sources import WET
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.native import of_python

CAPTURED = ("response", "resource", "revisit")
KINDS = (*CAPTURED, INDEX, "metadata", "request", "warcinfo", "conversion", "continuation")
_COUNTED = {kind: f"records.{kind}" for kind in KINDS}
TYPES = "captures.type."
INDEXES = "indexes"
MAX_TYPES = 100  # media types of an archive that are counted by name; they are open-ended input
OTHER_SCHEMES = frozenset({"dns", "ftp", "ftps", "screenshot", "thumbnail", "urn", "whois"})
_MEDIA_TYPE = re.compile(r"[a-z]{1,20}/[a-z0-9!#$&^_.+-]{1,80}").fullmatch


@of_python
class Counters(Counter[str]):
    """A Counter that takes less than half the time to count one more. As Counter has a method of
    its own to delete a key, Python looks up the other, which sets one, each time."""

    __setitem__ = dict.__setitem__
    __delitem__ = dict.__delitem__  # type: ignore[assignment]


def count_record(record: Record, counters: Counter[str]) -> None:
    counters["records"] += 1
    counters[_COUNTED.get(record.kind, "records.other")] += 1
    counters["bytes"] += record.size


def require_pages(
    archive: str,
    counters: Mapping[str, int],
    expected: str = "a WARC, ARC or WAT file",
    cure: str = WET.cure,
) -> None:
    """Raises BadInput for a WET file. counters: `records` and `records.KIND`, as of `extract`."""
    conversions = counters.get("records.conversion", 0)
    without_pages = conversions + counters.get("records.warcinfo", 0)
    if conversions and without_pages == counters.get("records") and not counters.get("wat"):
        raise BadInput(archive, WET.what, expected, cure)


def totals(counters: Counter[str]) -> dict[str, int]:
    """What is reported of an archive, in order: records, captures, pages, links, damage."""
    names = ("records", "captures", "pages.html", "metadata.used", "links", "damage")
    return {name: counters[name] for name in names}


def count_type(media_type: str, counters: Counter[str]) -> None:
    """Count a type by name, for the first MAX_TYPES media types; the others as `other`."""
    name = TYPES + media_type
    if name not in counters and media_type != "-":
        known = sum(counter.startswith(TYPES) for counter in counters)
        if known >= MAX_TYPES or not _MEDIA_TYPE(media_type):
            name = TYPES + "other"
    counters[name] += 1


def named_reason(reason: str, uri: str) -> str:
    """Why a record is no page's: the scheme, if archives often have it, or the reason as it is."""
    scheme = uri.partition(":")[0].strip().lower()
    return f"scheme.{scheme}" if scheme in OTHER_SCHEMES else reason
