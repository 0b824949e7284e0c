"""The audit of archives as JSON; docs/inspect.md describes it, for the programs that read it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, TextIO

from jobs.kernel.archive.damage import Damage
from pipeline.analysis.inspect.inspection import Inspection, Summary, Total

SCHEMA = "crawlrank-inspect-1"
TOP_HOSTS = 10


class Writer:
    """Writes one document, an archive a line as it comes, so that none stays in memory."""

    def __init__(self, stream: TextIO, version: str, options: dict[str, Any]) -> None:
        self._stream = stream
        self._before = "\n"
        head = {"schema": SCHEMA, "version": version, "options": options}
        stream.write(json.dumps(head)[:-1] + ', "archives": [')

    def add(self, found: Inspection) -> None:
        self._stream.write(self._before + json.dumps(archive_data(found)))
        self._before = ",\n"

    def end(self, total: Total) -> None:
        self._stream.write('\n], "total": ' + json.dumps(total_data(total)) + "}\n")


def archive_data(found: Inspection) -> dict[str, Any]:
    """Of one archive."""
    names = ("found", "expected", "cure")
    return {
        "path": found.path,
        "error": dict(zip(names, found.error, strict=True)) if found.error else None,
        "format": {
            "records": records_format(found) or None,
            "packing": found.container.packing or None,
            "frames": found.container.frames or None,
        },
        **_summary(found),
        **_damage(found.counters, [_place(damage) for damage in found.damage]),
    }


def total_data(total: Total) -> dict[str, Any]:
    """Of all together."""
    places = [
        {"path": path, **_place(damage)}
        for reason in sorted(total.places)
        for path, damage in total.places[reason]
    ]
    return {
        "archives": total.archives,
        "failed": len(total.failed),
        "damaged": total.damaged,
        **_summary(total),
        **_damage(total.counters, places),
    }


def by_name(counters: Counter[str], prefix: str) -> dict[str, int]:
    """The counters `PREFIX.NAME` under their names, the highest first."""
    start = prefix + "."
    found = {
        name.removeprefix(start): count
        for name, count in counters.items()
        if name.startswith(start) and count
    }
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def by_hop(counters: Counter[str]) -> dict[str, int]:
    return {hop: counters[f"links.{hop}"] for hop in "LREX"}


def records_format(found: Inspection) -> str:
    """`WARC/1.1` and the like, WAT, WACZ; '' if unknown."""
    if found.container.packing == "zip":
        return "WACZ"
    return "WAT" if found.counters["wat"] else found.container.records


def _summary(of: Summary) -> dict[str, Any]:
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
    told = {
        "count": counters["damage"],
        "by_reason": by_name(counters, "damage"),
        "places": places,
        "not_listed": counters["damage"] - len(places),
    }
    return {"damage": told}


def _place(damage: Damage) -> dict[str, Any]:
    return damage._asdict()
