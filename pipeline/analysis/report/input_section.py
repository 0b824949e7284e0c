"""What went into a run: archives, captures, damage and links, by the counters of its manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from crawlrank.jobs.kernel.archive.cdx import INDEX
from crawlrank.jobs.kernel.captures.counters import CAPTURED
from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.formats.rows import HOPS
from crawlrank.pipeline.terminal import counter_meanings
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.masking import masked
from crawlrank.pipeline.workfolder.results.finished import Finished

ARCHIVES = PLACES = 100  # listed
HOSTS = 25
TYPES = 25  # media types and statuses listed; the others are one row
HOST = r"^[a-z]+://(?:[^/?#@]*@)?(\[[^/?#\]]*\]|[^/?#:]*)"  # of a URI, without its port
EXAMPLES = 3  # of what was dropped, for each reason
EXTRACT = "extract-links"


def input_section(manifest: Manifest) -> dict[str, Any] | None:
    """Archives, captures and damage; None for a folder that was made from text files."""
    if manifest.imported:
        return None
    totals: Counter[str] = Counter()
    for entry in manifest.archives.values():
        totals.update(entry["counters"])
    return {
        "archives": len(manifest.archives),
        "unreadable": sum(1 for entry in manifest.archives.values() if entry["error"]),
        "size": sum(entry.get("size") or 0 for entry in manifest.archives.values()),
        "bytes": totals["bytes"],
        "records": totals["records"],
        "captures": totals["captures"],
        "html_pages": totals["pages.html"],
        "links": totals["links"],
        "damage": totals["damage"],
        "by_status": _most(_counted(totals, "captures.status.", "status"), "status"),
        "by_kind": _counted(totals, "captures.", "kind", (*CAPTURED, INDEX)),
        "by_type": _most(_counted(totals, "captures.type.", "type"), "type"),
        "listed": _archives(manifest.archives.values()),
        "damage_by_reason": _counted(totals, "damage.", "reason"),
        "damage_places": _places(manifest.archives.values()),
    }


def links_section(manifest: Manifest) -> dict[str, Any]:
    """Links by kind and by where they stand, and what the steps left out, by reason."""
    counters: Counter[str] = Counter(manifest.steps.get(EXTRACT, {}).get("counters", {}))
    hops = _counted(counters, "links.", "hop", HOPS)
    return {
        "links": counters["links"],
        "by_hop": [row | {"meaning": HOPS[row["hop"]].name} for row in hops],
        "by_source": _counted(counters, "links.from.", "source"),
        "nofollow": counters["flagged.nofollow"],
        "dropped": [row for step, entry in manifest.steps.items() for row in _dropped(step, entry)],
    }


def _counted(
    counters: Mapping[str, int], prefix: str, name: str, names: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """The counters with a prefix, the largest first. names: these alone."""
    named = [key.removeprefix(prefix) for key in counters if key.startswith(prefix)]
    chosen = named if names is None else [each for each in names if each in named]
    rows = [{name: each, "count": counters[prefix + each]} for each in chosen]
    return sorted((row for row in rows if row["count"]), key=lambda row: (-row["count"], row[name]))


def _most(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The first rows, and one for all others."""
    if len(rows) <= TYPES:
        return rows
    others = sum(row["count"] for row in rows[TYPES:])
    return [*rows[:TYPES], {name: count_of(len(rows) - TYPES, "other"), "count": others}]


def meaning_of(reason: str) -> str | None:
    """What a reason of `dropped.REASON` says, in words."""
    return counter_meanings.meaning_of(f"dropped.{reason}") or None


def _archives(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The archives, first those that need attention."""
    ordered = sorted(entries, key=lambda a: (not a["error"], not a["damage"], a["path"]))
    return [
        {
            "path": masked(entry["path"]),
            "size": entry.get("size"),
            "captures": entry["counters"].get("captures", 0),
            "html_pages": entry["counters"].get("pages.html", 0),
            "links": entry["counters"].get("links", 0),
            "damage": entry["counters"].get("damage", 0),
            "error": entry["error"][0] if entry["error"] else None,
        }
        for entry in ordered[:ARCHIVES]
    ]


def _places(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    damaged = (
        {"archive": masked(entry["path"]), "offset": offset, "reason": reason, "detail": detail}
        for entry in entries
        for offset, reason, detail in entry["damage"]
    )
    return list(islice(damaged, PLACES))


def _dropped(step: str, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    examples = [example.partition("\t") for example in entry.get("examples", ())]
    rows = _counted(entry.get("counters", {}), "dropped.", "reason")
    for row in rows:
        row["meaning"] = meaning_of(row["reason"])
        uris = [uri for reason, _, uri in examples if reason == row["reason"]]
        row["step"], row["examples"] = step, uris[:EXAMPLES]
    return rows


def hosts_captured(finished: Finished) -> dict[str, Any] | None:
    """Captures by host, as the URIs name it, without a port; None where there are no captures."""
    if finished.manifest.imported:
        return None
    rows = finished.rows(
        "SELECT host, count(*) AS captures, count(*) OVER (), FROM"
        f" (SELECT regexp_extract(lower(uri), '{HOST}', 1) AS host"
        " FROM {visited}) GROUP BY host ORDER BY captures DESC, host LIMIT $most",
        most=HOSTS,
    )
    listed = [{"host": host, "count": captures} for host, captures, _ in rows]
    return {"hosts": int(rows[0][2]) if rows else 0, "listed": listed}
