"""An audit for people.

An audit as JSON; docs/audit.md describes it, for the programs that read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from typing import Any

from crawlrank.jobs.kernel.formats.rows import HERITRIX_HOPS, HOPS
from crawlrank.pipeline.analysis.audit.advice import advise
from crawlrank.pipeline.analysis.audit.causes import MEANINGS
from crawlrank.pipeline.analysis.audit.crawl_log import KINDS, LogReport
from crawlrank.pipeline.analysis.audit.entries import EntriesReport
from crawlrank.pipeline.analysis.audit.findings import DEPTHS, Audit, ClassRow
from crawlrank.pipeline.analysis.audit.order import Measure
from crawlrank.pipeline.terminal import TextTable

TOP_HOSTS = 10
MAX_ROWS = 130  # classes
#: of Heritrix's own, the most frequent
STATUSES = {
    -1: "the name of the host was not found",
    -2: "no connection",
    -3: "the connection was lost",
    -4: "no answer in time",
    -5: "an error inside Heritrix",
    -6: "the address of the host was not found",
    -7: "the URI is not supported or not legal",
    -8: "given up after several tries",
    -61: "robots.txt could not be fetched",
    -5000: "out of scope when its turn came",
    -5003: "over a quota",
    -9998: "forbidden by robots.txt",
}
SEED = "-"  # in place of a hop
HOP_NAMES = {SEED: "seeds"} | {letter: HOPS[letter].of_many for letter in HERITRIX_HOPS}


def tables(audit: Audit) -> Iterator[TextTable]:
    """The tables in the order in which they are shown; some may have no rows."""
    yield _log(audit)
    yield _bad_lines(audit)
    yield _file(audit)
    yield _faults(audit)
    yield _annotations(audit)
    yield _unlisted(audit)
    yield _examples(audit)
    yield _statuses(audit)
    yield _order(audit)
    yield _hosts(audit)
    yield _holders(audit)
    yield _classes(audit)


def _counted(title: str, counts: dict[str, int | str | None]) -> TextTable:
    table = TextTable(title, "~what", ">count")
    for name, count in counts.items():
        table.add(name, count)
    return table


def _log(audit: Audit) -> TextTable:
    counts, log = audit.counts, audit.log
    return _counted(
        "the log",
        {
            "logs": log.logs,
            **({"logs without a line": len(log.empty)} if log.empty else {}),
            "lines": log.lines,
            "URIs": counts["uris"],
            "  answered": counts["answered"],
            "    prerequisites: robots.txt, dns: (hop P)": counts["prerequisites"],
            "    inferred: favicon.ico (hop I)": counts["inferred"],
            "    of other schemes": counts["other_schemes"],
            "    all others, whose order counts": counts["ordered"],
            "  tried without an answer": counts["tried"],
            "lines of a URI that came before": counts["lines"] - counts["uris"],
            "lines written earlier than one before": log.clock_back,
            "first fetch": time(counts["first"]),
            "last fetch": time(counts["last"]),
        },
    )


def _bad_lines(audit: Audit) -> TextTable:
    table = TextTable(
        "lines of logs that were not used", ">count", "=lines", "~which are", "~first"
    )
    for kind, count in audit.log.kinds.items():
        path, line, text = audit.log.bad_lines[kind][0]
        first = f"{path}, line {line}: {text.rstrip()}"
        table.add(count, kind, KINDS[kind], first)
    return table


def _file(audit: Audit) -> TextTable:
    rows = [row for number, row in audit.classes.items() if number >= 0]
    tried = sum(row.tried for row in rows)
    return _counted(
        "the precedence file",
        {
            "lines": audit.file.lines,
            "URIs listed": audit.counts["listed"],
            "  fetched": sum(row.fetched for row in rows),
            "  tried without an answer": tried,
            "  never in the log": sum(row.never for row in rows),
            "    while another spelling was fetched": audit.respelled,
            "lines of a URI that a later line lists": audit.counts["duplicates"],
            "URIs in a form that no crawl looks up": audit.counts["unmet"],
        },
    )


def _faults(audit: Audit) -> TextTable:
    table = TextTable(
        "faults of the precedence file", ">count", "=fault", ">first line", "text", "~what it does",
        "~what to do",
    )  # fmt: skip
    for name, count in audit.file.problems.most_common():
        first = audit.file.first[name]
        line = str(first.line or "")
        table.add(count, name, line, first.text, first.consequence, first.cure)
    return table


def _annotations(audit: Audit) -> TextTable:
    noted = audit.annotations
    counts: dict[str, int | str | None] = {}
    if noted:
        counts = {
            "URIs": noted.annotated,
            "  listed, with the precedence of the file": noted.right,
            "    found late: fetched after a later class": noted.late - noted.late_seeds,
            "    seeds fetched after a later class": noted.late_seeds,
            "  listed, with that of unlisted URIs": noted.as_unlisted,
            "  listed, with another one": noted.other,
            "  unlisted, with that of an earlier file": noted.known,
        }
    return _counted("precedences that Heritrix noted", counts)


def _unlisted(audit: Audit) -> TextTable:
    hops = sorted({hop for cause in audit.unlisted.values() for hop in cause.by_hop})
    names = [f">{HOP_NAMES.get(hop, hop)}" for hop in hops]
    title = "fetched but unlisted, by likely cause"
    table = TextTable(title, ">count", *names, "~cause", "~which is")
    for name, cause in audit.unlisted.items():
        by_hop = (cause.by_hop.get(hop, 0) for hop in hops)
        table.add(cause.uris, *by_hop, name, MEANINGS[name])
    return table


def _examples(audit: Audit) -> TextTable:
    table = TextTable("examples: fetched, and listed instead", "=cause", "fetched", "listed")
    for name, cause in audit.unlisted.items():
        for fetched, listed in cause.examples[:2]:
            table.add(name, fetched, listed)
    return table


def _statuses(audit: Audit) -> TextTable:
    table = TextTable("listed, without an answer by status", ">count", ">status", "~which is")
    for status, count in audit.statuses.items():
        table.add(count, str(status), STATUSES.get(status))
    return table


def _measures(title: str, of: str, measures: Iterable[tuple[str, Measure]]) -> TextTable:
    table = TextTable(title, of, ">URIs", ">pairs", ">tied", ">in order", ">tau-b", ">at best")

    for name, each in measures:
        shares = ("", "", "")
        if each.kept is not None and each.tau_b is not None and each.best is not None:
            shares = f"{each.kept:.2%}", f"{each.tau_b:.4f}", f"{each.best:.4f}"
        table.add(name, each.uris, each.pairs, each.ties, *shares)
    return table


def _order(audit: Audit) -> TextTable:
    measures = {
        "all listed": audit.all,
        "within hosts": audit.within,
        "from host to host": audit.across,
        "listed before unlisted": audit.before,
    }
    if not audit.counts["ordered"]:
        measures = {}
    for hop, each in audit.hops.items():
        measures[f"hop {hop} ({HOP_NAMES.get(hop, 'others')})"] = each
    for depth, each in audit.depths.items():
        more = " or more" if depth == DEPTHS - 1 else ""
        measures[f"{depth}{more} hops from the seed"] = each
    return _measures("order of fetches against precedence", "~of", measures.items())


def _hosts(audit: Audit) -> TextTable:
    title = f"hosts with most listed URIs fetched, of {audit.host_count:,}"
    return _measures(title, "host", audit.hosts[:TOP_HOSTS])


def _holders(audit: Audit) -> TextTable:
    title = "fetched after most URIs of later classes of their hosts"
    table = TextTable(title, "host", "URI", ">precedence", ">status", ">behind")
    for each in audit.holders:
        table.add(each.host, each.uri, each.precedence, str(each.status), each.behind)
    return table


def _classes(audit: Audit) -> TextTable:
    table = TextTable(
        "classes", ">precedence", ">listed", ">fetched", ">no answer", ">never", ">first position",
        ">median", ">last", ">first fetch",
    )  # fmt: skip
    for number, row in sorted(audit.classes.items(), key=lambda item: item[0] % 1000)[:MAX_ROWS]:
        listed = (row.listed, row.fetched, row.tried, row.never) if number >= 0 else (None,) * 4
        table.add(row.label, *listed, row.first, row.median, row.last, time(row.begin))
    return table


SCHEMA = "crawlrank-audit-precedence-1"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def time(milliseconds: int | None) -> str | None:
    """`2026-11-21T09:11:36.035Z`; None for what is no date of a calendar."""
    if milliseconds is None:
        return None
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_data(audit: Audit) -> dict[str, Any]:
    """All results, ready for json.dumps."""
    times = {name: time(audit.counts[name]) for name in ("first", "last")}
    unlisted = audit.classes.get(-1)
    return {
        "log": _log_data(audit.log),
        "file": _file_data(audit.file),
        "counts": {**audit.counts, **times},
        "classes": [_class(row) for number, row in audit.classes.items() if number >= 0],
        "unlisted_places": _class(unlisted) if unlisted else None,
        "unlisted": {name: asdict(cause) for name, cause in audit.unlisted.items()},
        "tried_by_status": {str(status): count for status, count in audit.statuses.items()},
        "never_examples": audit.never,
        "never_respelled": audit.respelled,
        "order": _order_data(audit),
        "held": [holder._asdict() for holder in audit.holders],
        "annotations": asdict(audit.annotations) if audit.annotations else None,
        "advice": advise(audit),
    }


def _log_data(log: LogReport) -> dict[str, Any]:
    return {
        "logs": log.logs,
        "lines": log.lines,
        "used": log.used,
        "not_used": dict(log.kinds),
        "places": {kind: [bad._asdict() for bad in lines] for kind, lines in log.bad_lines.items()},
        "clock_back": log.clock_back,
        "open": log.unfinished,
        "empty": log.empty,
        "left_out": dict(log.left_out),
    }


def _file_data(file: EntriesReport) -> dict[str, Any]:
    problems = {
        name: {"count": count, **asdict(file.first[name])} for name, count in file.problems.items()
    }
    return {"lines": file.lines, "entries": file.entries, "problems": problems}


def _class(row: ClassRow) -> dict[str, Any]:
    data = asdict(row)
    data["precedence"] = data.pop("label")
    return {**data, "never": row.never, "begin": time(row.begin)}


def _order_data(audit: Audit) -> dict[str, Any]:
    return {
        "all": _measure(audit.all),
        "within_hosts": _measure(audit.within),
        "across_hosts": _measure(audit.across),
        "listed_before_unlisted": _measure(audit.before),
        "by_hop": {hop: _measure(each) for hop, each in audit.hops.items()},
        "by_depth": {str(depth): _measure(each) for depth, each in audit.depths.items()},
        "hosts": audit.host_count,
        "by_host": {host: _measure(each) for host, each in audit.hosts},
    }


def _measure(measure: Measure) -> dict[str, Any]:
    data = asdict(measure)
    return {**data, "kept": measure.kept, "tau_b": measure.tau_b, "largest_tau_b": measure.best}
