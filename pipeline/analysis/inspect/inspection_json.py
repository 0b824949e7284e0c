"""What archives hold, as JSON; docs/inspect.md describes it, for the programs that read it."""

from __future__ import annotations

from collections import Counter
from typing import Any, TextIO

from crawlrank.jobs.kernel.formats.rows import LINK_HOPS
from crawlrank.pipeline.analysis.inspect.inspection import ArchiveCounts, Inspection, Total
from crawlrank.pipeline.terminal.json_text import json_text
from crawlrank.pipeline.workfolder.masking import masked

SCHEMA = "crawlrank-inspect-1"
TOP_HOSTS = 10


class InspectionWriter:
    """Writes one document, a line for each archive as it comes, so that none stays in memory."""

    def __init__(self, stream: TextIO, version: str, options: dict[str, Any]) -> None:
        self._stream = stream
        self._before = "\n"
        head = {"schema": SCHEMA, "version": version, "options": options}
        stream.write(json_text(head)[:-1] + ', "archives": [')

    def add(self, archive: Inspection) -> None:
        self._stream.write(self._before + json_text(_archive(archive)))
        self._before = ",\n"

    def end(self, total: Total) -> None:
        self._stream.write('\n], "total": ' + json_text(_total(total)) + "}\n")


def _archive(archive: Inspection) -> dict[str, Any]:
    names = ("found", "expected", "cure")
    return {
        "path": masked(archive.path),
        "error": dict(zip(names, archive.error, strict=True)) if archive.error else None,
        "format": {
            "records": records_format(archive) or None,
            "packing": archive.container.packing or None,
            "frames": archive.container.frames or None,
        },
        **_counts(archive),
        "damage": _damage(archive.counters, [damage._asdict() for damage in archive.damage]),
    }


def _total(total: Total) -> dict[str, Any]:
    places = [
        {"path": masked(path), **damage._asdict()}
        for reason in sorted(total.places)
        for path, damage in total.places[reason]
    ]
    return {
        "archives": total.archives,
        "failed": len(total.failed),
        "damaged": total.damaged,
        **_counts(total),
        "damage": _damage(total.counters, places),
    }


def by_name(counters: Counter[str], prefix: str) -> dict[str, int]:
    """The counters `PREFIX.NAME` under their names, the highest first."""
    start = prefix + "."
    counts = {
        name.removeprefix(start): count
        for name, count in counters.items()
        if name.startswith(start) and count
    }
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def by_hop(counters: Counter[str]) -> dict[str, int]:
    return {hop: counters[f"links.{hop}"] for hop in LINK_HOPS}


def records_format(archive: Inspection) -> str:
    """`WARC/1.1` and the like, WAT, WACZ; '' if unknown."""
    if archive.container.packing == "zip":
        return "WACZ"
    return "WAT" if archive.counters["wat"] else archive.container.records


def _counts(of: ArchiveCounts) -> dict[str, Any]:
    counters = of.counters
    links = {
        "count": counters["links"],
        "by_hop": by_hop(counters),
        "by_source": by_name(counters, "links.from"),
        "nofollow": counters["flagged.nofollow"],
    }
    return {
        "size": of.size,
        "inflated": counters["bytes"],
        "seconds": round(of.seconds, 3),
        "records": {"count": counters["records"], "by_kind": by_name(counters, "records")},
        "captures": {
            "count": counters["captures"],
            "by_status": by_name(counters, "captures.status"),
            "by_type": by_name(counters, "captures.type"),
            "first": of.first or None,
            "last": of.last or None,
        },
        "hosts": {
            "count": len(of.hosts.counts),
            "complete": not of.hosts.more,
            "top": [{"host": host, "captures": n} for host, n in of.hosts.top(TOP_HOSTS)],
        },
        "documents": by_name(counters, "pages") if of.links else None,
        "links": links if of.links else None,
        "dropped": by_name(counters, "dropped"),
        "skipped": by_name(counters, "skipped"),
        "without_key": by_name(counters, "no-key"),
        "metadata": by_name(counters, "metadata"),
        "examples": dict(sorted(of.examples.items())),
    }


def _damage(counters: Counter[str], places: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "count": counters["damage"],
        "by_reason": by_name(counters, "damage"),
        "places": places,
        "not_listed": counters["damage"] - len(places),
    }
