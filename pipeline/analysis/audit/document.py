"""An audit as JSON; docs/audit.md describes it, for the programs that read it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta, timezone
from typing import Any

from pipeline.analysis.audit.advice import advise
from pipeline.analysis.audit.findings import Audit, ClassRow
from pipeline.analysis.audit.order import Measure

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


def document(found: Audit, version: str) -> dict[str, Any]:
    """All that was found, ready for json.dumps."""
    counts = dict(found.counts)
    counts["first"], counts["last"] = time(counts["first"]), time(counts["last"])
    log = found.log
    unlisted = found.classes.get(-1)
    return {
        "schema": SCHEMA,
        "version": version,
        "log": {
            "logs": log.logs,
            "lines": log.lines,
            "used": log.used,
            "not_used": dict(log.kinds),
            "places": {
                kind: [dict(zip(("path", "line", "text"), place, strict=True)) for place in places]
                for kind, places in log.places.items()
            },
            "clock_back": log.clock_back,
            "open": log.unfinished,
        },
        "file": {
            "lines": found.file.lines,
            "entries": found.file.entries,
            "problems": {
                name: {"count": count, **asdict(found.file.first[name])}
                for name, count in found.file.problems.items()
            },
        },
        "counts": counts,
        "classes": [_class(row) for number, row in found.classes.items() if number >= 0],
        "unlisted_places": _class(unlisted) if unlisted else None,
        "unlisted": {name: asdict(cause) for name, cause in found.unlisted.items()},
        "tried_by_status": {str(status): count for status, count in found.statuses.items()},
        "never_examples": found.never,
        "never_respelled": found.respelled,
        "order": {
            "all": measured(found.all),
            "within_hosts": measured(found.within),
            "across_hosts": measured(found.across),
            "listed_before_unlisted": measured(found.before),
            "by_hop": {hop: measured(each) for hop, each in found.hops.items()},
            "by_depth": {str(depth): measured(each) for depth, each in found.depths.items()},
            "hosts": found.host_count,
            "by_host": {host: measured(each) for host, each in found.hosts},
        },
        "advice": advise(found),
    }


def _class(row: ClassRow) -> dict[str, Any]:
    told = asdict(row)
    told["precedence"] = told.pop("label")
    return {**told, "never": row.never, "begin": time(row.begin)}


def measured(each: Measure) -> dict[str, Any]:
    return {**asdict(each), "kept": each.kept, "tau_b": each.tau_b, "largest_tau_b": each.best}
