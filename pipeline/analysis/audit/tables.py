"""An audit for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from pipeline.analysis.audit.advice import advise
from pipeline.analysis.audit.causes import MEANINGS
from pipeline.analysis.audit.crawl_log import KINDS
from pipeline.analysis.audit.document import time
from pipeline.analysis.audit.findings import DEPTHS, Audit
from pipeline.analysis.audit.order import Measure
from pipeline.terminal import cell, new_table

TOP_HOSTS = 10
MAX_ROWS = 130  # classes
#: of Heritrix's own, the most frequent
STATUSES = {
    -1: "the name of the host was not found",
    -2: "no connection",
    -3: "the connection was lost",
    -4: "no answer in time",
    -5: "an error inside Heritrix",
    -6: "the address of the host could not be had",
    -7: "the URI is not supported or not legal",
    -8: "given up after several tries",
    -61: "robots.txt could not be had",
    -5000: "out of scope when its turn came",
    -5003: "over a quota",
    -9998: "forbidden by robots.txt",
}
HOPS = {
    "-": "seeds", "L": "links", "R": "redirects", "E": "embeds", "X": "guesses", "S": "sitemaps",
    "M": "manifests", "H": "headers",
}  # fmt: skip


def sections(found: Audit) -> Iterator[tuple[str, Table]]:
    """Titles and tables, in order; those without a row are left out."""
    for title, table in (
        ("the log", _log(found)),
        ("lines of logs that were not used", _bad_lines(found)),
        ("the precedence file", _file(found)),
        ("faults of the precedence file", _faults(found)),
        ("fetched but unlisted, by likely cause", _unlisted(found)),
        ("examples: fetched, and listed instead", _examples(found)),
        ("listed, without an answer by status", _statuses(found)),
        ("order of fetches against precedence", _order(found)),
        (f"hosts with most listed URIs fetched, of {found.host_count:,}", _hosts(found)),
        ("classes", _classes(found)),
    ):
        if table.row_count:
            yield title, table


def advice_lines(found: Audit) -> Iterator[str]:
    """What to change, numbered."""
    for number, said in enumerate(advise(found), 1):
        yield f"{number}. {said}"


def _table(*columns: str) -> Table:
    table = new_table("", *columns)
    table.title = None
    return table


def _counted(rows: list[tuple[str, int | str]]) -> Table:
    table = _table("what", ">count")
    for name, count in rows:
        table.add_row(name, f"{count:,}" if isinstance(count, int) else count)
    return table


def _log(found: Audit) -> Table:
    counts, log = found.counts, found.log
    return _counted(
        [
            ("logs", log.logs),
            ("lines", log.lines),
            ("URIs", counts["uris"]),
            ("  answered", counts["answered"]),
            ("    prerequisites: robots.txt, dns: (hop P)", counts["prerequisites"]),
            ("    inferred: favicon.ico (hop I)", counts["inferred"]),
            ("    of other schemes", counts["other_schemes"]),
            ("    all others, whose order counts", counts["ordered"]),
            ("  tried without an answer", counts["tried"]),
            ("lines of a URI that came before", counts["lines"] - counts["uris"]),
            ("lines written earlier than one before", log.clock_back),
            ("first fetch", time(counts["first"]) or ""),
            ("last fetch", time(counts["last"]) or ""),
        ]
    )


def _bad_lines(found: Audit) -> Table:
    table = _table(">count", "lines", "which are", "first")
    for kind, count in found.log.kinds.items():
        name, line, text = found.log.places[kind][0]
        first = f"{name}, line {line}: {text.rstrip()}"
        table.add_row(f"{count:,}", kind, KINDS[kind], cell(first))
    return table


def _file(found: Audit) -> Table:
    rows = [row for number, row in found.classes.items() if number >= 0]
    tried = sum(row.tried for row in rows)
    return _counted(
        [
            ("lines", found.file.lines),
            ("URIs listed", found.counts["listed"]),
            ("  fetched", sum(row.fetched for row in rows)),
            ("  tried without an answer", tried),
            ("  never in the log", sum(row.never for row in rows)),
            ("    while another spelling was fetched", found.respelled),
            ("lines of a URI that a later line lists", found.counts["duplicates"]),
            ("URIs in a form that no crawl asks for", found.counts["unmet"]),
        ]
    )


def _faults(found: Audit) -> Table:
    table = _table(">count", "fault", ">first line", "text", "what it does", "what to do")
    for name, count in found.file.problems.most_common():
        first = found.file.first[name]
        table.add_row(
            f"{count:,}", name, str(first.line or ""), cell(first.text),
            cell(first.consequence), cell(first.cure),
        )  # fmt: skip
    return table


def _unlisted(found: Audit) -> Table:
    hops = sorted({hop for cause in found.unlisted.values() for hop in cause.by_hop})
    table = _table(">count", *(f">{HOPS.get(hop, hop)}" for hop in hops), "cause", "which is")
    for name, cause in found.unlisted.items():
        by_hop = (f"{cause.by_hop.get(hop, 0):,}" for hop in hops)
        table.add_row(f"{cause.uris:,}", *by_hop, name, MEANINGS[name])
    return table


def _examples(found: Audit) -> Table:
    table = _table("cause", "fetched", "listed")
    for name, cause in found.unlisted.items():
        for fetched, listed in cause.examples[:2]:
            table.add_row(name, cell(fetched), cell(listed))
    return table


def _statuses(found: Audit) -> Table:
    table = _table(">count", ">status", "which is")
    for status, count in found.statuses.items():
        table.add_row(f"{count:,}", str(status), STATUSES.get(status, ""))
    return table


def _measured(table: Table, name: str, each: Measure) -> None:
    if each.kept is None or each.tau_b is None or each.best is None:
        table.add_row(name, f"{each.uris:,}", "0", f"{each.ties:,}", "", "", "")
        return
    table.add_row(
        name, f"{each.uris:,}", f"{each.pairs:,}", f"{each.ties:,}", f"{each.kept:.2%}",
        f"{each.tau_b:.4f}", f"{each.best:.4f}",
    )  # fmt: skip


def _order(found: Audit) -> Table:
    table = _table("of", ">URIs", ">pairs", ">tied", ">in order", ">tau-b", ">at best")
    if found.counts["ordered"]:
        _measured(table, "all listed", found.all)
        _measured(table, "within hosts", found.within)
        _measured(table, "from host to host", found.across)
        _measured(table, "listed before unlisted", found.before)
    for hop, each in found.hops.items():
        _measured(table, f"hop {hop} ({HOPS.get(hop, 'others')})", each)
    for depth, each in found.depths.items():
        more = " or more" if depth == DEPTHS - 1 else ""
        _measured(table, f"{depth}{more} hops from the seed", each)
    return table


def _hosts(found: Audit) -> Table:
    table = _table("host", ">URIs", ">pairs", ">tied", ">in order", ">tau-b", ">at best")
    for host, each in found.hosts[:TOP_HOSTS]:
        _measured(table, cell(host), each)
    return table


def _classes(found: Audit) -> Table:
    table = _table(
        ">precedence", ">listed", ">fetched", ">no answer", ">never", ">first place", ">median",
        ">last", "first fetch",
    )  # fmt: skip
    for number, row in sorted(found.classes.items(), key=lambda item: item[0] % 1000)[:MAX_ROWS]:
        listed = (row.listed, row.fetched, row.tried, row.never) if number >= 0 else ("",) * 4
        places = (row.first, row.median, row.last)
        table.add_row(
            row.label,
            *(f"{count:,}" if isinstance(count, int) else count for count in listed),
            *("" if place is None else f"{place:,}" for place in places),
            time(row.begin) or "",
        )
    return table
