"""What an audit finds: a crawl, by its logs, against the precedence file that it was to follow."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np

from jobs.kernel.errors import BadInput
from pipeline.analysis.audit import crawl_log, entries
from pipeline.analysis.audit.causes import Cause, count_respelled, find_causes
from pipeline.analysis.audit.joining import (
    HOST,
    ORDERED,
    TOLD_APART,
    arrays,
    join,
    label,
    load_entries,
    load_log,
    numbers,
)
from pipeline.analysis.audit.order import CLASSES, NOTHING, Integers, ManyOrders, Measure, Orders
from pipeline.data.database import database

BINS = 3840  # of fetch positions; with fewer fetches each is a bin of its own
DEPTHS = 64  # and all that are deeper
EXAMPLES = 5
READING = 170 << 20  # bytes that reading and handing over take, besides what DuckDB keeps to
READ_ON = frozenset(map(ord, "-L"))  # hops that wait for their turn by precedence, seeds first


@dataclass
class ClassRow:
    """Of a class: precedences as the file writes them; its URIs that are listed, of these fetched,
    tried without an answer, never met; places of fetches from 1 (None: none that count for the
    order); begin of the first in ms since 1970."""

    label: str
    listed: int = 0
    fetched: int = 0
    tried: int = 0
    first: int | None = None
    median: int | None = None
    last: int | None = None
    begin: int | None = None

    @property
    def never(self) -> int:
        return self.listed - self.fetched - self.tried


@dataclass
class Audit:
    """log, file: what was read. counts: see `_counts`. classes: by class as Heritrix keeps it,
    -1 for unlisted URIs. unlisted: by likely cause. statuses: of listed URIs without an answer.
    never: examples of listed URIs that are not in the log; respelled: those of which another
    spelling was fetched. all, hops, depths, hosts: how the order
    of fetches keeps to the classes of listed URIs, within each; within: all pairs of one host.
    before: pairs of a listed and an unlisted URI, both seeds or both links, wrong where the
    unlisted one came first.
    positions: fetches by class (row CLASSES: unlisted) and bin of their place."""

    log: crawl_log.Read
    file: entries.Read
    counts: dict[str, Any]
    classes: dict[int, ClassRow] = field(default_factory=dict)
    unlisted: dict[str, Cause] = field(default_factory=dict)
    statuses: dict[int, int] = field(default_factory=dict)
    never: list[str] = field(default_factory=list)
    respelled: int = 0
    all: Measure = NOTHING
    within: Measure = NOTHING
    before: Measure = NOTHING
    hops: dict[str, Measure] = field(default_factory=dict)
    depths: dict[int, Measure] = field(default_factory=dict)
    hosts: list[tuple[str, Measure]] = field(default_factory=list)
    host_count: int = 0
    positions: Integers = field(default_factory=lambda: np.zeros((0, 0), np.int64))

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

    budget: bytes for what is joined and sorted; beyond, it goes to a folder in tmp. by: what the
    order of fetches is, their begin or the lines of the logs as given. Raises BadInput for files
    that are none, or that Heritrix's loader stores nothing of.
    """
    with (
        tempfile.TemporaryDirectory(prefix="crawlrank-", dir=tmp) as folder,
        database(Path(folder), budget=budget - READING, threads=threads) as (db, _),
    ):
        file, log = entries.Read(), crawl_log.Read()
        load_entries(db, entries.read_entries(precedence, file))
        file.require_loaded(precedence)
        load_log(db, crawl_log.read_logs(list(logs), log), by=by)
        join(db)
        found = Audit(log, file, _counts(db))
        _by_class(db, found)
        _order(db, found)
        _by_host(db, found)
        found.unlisted = find_causes(db)
        found.respelled = count_respelled(db)
        return found


