"""What is counted of an archive by extraction, and what the counters tell of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from jobs.kernel.errors import BadInput

TYPES = "captures.type."
MAX_TYPES = 100  # media types of an archive that are counted by name; they are open-ended input
OTHER_SCHEMES = frozenset({"dns", "ftp", "ftps", "screenshot", "thumbnail", "urn", "whois"})
_MEDIA_TYPE = re.compile(r"[a-z]{1,20}/[a-z0-9!#$&^_.+-]{1,80}").fullmatch


def require_pages(archive: str, counters: Mapping[str, int]) -> None:
    """Raises BadInput for an archive that cannot have links, by what `extract` counted of it."""
    conversions = counters.get("records.conversion", 0)
    without_pages = conversions + counters.get("records.warcinfo", 0)
    if conversions and without_pages == counters.get("records") and not counters.get("wat"):
        raise BadInput(
            archive,
            f"a WET file: {conversions:,} records with the text of pages, and no links",
            "a WARC, ARC or WAT file",
            "Give the WARC or the WAT of the same pages.",
        )


def totals(counters: Counter[str]) -> dict[str, int]:
    """What a report on one archive says, in order: records, captures, pages, links, damage."""
    names = ("records", "captures", "pages.html", "metadata.used", "links", "damage")
    return {name: counters[name] for name in names}


def count_type(media_type: str, counters: Counter[str]) -> None:
    """By name; the first MAX_TYPES names that are media types, and the rest as `other`."""
    name = TYPES + media_type
    if name not in counters and media_type != "-":
        known = sum(counter.startswith(TYPES) for counter in counters)
        if known >= MAX_TYPES or not _MEDIA_TYPE(media_type):
            name = TYPES + "other"
    counters[name] += 1


def named_reason(reason: str, uri: str) -> str:
    """The reason why a record is of no page, by its scheme where archives often have that."""
    scheme = uri.partition(":")[0].strip().lower()
    return f"scheme.{scheme}" if scheme in OTHER_SCHEMES else reason
