"""The pages that the crawl has not: how many, the best of them, and why, as crawl.logs have it.

A page is missed if links lead to it and the archives have no capture of it. Those of class 1 are
counted as important. The reason is the status in the latest line whose URI has the key of the page.
Heritrix writes no line for a URI that it leaves out as soon as it finds it, such as one out of
scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from crawlrank.jobs.kernel.keys.keys import forgetful_key_function, www_rule
from crawlrank.pipeline.analysis.audit.crawl_log import LogReport, logs_in, read_logs
from crawlrank.pipeline.analysis.compare.diff import Side
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.data.site_names import host_name

HOSTS, PAGES = 30, 200  # that are listed
#: reasons by statuses of Heritrix; others below 0, and those of errors of HTTP, are `error`
REASONS = {
    "robots": (-9998,),
    "scope": (-4001, -4002, -5000, -5001, -5002),
    "limit": (-5003, -5004),
}
WORDS = {
    "robots": "forbidden by robots.txt",
    "scope": "out of scope when its turn came, or too far from a seed",
    "limit": "over a quota or the time of the crawl",
    "error": "tried, and answered by an error or not at all",
    "fetched": "fetched, but not in these archives",
    "never": "no line in the logs: never tried, or out of scope when it was found",
}
_KEYED = pa.schema([("key", pa.string()), ("status", pa.int32()), ("line", pa.int64())])
_LATEST = """
    CREATE TABLE missed_because AS SELECT id, key, important, CASE {cases}
        WHEN status IS NULL THEN 'never' WHEN status BETWEEN 200 AND 399 THEN 'fetched'
        ELSE 'error' END AS reason, status
    FROM missed_pages LEFT JOIN
    (SELECT key, arg_max(status, line) AS status FROM missed_lines GROUP BY key) USING (key)
"""


def missed_section(
    side: Side, csr: Csr | None, top: int, logs: Sequence[Path]
) -> dict[str, Any] | None:
    """None where pages have no URIs. logs: crawl.logs, or folders of them; without any, there are
    no reasons. Raises BadInput for a log that cannot be read."""
    finished = side.finished
    if not finished.has_uris:
        return None
    missed = np.flatnonzero(~side.captured)
    important = missed[side.classes[missed] == 1]
    best = missed[np.argsort(side.places[missed], kind="stable")[: min(top, PAGES)]]
    report = LogReport()
    _collect(side, important, best, _lines(side, logs, report) if logs else iter(()))
    return {
        "pages": len(missed),
        "important": len(important),
        "log_lines": report.used if logs else None,
        "by_reason": _by_reason(side) if logs else [],
        "by_host": _by_host(side, bool(logs)),
        "best": _rows(side, csr, best.tolist(), bool(logs)),
    }


def _lines(side: Side, logs: Sequence[Path], report: LogReport) -> Iterator[pa.RecordBatch]:
    """The key of each line of the logs, as _KEYED. URIs without a key are of other schemes."""
    key_of = forgetful_key_function(www_rule(side.finished.parameters))
    for batch in read_logs(logs_in(logs), report):
        keys = [key_of(uri.encode()) for uri in batch["uri"].to_pylist()]
        columns = [pa.array(keys, pa.binary()).cast(pa.string()), batch["status"], batch["line"]]
        yield pa.record_batch(columns, _KEYED)


def _collect(
    side: Side, important: Positions, best: Positions, lines: Iterator[pa.RecordBatch]
) -> None:
    """Make the table `missed_because` of important pages and the best ones, a row for each."""
    db, mapped = side.finished.db, side.finished.view("mapped")
    ids = np.union1d(important, best)
    rows = {"id": ids, "important": np.isin(ids, important, assume_unique=True)}
    db.register("missed_ids", pa.table(rows))
    with side.finished.reading():
        db.execute(
            "CREATE TABLE missed_pages AS SELECT id, key, important"
            f" FROM {mapped} JOIN missed_ids USING (id)"
        )
    db.execute("CREATE TABLE missed_lines (key VARCHAR, status INTEGER, line BIGINT)")
    for batch in lines:
        db.register("some_lines", pa.Table.from_batches([batch]))
        db.execute(
            "INSERT INTO missed_lines SELECT * FROM some_lines SEMI JOIN missed_pages USING (key)"
        )
        db.unregister("some_lines")
    cases = " ".join(
        f"WHEN status IN ({', '.join(map(str, statuses))}) THEN '{reason}'"
        for reason, statuses in REASONS.items()
    )
    db.execute(_LATEST.format(cases=cases))


def _by_reason(side: Side) -> list[dict[str, Any]]:
    rows = side.finished.db.execute(
        "SELECT reason, count(*) FROM missed_because WHERE important GROUP BY reason"
        " ORDER BY count(*) DESC, reason"
    ).fetchall()
    return [{"reason": reason, "meaning": WORDS[reason], "count": n} for reason, n in rows]


def _by_host(side: Side, known: bool) -> list[dict[str, Any]]:
    """The hosts with most important pages, and of each how many there are for each reason."""
    reasons = ", ".join(f"count(*) FILTER (reason = '{reason}')" for reason in WORDS)
    rows = side.finished.db.execute(
        f"SELECT split_part(key, ')', 1) AS host, count(*) AS pages, {reasons} FROM missed_because"
        f" WHERE important GROUP BY host ORDER BY pages DESC, host LIMIT {HOSTS}"
    ).fetchall()
    return [
        {"host": host_name(host), "count": pages}
        | dict(zip(WORDS, counts if known else [None] * len(WORDS), strict=True))
        for host, pages, *counts in rows
    ]


def _rows(side: Side, csr: Csr | None, ids: list[int], known: bool) -> list[dict[str, Any]]:
    nodes = side.finished.nodes(ids)
    rows_of_best = side.finished.db.execute(
        "SELECT id, reason, status FROM missed_because WHERE id IN (SELECT unnest($ids))",
        {"ids": ids},
    ).fetchall()
    reasons = {node: (reason, status) for node, reason, status in rows_of_best}
    rows = []
    for node in ids:
        reason, status = reasons[node] if known else (None, None)
        inlinks = None if csr is None else int(np.diff(csr.offsets[node : node + 2])[0])
        rows.append(
            {
                "position": int(side.places[node]),
                "uri": nodes[node].uri,
                "score": float(side.scores[node]),
                "class": int(side.classes[node]),
                "inlinks": inlinks,
                "reason": reason,
                "status": status,
            }
        )
    return rows
