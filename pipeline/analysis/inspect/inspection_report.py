"""The audit of archives for people: a line an archive, and what is in all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rich.table import Table

from jobs.kernel.archive.damage import REASONS
from pipeline.analysis.inspect.inspection import MAX_PLACES, Inspection, Summary, Total
from pipeline.analysis.inspect.inspection_json import TOP_HOSTS, by_hop, by_name, records_format
from pipeline.terminal import cell, new_table, printable

MAX_ROWS = 200  # archives that are shown
MAX_NAMES = 15  # statuses, media types
MAX_EXAMPLES = 3
HOPS = {
    "L": "navigation: what a reader follows",
    "R": "redirects and refreshes",
    "E": "embeds: images, scripts, styles, frames",
    "X": "guesses and hints: forms, canonical, next",
}
DROPPED = {
    "duplicate": "again on the same page",
    "nofollow": "its page asks not to follow it",
    "over-limit": "pages with more links than are kept",
    "base": "bases of pages, which Heritrix lists like links",
    "html-tail": "pages cut at the longest that is read",
    "srcdoc": "documents in srcdoc that are nested too deep, or cut",
    "css-tail": "style sheets cut at the longest that is read",
    "feed-tail": "feeds cut at the longest that is read",
    "sitemap-tail": "sitemaps cut at the longest that is read",
    "robots-tail": "robots.txt cut at the longest that is read",
    "invalid": "no URI can be made of it",
    "too-long": "longer than 8,192 bytes",
    "scheme.data": "data: URIs",
    "scheme.javascript": "javascript: URIs",
    "scheme.mailto": "mail addresses",
    "scheme.other": "other schemes than http and https",
    "scheme.dns": "look-ups of hosts",
    "scheme.ftp": "files of FTP servers",
    "scheme.ftps": "files of FTP servers",
    "scheme.whois": "registrations of hosts",
    "scheme.screenshot": "pictures of pages",
    "scheme.thumbnail": "pictures of pages",
    "scheme.urn": "what browsers' crawls add: pictures and texts of pages",
    "no-uri": "lines of a sitemap in text that are no URIs",
    "hop.L": "navigation",
    "hop.R": "redirects",
    "hop.E": "embeds: kept with --links all",
    "hop.X": "guesses: kept with --links all",
    "hop.I": "inferred by Heritrix: never links",
    "hop.P": "prerequisites (robots.txt, dns): never links",
}
SPARED = (">seconds", ">records", ">HTML pages", ">size")  # in a narrow terminal
LEAST_NAME = 20
UNITS = ("B", "kB", "MB", "GB", "TB")
FRAMES = {"shared": " (whole)"}  # the file is one frame, or its frames are not its records


class Section(NamedTuple):
    """A table and, as a title of its own would be folded to the table's width, its title."""

    title: str
    table: Table


class Row(NamedTuple):
    """What the line of an archive needs."""

    path: str
    cells: dict[str, str]
    urgent: bool


def row(found: Inspection) -> Row:
    packing, frames = found.container.packing, found.container.frames
    name = " ".join(part for part in (records_format(found), packing) if part not in ("", "zip"))
    counters = found.counters
    cells = {
        "format": "not readable" if found.error else name + FRAMES.get(frames, "") or "unknown",
        ">size": size(found.size) if found.size or not found.error else "",
        ">records": f"{counters['records']:,}",
        ">captures": f"{counters['captures']:,}",
        ">HTML pages": f"{counters['pages.html']:,}",
        ">links": f"{counters['links']:,}",
        ">damage": f"{counters['damage']:,}",
        ">seconds": f"{found.seconds:.1f}",
    }
    if not found.links:
        del cells[">HTML pages"], cells[">links"]
    return Row(found.path, cells, bool(found.error or counters["damage"]))


def report(rows: list[Row], total: Total, seconds: float, width: int) -> Iterator[Section]:
    """What there is to tell, in order. seconds: from beginning to end, by the clock.
    width: of the terminal, in cells."""
    sections = _sections(rows, total, seconds, width)
    yield from (section for section in sections if section.table.row_count)


def _sections(rows: list[Row], total: Total, seconds: float, width: int) -> Iterator[Section]:
    yield _archives(rows, total, width)
    yield _totals(total, seconds)
    counters = total.counters
    yield _counts("records by type", "type", by_name(counters, "records"))
    yield _counts("captures by status", "status", by_name(counters, "captures.status"))
    yield _counts("captures by media type", "type", by_name(counters, "captures.type"))
    yield _counts(
        f"hosts with most captures, of {_hosts(total)}", "host", dict(total.hosts.top(TOP_HOSTS))
    )
    yield _counts("documents read for links", "document", by_name(counters, "pages"))
    yield _explained("links by hop", "hop", by_hop(counters) if total.links else {}, HOPS)
    yield _counts("links by source", "source", by_name(counters, "links.from"))
    yield _dropped(total)
    yield _examples(total)
    yield _damage(total)
    yield _places(total)
    yield _failed(total)


def _table(*columns: str) -> Table:
    table = new_table("", *columns)
    table.title = None
    return table


def size(count: float) -> str:
    """Bytes in a unit of which they are 1 to 999.

    >>> size(999), size(77584), size(2012526), size(5e15)
    ('999 B', '77.6 kB', '2.01 MB', '5,000 TB')
    """
    power = next((p for p in range(4) if count < 999.5 * 1000**p), 4)
    return f"{count / 1000**power:,.3g} {UNITS[power]}" if power < 4 else f"{count / 1e12:,.0f} TB"


def date(digits: str) -> str:
    """A timestamp of 14 digits, as people read it."""
    d = digits
    return f"{d[:4]}-{d[4:6]}-{d[6:8]} {d[8:10]}:{d[10:12]}:{d[12:]}"


