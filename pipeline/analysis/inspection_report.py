"""What archives hold, for people: a line for each archive, and tables for all of them.

What archives hold, as JSON; docs/inspect.md describes it, for the programs that read it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TextIO

from crawlrank.jobs.kernel.archive.damage import REASONS
from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.formats.rows import HOPS as ALL_HOPS
from crawlrank.jobs.kernel.formats.rows import LINK_HOPS
from crawlrank.pipeline.analysis.inspection import (
    MAX_PLACES,
    ArchiveCounts,
    Inspection,
    Total,
)
from crawlrank.pipeline.pages.page import size
from crawlrank.pipeline.terminal import TextTable
from crawlrank.pipeline.terminal.counter_meanings import meaning_of
from crawlrank.pipeline.terminal.text import json_text, masked

MAX_ROWS = 200  # archives that are shown
MAX_NAMES = 15  # statuses, media types
MAX_EXAMPLES = 3
HOPS = {letter: ALL_HOPS[letter].meaning for letter in LINK_HOPS}
FRAMES = {"shared": " (whole)"}  # the file is one frame, or its frames are not its records


class ArchiveRow(NamedTuple):
    """The line of an archive."""

    path: str
    cells: dict[str, str]
    urgent: bool


def archive_row(archive: Inspection) -> ArchiveRow:
    packing, frames = archive.container.packing, archive.container.frames
    name = " ".join(part for part in (records_format(archive), packing) if part not in ("", "zip"))
    counters = archive.counters
    cells = {
        "format": "not readable" if archive.error else name + FRAMES.get(frames, "") or "unknown",
        ">size": size(archive.size) if archive.size or not archive.error else "",
        ">records": f"{counters['records']:,}",
        ">captures": f"{counters['captures']:,}",
        ">HTML pages": f"{counters['pages.html']:,}",
        ">links": f"{counters['links']:,}",
        ">damage": f"{counters['damage']:,}",
        ">seconds": f"{archive.seconds:.1f}",
    }
    if not archive.links:
        del cells[">HTML pages"], cells[">links"]
    return ArchiveRow(masked(archive.path), cells, bool(archive.error or counters["damage"]))


def tables(rows: list[ArchiveRow], total: Total, seconds: float) -> Iterator[TextTable]:
    """The tables in the order in which they are shown; some may have no rows. seconds: from
    beginning to end, by the clock."""
    counters = total.counters
    yield _archives(rows, total)
    yield _totals(total, seconds)
    yield _counts("records by type", "type", by_name(counters, "records"))
    yield _counts("captures by status", "status", by_name(counters, "captures.status"))
    yield _counts("captures by media type", "type", by_name(counters, "captures.type"))
    hosts = dict(total.hosts.top(TOP_HOSTS))
    yield _counts(f"hosts with most captures, of {_host_count(total)}", "host", hosts)
    yield _counts("documents read for links", "document", by_name(counters, "pages"))
    yield _explained("links by hop", "hop", by_hop(counters) if total.links else {}, HOPS)
    yield _counts("links by source", "source", by_name(counters, "links.from"))
    yield _dropped(total)
    yield _examples(total)
    yield _explained("damage", "reason", by_name(counters, "damage"), REASONS)
    yield _places(total)
    yield _failed(total)


def date(d: str) -> str:
    """A timestamp of 14 digits in the form `2026-11-21 09:11:36`."""
    return f"{d[:4]}-{d[4:6]}-{d[6:8]} {d[8:10]}:{d[10:12]}:{d[12:]}"


def _archives(rows: list[ArchiveRow], total: Total) -> TextTable:
    shown = rows
    if len(rows) > MAX_ROWS:  # those that need attention first
        shown = sorted(rows, key=lambda row: not row.urgent)[:MAX_ROWS]
    names = list(rows[0].cells)
    table = TextTable(f"archives ({total.archives:,})", "/archive", *names)
    for row in shown:
        table.add(row.path, *(row.cells.get(name) for name in names))
    if len(rows) > MAX_ROWS:
        table.note(f"… and {len(rows) - MAX_ROWS:,} more; all are in the JSON")
    return table


def _totals(total: Total, seconds: float) -> TextTable:
    table = TextTable("in all", "what", "~how much")
    counters = total.counters
    failed, damaged = len(total.failed), total.damaged
    wrong = f"{failed:,} not readable, {damaged:,} damaged"
    table.add("archives", f"{total.archives:,}" + (f" ({wrong})" if failed or damaged else ""))
    table.add("size", f"{size(total.size)}; records inflated {size(counters['bytes'])}")
    table.add("records", counters["records"])
    table.add("captures", counters["captures"])
    if total.first:
        table.add("captured between", f"{date(total.first)} and {date(total.last)}")
    table.add("hosts", _host_count(total))
    if total.links:
        flagged = counters["flagged.nofollow"]
        table.add("HTML pages", counters["pages.html"])
        table.add("links", counters["links"])
        if flagged:
            became = "left out" if counters["dropped.nofollow"] else "among the links"
            table.add("links with nofollow", f"{flagged:,}, {became}, repeated ones included")
    table.add("damaged places", counters["damage"])
    table.add("time", f"{seconds:.1f} s, all processes {total.seconds:.1f} s")
    return table


def _host_count(total: Total) -> str:
    return ("more than " if total.hosts.more else "") + f"{len(total.hosts.counts):,}"


def _counts(title: str, column: str, counts: Mapping[str, int]) -> TextTable:
    table = TextTable(title, ">count", column)
    for name, count in list(counts.items())[:MAX_NAMES]:
        table.add(count, name if name != "-" else "- (unknown)")
    if more := list(counts.values())[MAX_NAMES:]:
        table.add(sum(more), count_of(len(more), "other"))
    return table


def _explained(
    title: str, column: str, counts: Mapping[str, int], meanings: Mapping[str, str]
) -> TextTable:
    table = TextTable(title, ">count", f"={column}", "~which is")
    for name, count in counts.items():
        if count:
            table.add(count, name, meanings.get(name))
    return table


def _dropped(total: Total) -> TextTable:
    """What extraction leaves out, and canonicalize because it has no key."""
    counts, meanings = dict[str, int](), dict[str, str]()
    for group in ("dropped", "skipped"):
        for name, count in by_name(total.counters, group).items():
            counts[name], meanings[name] = count, meaning_of(f"{group}.{name}")
    table = _explained("left out", "reason", counts, meanings)
    for name, count in by_name(total.counters, "no-key").items():
        table.add(count, "no-key", f"{name} that surt cannot make a key of")
    return table


def _examples(total: Total) -> TextTable:
    table = TextTable("examples of what was left out", "=reason", "URI")
    for reason, uris in sorted(total.examples.items()):
        for uri in uris[:MAX_EXAMPLES]:
            table.add(reason, uri or "(none)")
    return table


def _places(total: Total) -> TextTable:
    title = f"where: the first {MAX_PLACES} of each, all are in the JSON"
    table = TextTable(title, "=reason", ">offset", "/archive")
    for reason in by_name(total.counters, "damage"):
        for path, damage in total.places.get(reason, []):
            table.add(reason, damage.offset, masked(path))
    return table


def _failed(total: Total) -> TextTable:
    table = TextTable("not readable", "/archive", "~found")
    for archive in total.failed[:MAX_ROWS]:
        table.add(masked(archive.path), (archive.error or [""])[0])
    return table


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
        **_count_data(archive),
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
        **_count_data(total),
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


def _count_data(of: ArchiveCounts) -> dict[str, Any]:
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
