"""The results of an audit: a crawl, by its logs, against the precedence file it was to follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.analysis.audit import crawl_log, entries
from crawlrank.pipeline.analysis.audit.causes import (
    Annotations,
    Cause,
    count_respelled,
    find_annotations,
    find_causes,
)
from crawlrank.pipeline.analysis.audit.entries import (
    HOST,
    ORDERED,
    UNORDERED_HOPS,
    arrays,
    join,
    label,
    load_entries,
    load_log,
    numbers,
)
from crawlrank.pipeline.analysis.audit.order import (
    CLASSES,
    NOTHING,
    Holder,
    ManyOrders,
    Measure,
    Orders,
    find_holders,
)
from crawlrank.pipeline.data.arrays import Int64Array
from crawlrank.pipeline.data.database import database

BINS = 3840  # of fetch positions; with fewer fetches each has a bin of its own
DEPTHS = 64  # the last one holds all deeper URIs
EXAMPLES = 5
READING = 170 << 20  # bytes for reading logs and handing rows over, beyond DuckDB's own limit
QUEUED_HOPS = tuple(map(ord, "-LM"))  # seeds, links, manifests: fetched in the order of precedence


@dataclass
class ClassRow:
    """A class. label: its precedences as the file writes them. listed: its URIs; fetched, tried:
    of these, with an answer and without one; respelled: fetched in another spelling only. first,
    median, last: positions of its fetches from 1,
    None without a fetch that counts for the order. begin: of the first fetch, in ms since 1970."""

    label: str
    listed: int = 0
    fetched: int = 0
    tried: int = 0
    respelled: int = 0
    first: int | None = None
    median: int | None = None
    last: int | None = None
    begin: int | None = None

    @property
    def never(self) -> int:
        """Listed URIs that are not in the log."""
        return self.listed - self.fetched - self.tried

    @property
    def missing(self) -> int:
        """Listed URIs that are not in the log in any spelling."""
        return self.never - self.respelled


@dataclass
class Audit:
    """log, file: what was read. counts: see `_counts`. classes: by class as Heritrix keeps it,
    -1 for unlisted URIs. unlisted: by likely cause. statuses: of listed URIs without an answer.
    never: examples of listed URIs that are not in the log.

    all, hops, depths, hosts: how the order of fetches keeps to the classes of listed URIs, within
    each group; within: all pairs of one host. before: pairs of a listed and an unlisted URI of one
    host, both seeds or both links; wrong: the unlisted one came first; unlisted_queued: how many
    unlisted URIs such pairs may have. positions: fetches by class (row
    CLASSES: unlisted) and bin. annotations: what Heritrix noted, if it did. holders: URIs that may
    have put their hosts before others."""

    log: crawl_log.LogReport
    file: entries.EntriesReport
    counts: dict[str, Any]
    classes: dict[int, ClassRow] = field(default_factory=dict)
    unlisted: dict[str, Cause] = field(default_factory=dict)
    statuses: dict[int, int] = field(default_factory=dict)
    never: list[str] = field(default_factory=list)
    all: Measure = NOTHING
    within: Measure = NOTHING
    before: Measure = NOTHING
    unlisted_queued: int = 0
    hops: dict[str, Measure] = field(default_factory=dict)
    depths: dict[int, Measure] = field(default_factory=dict)
    hosts: list[tuple[str, Measure]] = field(default_factory=list)
    host_count: int = 0
    annotations: Annotations | None = None
    holders: list[Holder] = field(default_factory=list)
    positions: Int64Array = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    @property
    def respelled(self) -> int:
        return sum(row.respelled for row in self.classes.values())

    @property
    def across(self) -> Measure:
        """All pairs of different hosts."""
        return self.all - self.within


def audit(
    precedence: Path,
    logs: Sequence[Path],
    *,
    budget: int,
    threads: int,
    by: Literal["begin", "line"] = "begin",
    tmp: Path | None = None,
) -> Audit:
    """Compare a precedence file with the logs of one crawl.

    budget: bytes for joins and sorts; what is larger goes to a folder in tmp. by: fetches are in
    the order of their `begin`, or of the lines of the logs as given. Raises BadInput for a file
    that cannot be used, or of which Heritrix's loader stores nothing.
    """
    with (
        temporary_folder(tmp) as folder,
        database(folder, budget=budget - READING, threads=threads) as (db, _),
    ):
        file, log = entries.EntriesReport(), crawl_log.LogReport()
        load_entries(db, entries.read_entries(precedence, file))
        file.require_loaded(precedence)
        load_log(db, crawl_log.read_logs(list(logs), log), by=by)
        join(db)
        result = Audit(log, file, _counts(db))
        _add_classes(db, result)
        _add_order(db, result)
        _add_hosts(db, result)
        _add_unlisted(db, result)
        result.annotations = find_annotations(db)
        result.holders = find_holders(db)
        result.unlisted = find_causes(db)
        for number, respelled in count_respelled(db).items():
            result.classes[number].respelled = respelled
        return result


def _counts(db: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """listed, duplicates, unmet: URIs of the file that a crawl looks up, lines overruled by a later
    one, URIs that it would look up if their form were mended. uris: of the log, each once;
    answered, tried: with or without an answer. ordered: those whose order counts. prerequisites,
    inferred, other_schemes: those whose order does not; listed_apart: of these listed."""
    apart = f"answered AND NOT ({ORDERED})"
    prerequisite, inferred = (f"hop = {ord(letter)}" for letter in UNORDERED_HOPS)
    conditions = {
        "answered": "answered",
        "tried": "NOT answered",
        "ordered": ORDERED,
        "prerequisites": f"answered AND {prerequisite}",
        "inferred": f"answered AND {inferred}",
        "other_schemes": f"{apart} AND NOT {prerequisite} AND NOT {inferred}",
        "listed_apart": f"{apart} AND class IS NOT NULL",
    }
    columns = ", ".join(f"count(*) FILTER ({test}) AS {name}" for name, test in conditions.items())
    queries = (
        "SELECT count(*) AS listed, (coalesce(sum(times), 0) - count(*))::BIGINT AS duplicates"
        " FROM listed",
        "SELECT count(*) AS unmet FROM mended",
        f"SELECT count(*) AS uris, {columns}, min(begin) AS first, max(begin) AS last FROM seen",
        "SELECT count(*) AS lines FROM fetches",
    )
    return {name: value for query in queries for name, value in numbers(db, query).items()}


def _add_classes(db: duckdb.DuckDBPyConnection, result: Audit) -> None:
    rows = db.execute("SELECT class, count(*) FROM listed GROUP BY class").fetchall()
    for number, listed in rows:
        if number is not None:
            result.classes[number] = ClassRow(label(number), listed)
    rows = db.execute(
        "SELECT class, count(*) FILTER (answered), count(*) FILTER (NOT answered) FROM seen"
        " WHERE class IS NOT NULL GROUP BY class"
    ).fetchall()
    for number, answered, tried in rows:
        result.classes[number].fetched, result.classes[number].tried = answered, tried
    result.classes = dict(sorted(result.classes.items()))
    result.statuses = dict(
        db.execute(
            "SELECT status, count(*) FROM seen WHERE class IS NOT NULL AND NOT answered"
            " GROUP BY status ORDER BY count(*) DESC, status"
        ).fetchall()
    )
    result.never = [
        uri
        for (uri,) in db.execute(
            "SELECT uri FROM listed ANTI JOIN seen USING (uri) WHERE class IS NOT NULL"
            f" ORDER BY class, uri LIMIT {EXAMPLES}"
        ).fetchall()
    ]


def _add_order(db: duckdb.DuckDBPyConnection, result: Audit) -> None:
    total = result.counts["ordered"]
    bins = max(1, min(BINS, total))
    result.positions = np.zeros((CLASSES + 1, bins), np.int64)
    of_all, hops, depths = Orders(1), Orders(256), Orders(DEPTHS)
    at = 0
    query = f"SELECT coalesce(class, -1) AS class, hop, depth, begin FROM seen WHERE {ORDERED}"
    for rows in arrays(db, f"{query} ORDER BY position"):
        classes, positions = rows["class"], at + np.arange(len(rows["class"]))
        np.add.at(result.positions, (classes, positions * bins // max(1, total)), 1)
        _add_first_and_last(result, classes, positions, rows["begin"])
        listed = classes >= 0
        of_listed = classes[listed]
        of_all.add(np.zeros_like(of_listed), of_listed)
        hops.add(rows["hop"][listed], of_listed)
        depths.add(np.minimum(rows["depth"][listed], DEPTHS - 1), of_listed)
        at += len(classes)
    result.all = of_all.measures().get(0, NOTHING)
    result.hops = {chr(hop): measure for hop, measure in hops.measures().items()}
    result.depths = depths.measures()
    for number, row in result.classes.items():
        counts = result.positions[number]
        if counts.any():
            middle = int(np.searchsorted(np.cumsum(counts), (counts.sum() + 1) // 2))
            row.median = 1 + middle * total // bins


def _add_first_and_last(
    result: Audit, classes: Int64Array, positions: Int64Array, begins: Int64Array
) -> None:
    """The first and the last position of each class in a batch. Unlisted URIs get a row too."""
    numbers, firsts = np.unique(classes, return_index=True)
    lasts = len(classes) - 1 - np.unique(classes[::-1], return_index=True)[1]
    for number, first, last in zip(numbers.tolist(), firsts, lasts, strict=True):
        row = result.classes.setdefault(number, ClassRow("unlisted"))
        if row.first is None:
            row.first, row.begin = 1 + int(positions[first]), int(begins[first])
        row.last = 1 + int(positions[last])


def _add_hosts(db: duckdb.DuckDBPyConnection, result: Audit) -> None:
    condition = f"{ORDERED} AND class IS NOT NULL"
    db.execute(
        "CREATE TABLE host AS SELECT host, row_number() OVER (ORDER BY host) AS number"
        f" FROM (SELECT DISTINCT {HOST} AS host FROM seen WHERE {condition})"
    )
    orders = ManyOrders()
    query = (
        f"SELECT number, class FROM seen JOIN host ON {HOST} = host WHERE {condition}"
        " ORDER BY number, position"
    )
    for rows in arrays(db, query):
        orders.add(rows["number"], rows["class"])
    largest = orders.end()
    names = dict(
        db.execute(
            "SELECT number, host FROM host WHERE list_contains($numbers, number)",
            {"numbers": [number for number, _ in largest]},
        ).fetchall()
    )
    result.hosts = [(names[number], measure) for number, measure in largest]
    result.within, result.host_count = orders.within, orders.groups


def _add_unlisted(db: duckdb.DuckDBPyConnection, result: Audit) -> None:
    """Whether listed URIs came before unlisted ones of their host that were queued as they were."""
    orders = ManyOrders()
    query = (
        f"SELECT dense_rank() OVER (ORDER BY {HOST}, hop) AS number, (class IS NULL)::BIGINT AS"
        f" unlisted FROM seen WHERE {ORDERED} AND hop IN {QUEUED_HOPS} ORDER BY number, position"
    )
    for rows in arrays(db, query):
        orders.add(rows["number"], rows["unlisted"])
        result.unlisted_queued += int(rows["unlisted"].sum())
    orders.end()
    result.before = orders.within


def require_unharmed(result: Audit) -> None:
    """Raise BadInput for the first bad line of a log."""
    for kind, (bad, *_) in result.log.bad_lines.items():
        raise BadInput(
            f"{bad.path}, line {bad.line}", f"{kind}: {bad.text.rstrip()!a}",
            "no such line, with --strict", crawl_log.EXPECTED,
        )  # fmt: skip