def _counts(db: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """listed, duplicates, unmet: URIs of the file that a crawl meets, lines overruled by a later
    one, URIs that it would meet if their form were mended. uris: of the log, each once; answered,
    tried: with or without an answer. ordered: those whose order counts. prerequisites, inferred,
    other_schemes: told apart; listed_apart: of these listed."""
    apart = f"answered AND NOT ({ORDERED})"
    prerequisite, inferred = (f"hop = {ord(letter)}" for letter in TOLD_APART)
    conditions = {
        "answered": "answered",
        "tried": "NOT answered",
        "ordered": ORDERED,
        "prerequisites": f"answered AND {prerequisite}",
        "inferred": f"answered AND {inferred}",
        "other_schemes": f"{apart} AND NOT {prerequisite} AND NOT {inferred}",
        "listed_apart": f"{apart} AND class IS NOT NULL",
    }
    counted = ", ".join(f"count(*) FILTER ({what}) AS {name}" for name, what in conditions.items())
    queries = (
        "SELECT count(*) AS listed, (coalesce(sum(times), 0) - count(*))::BIGINT AS duplicates"
        " FROM listed",
        "SELECT count(*) AS unmet FROM mended",
        f"SELECT count(*) AS uris, {counted}, min(begin) AS first, max(begin) AS last FROM seen",
        "SELECT count(*) AS lines FROM fetches",
    )
    return {name: value for query in queries for name, value in numbers(db, query).items()}


def _by_class(db: duckdb.DuckDBPyConnection, found: Audit) -> None:
    rows = db.execute("SELECT class, count(*) FROM listed GROUP BY class").fetchall()
    for its_class, listed in rows:
        if its_class is not None:
            found.classes[its_class] = ClassRow(label(its_class), listed)
    rows = db.execute(
        "SELECT class, count(*) FILTER (answered), count(*) FILTER (NOT answered) FROM seen"
        " WHERE class IS NOT NULL GROUP BY class"
    ).fetchall()
    for its_class, answered, tried in rows:
        found.classes[its_class].fetched, found.classes[its_class].tried = answered, tried
    found.classes = dict(sorted(found.classes.items()))
    found.statuses = dict(
        db.execute(
            "SELECT status, count(*) FROM seen WHERE class IS NOT NULL AND NOT answered"
            " GROUP BY status ORDER BY count(*) DESC, status"
        ).fetchall()
    )
    found.never = [
        uri
        for (uri,) in db.execute(
            "SELECT uri FROM listed ANTI JOIN seen USING (uri) WHERE class IS NOT NULL"
            f" ORDER BY class, uri LIMIT {EXAMPLES}"
        ).fetchall()
    ]


def _order(db: duckdb.DuckDBPyConnection, found: Audit) -> None:
    total = found.counts["ordered"]
    bins = max(1, min(BINS, total))
    found.positions = np.zeros((CLASSES + 1, bins), np.int64)
    every, hops, depths, listing = Orders(1), Orders(256), Orders(DEPTHS), Orders(256)
    at = 0
    query = f"SELECT coalesce(class, -1) AS class, hop, depth, begin FROM seen WHERE {ORDERED}"
    for rows in arrays(db, f"{query} ORDER BY place"):
        classes, places = rows["class"], at + np.arange(len(rows["class"]))
        np.add.at(found.positions, (classes, places * bins // max(1, total)), 1)
        _first_and_last(found, classes, places, rows["begin"])
        listed = classes >= 0
        of_listed = classes[listed]
        every.add(np.zeros_like(of_listed), of_listed)
        hops.add(rows["hop"][listed], of_listed)
        depths.add(np.minimum(rows["depth"][listed], DEPTHS - 1), of_listed)
        waiting = np.isin(rows["hop"], list(READ_ON))
        listing.add(rows["hop"][waiting], (~listed[waiting]).astype(np.int64))
        at += len(classes)
    found.all = every.measures().get(0, NOTHING)
    found.before = sum(listing.measures().values(), NOTHING)
    found.hops = {chr(hop): measure for hop, measure in hops.measures().items()}
    found.depths = depths.measures()
    for its_class, row in found.classes.items():
        counts = found.positions[its_class]
        if counts.any():
            middle = int(np.searchsorted(np.cumsum(counts), (counts.sum() + 1) // 2))
            row.median = 1 + middle * total // bins


def _first_and_last(found: Audit, classes: Integers, places: Integers, begins: Integers) -> None:
    """Of the places of a batch, for each class. Unlisted ones get a row of their own."""
    numbers, firsts = np.unique(classes, return_index=True)
    lasts = len(classes) - 1 - np.unique(classes[::-1], return_index=True)[1]
    for its_class, first, last in zip(numbers.tolist(), firsts, lasts, strict=True):
        row = found.classes.setdefault(its_class, ClassRow("unlisted"))
        if row.first is None:
            row.first, row.begin = 1 + int(places[first]), int(begins[first])
        row.last = 1 + int(places[last])


def _by_host(db: duckdb.DuckDBPyConnection, found: Audit) -> None:
    where = f"{ORDERED} AND class IS NOT NULL"
    db.execute(
        "CREATE TABLE host AS SELECT host, row_number() OVER (ORDER BY host) AS number"
        f" FROM (SELECT DISTINCT {HOST} AS host FROM seen WHERE {where})"
    )
    orders = ManyOrders()
    query = (
        f"SELECT number, class FROM seen JOIN host ON {HOST} = host WHERE {where}"
        " ORDER BY number, place"
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
    found.hosts = [(names[number], measure) for number, measure in largest]
    found.within, found.host_count = orders.within, orders.groups


def require_unharmed(found: Audit) -> None:
    """Raise BadInput for bad lines of a log, for who wants none at all."""
    for kind, places in found.log.places.items():
        name, line, text = places[0]
        raise BadInput(
            f"{name}, line {line}", f"{kind}: {text.rstrip()!a}",
            "no such line, with --strict", crawl_log.EXPECTED,
        )  # fmt: skip
