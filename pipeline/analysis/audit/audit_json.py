"""An audit as JSON; docs/audit.md describes it, for the programs that read it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from typing import Any

from crawlrank.pipeline.analysis.audit.advice import advise
from crawlrank.pipeline.analysis.audit.crawl_log import LogReport
from crawlrank.pipeline.analysis.audit.entries import EntriesReport
from crawlrank.pipeline.analysis.audit.findings import Audit, ClassRow
from crawlrank.pipeline.analysis.audit.order import Measure

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
        "log": _log(audit.log),
        "file": _file(audit.file),
        "counts": {**audit.counts, **times},
        "classes": [_class(row) for number, row in audit.classes.items() if number >= 0],
        "unlisted_places": _class(unlisted) if unlisted else None,
        "unlisted": {name: asdict(cause) for name, cause in audit.unlisted.items()},
        "tried_by_status": {str(status): count for status, count in audit.statuses.items()},
        "never_examples": audit.never,
        "never_respelled": audit.respelled,
        "order": _order(audit),
        "held": [holder._asdict() for holder in audit.holders],
        "annotations": asdict(audit.annotations) if audit.annotations else None,
        "advice": advise(audit),
    }


def _log(log: LogReport) -> dict[str, Any]:
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


def _file(file: EntriesReport) -> dict[str, Any]:
    problems = {
        name: {"count": count, **asdict(file.first[name])} for name, count in file.problems.items()
    }
    return {"lines": file.lines, "entries": file.entries, "problems": problems}


def _class(row: ClassRow) -> dict[str, Any]:
    data = asdict(row)
    data["precedence"] = data.pop("label")
    return {**data, "never": row.never, "begin": time(row.begin)}


def _order(audit: Audit) -> dict[str, Any]:
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