def _archives(rows: list[Row], total: Total, width: int) -> Section:
    """As many columns as the terminal has room for, and the ends of the names, which tell most."""
    folder = _common_folder([row.path for row in rows])
    title = f"archives ({total.archives:,})" + (f" in {printable(folder)}/" if folder else "")
    shown = rows
    if len(rows) > MAX_ROWS:  # the ones in need of attention first
        shown = sorted(rows, key=lambda row: not row.urgent)[:MAX_ROWS]
    widths = {
        name: 2 + max(len(name.lstrip(">")), *(len(row.cells[name]) for row in shown))
        for name in rows[0].cells
    }
    for name in SPARED:
        if sum(widths.values()) + LEAST_NAME > width:
            widths.pop(name, None)
    room = max(width - sum(widths.values()), LEAST_NAME)
    table = _table(*widths, "archive")
    for entry in shown:
        name = printable(entry.path[len(folder) + 1 :] if folder else entry.path)
        name = name if len(name) <= room else "…" + name[1 - room :]
        table.add_row(*(entry.cells[column] for column in widths), cell(name))
    if len(rows) > MAX_ROWS:
        table.add_row(f"… and {len(rows) - MAX_ROWS:,} more; all are in the JSON")
    return Section(title, table)


def _common_folder(paths: list[str]) -> str:
    """Of all paths or URLs, without its last slash; '' if there is none."""
    shortest, longest = min(paths), max(paths)  # what these two share, all share
    shared = next((i for i, c in enumerate(shortest) if longest[i : i + 1] != c), len(shortest))
    return shortest[:shared].rpartition("/")[0]


def _totals(total: Total, seconds: float) -> Section:
    title, table = "in all", _table("what", "how much")
    counters = total.counters
    failed, damaged = len(total.failed), total.damaged
    wrong = f"{failed:,} not readable, {damaged:,} damaged"
    table.add_row("archives", f"{total.archives:,}" + (f" ({wrong})" if failed or damaged else ""))
    table.add_row("size", f"{size(total.size)}; records inflated {size(counters['bytes'])}")
    table.add_row("records", f"{counters['records']:,}")
    table.add_row("captures", f"{counters['captures']:,}")
    if total.first:
        table.add_row("captured", f"{date(total.first)} to {date(total.last)}")
    table.add_row("hosts", _hosts(total))
    if total.links:
        flagged = counters["flagged.nofollow"]
        table.add_row("HTML pages", f"{counters['pages.html']:,}")
        table.add_row(
            "links", f"{counters['links']:,}" + (f" ({flagged:,} nofollow)" if flagged else "")
        )
    table.add_row("damaged places", f"{counters['damage']:,}")
    table.add_row("time", f"{seconds:.1f} s, all processes {total.seconds:.1f} s")
    return Section(title, table)


def _hosts(total: Summary) -> str:
    return ("more than " if total.hosts.more else "") + f"{len(total.hosts.counts):,}"


def _counts(title: str, what: str, counts: Mapping[str, int]) -> Section:
    table = _table(">count", what)
    for name, count in list(counts.items())[:MAX_NAMES]:
        table.add_row(f"{count:,}", cell(name if name != "-" else "- (not told)"))
    if more := list(counts.values())[MAX_NAMES:]:
        table.add_row(f"{sum(more):,}", f"{len(more):,} others")
    return Section(title, table)


def _explained(
    title: str, what: str, counts: Mapping[str, int], words: Mapping[str, str]
) -> Section:
    table = _table(">count", what, "which is")
    for name, count in counts.items():
        if not count:
            continue
        table.add_row(f"{count:,}", cell(name), words.get(name, ""))
    return Section(title, table)


def _dropped(total: Total) -> Section:
    """What extraction and, for want of a key, canonicalize leave out."""
    table = _table(">count", "reason", "which is")
    counts = {**by_name(total.counters, "dropped"), **by_name(total.counters, "skipped")}
    for name, count in counts.items():
        table.add_row(f"{count:,}", cell(name), _meaning(name))
    for name, count in by_name(total.counters, "no-key").items():
        table.add_row(f"{count:,}", "no-key", f"{name} that surt cannot make a key of")
    return Section("left out", table)


def _meaning(name: str) -> str:
    what, _, reason = name.partition(".")
    if what in ("capture", "metadata"):
        return f"{'captures' if what == 'capture' else 'metadata'}: {DROPPED.get(reason, '')}"
    return DROPPED.get(name, "PDFs that were not read" if what == "pdf" else "")


def _examples(total: Total) -> Section:
    table = _table("reason", "URI")
    for reason, uris in sorted(total.examples.items()):
        for uri in uris[:MAX_EXAMPLES]:
            table.add_row(cell(reason), cell(uri or "(none)"))
    return Section("examples of what was left out", table)


def _damage(total: Total) -> Section:
    table = _table(">count", "reason", "which is")
    for reason, count in by_name(total.counters, "damage").items():
        table.add_row(f"{count:,}", cell(reason), REASONS.get(reason, ""))
    return Section("damage", table)


def _places(total: Total) -> Section:
    table = _table("reason", ">offset", "archive")
    for reason in by_name(total.counters, "damage"):
        for path, damage in total.places.get(reason, []):
            table.add_row(cell(reason), f"{damage.offset:,}", cell(path))
    return Section(f"where: the first {MAX_PLACES} of each, all are in the JSON", table)


def _failed(total: Total) -> Section:
    table = _table("archive", "found")
    for found in total.failed[:MAX_ROWS]:
        table.add_row(cell(found.path), cell((found.error or [""])[0]))
    return Section("not readable", table)
