"""join-scores: every node with its score, its key and one of its spellings, best first.

scores/scores.parquet has the rows of jobs/join_scores.py with all columns. The URI is the best
spelling of the key (jobs/kernel/formats/order.py). Captures and last are of all its spellings.
Order: by rounded score, best first, then by key, which is by id.

Nothing is looked up by a string: uris are sorted by key number, so the spellings of a node are
consecutive and in the order of the ids. DuckDB then sorts by place, an integer, within its memory
limit. Memory: NODE_BYTES a node while the order is computed, KEPT_BYTES besides DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.order import DIGITS, GREATEST
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.pipeline.data.arrays import missing, numbered, open_ids
from crawlrank.pipeline.data.csr import Csr, open_csr
from crawlrank.pipeline.data.database import (
    LEAST,
    batches,
    database,
    feed,
    read_ahead,
    write_behind,
)
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.data.graph import Floats, Mask, Positions
from crawlrank.pipeline.data.memory import require_memory
from crawlrank.pipeline.data.parquet import parquet_batches, reading
from crawlrank.pipeline.data.scores_file import SCHEMA, open_scores, scores_writer
from crawlrank.pipeline.ranking.classes import CUT_BYTES, Order, order_of, places_of

FIXED = 300 << 20  # bytes for Python, its libraries and batches
NODE_BYTES = 8 + CUT_BYTES  # scores, and finding their order
KEPT_BYTES = 8 + 4 + 4 + 8 + 4 + 8  # scores, order, places, both degrees, and ids of keys
CURE = "Give ranks, map, uris and graph of one and the same run."
TOTALLED = pa.schema(
    [
        ("number", pa.int64()), ("key", pa.string()), ("uri", pa.string()),
        ("captures", pa.int64()), ("links", pa.int64()), ("last", pa.string()),
        ("total", pa.int64()),
    ]
)  # fmt: skip
PLACED = pa.schema(
    [
        ("place", pa.int64()), ("uri", pa.string()), ("key", pa.string()),
        ("captures", pa.int64()), ("last", pa.string()),
    ]
)  # fmt: skip


def join_scores(
    ranks: Path,
    ids: Path,
    uris: Path,
    graph: Path,
    output: Path,
    tmp: Path,
    *,
    budget: int,
    digits: int = DIGITS,
    threads: int = 1,
) -> int:
    """Write the file `output` and return its rows, one for each node.

    ranks: scores.npy. ids: of key numbers. graph: the folder of a CSR. digits: scores with the same
    significant digits count as equal. budget: bytes of memory. Raises BadInput where the files do
    not match.
    """
    csr = open_csr(graph, edges=False)
    require_memory("join-scores", csr.nodes, NODE_BYTES, budget, fixed=LEAST)
    scores, of_keys = open_scores(ranks, csr.nodes), open_ids(ids)
    order = order_of(scores, digits)
    places = places_of(order)
    left = budget - FIXED - KEPT_BYTES * len(places)
    rows = reading(uris, _placed(uris, of_keys, places))
    output.parent.mkdir(parents=True, exist_ok=True)
    with (
        database(tmp, budget=left, threads=threads) as (db, _),
        replacing(output) as path,
        scores_writer(path) as file,
    ):
        feed(db, "placed", PLACED, rows)
        ordered = batches(db, "SELECT * FROM placed ORDER BY place")
        write_behind(file, _columns(ordered, scores, order, csr))
    return len(scores)


def _placed(uris: Path, ids: npt.NDArray[Any], places: Order) -> Iterator[pa.RecordBatch]:
    """The chosen spelling of every node, with its place; in the order of the ids."""
    wanted, known = ids != missing(ids), 0
    spellings = read_ahead(parquet_batches(uris, TOTALLED.names[:-1]))
    for keys in one_row_a_key(numbered(uris, spellings, len(ids)), wanted):
        nodes = ids[keys["number"].to_numpy()].astype(np.int64)
        known += len(nodes)
        if known > len(places):
            break
        columns = [keys[name] for name in ("uri", "key", "total", "last")]
        yield pa.record_batch([pa.array(places[nodes].astype(np.int64)), *columns], PLACED)
    if known != len(places):
        what = f"spellings of {known} nodes" if known < len(places) else "more nodes than scores"
        raise BadInput(str(uris), what, f"of {len(places)}", CURE)


def one_row_a_key(spellings: Iterable[pa.RecordBatch], wanted: Mask) -> Iterator[pa.RecordBatch]:
    """One row for each wanted number: the chosen spelling, with the captures of all spellings in
    the column total and the latest timestamp. wanted: by number. Rows of a number are consecutive,
    by URI.
    """
    opened: pa.RecordBatch | None = None  # the row of the latest key, whose rows may continue
    for batch in spellings:
        if not len(batch):
            continue
        rows = pa.record_batch([*batch.columns, batch["captures"]], TOTALLED)
        if opened is not None:
            numbers, latest = rows["number"].to_numpy(), opened["number"][0].as_py()
            if same := int(np.searchsorted(numbers, latest, side="right")):
                both = pa.Table.from_batches([opened, rows[:same]]).combine_chunks()
                opened, rows = _chosen(both.to_batches()[0]), rows[same:]
            if not len(rows):
                continue
            yield _of(opened, wanted)
        end = np.searchsorted(rows["number"].to_numpy(), rows["number"][-1].as_py())
        yield _chosen(rows[:end], wanted)
        opened = _chosen(rows[end:])
    if opened is not None:
        yield _of(opened, wanted)


def _of(rows: pa.RecordBatch, wanted: Mask) -> pa.RecordBatch:
    return rows.filter(pa.array(wanted[rows["number"].to_numpy()]))


def _chosen(rows: pa.RecordBatch, wanted: Mask | None = None) -> pa.RecordBatch:
    """One row for each number, or for each wanted one."""
    numbers = rows["number"].to_numpy()
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])[: len(rows)])
    if not len(starts):
        return rows
    chosen = _first_best(starts, *(rows[column].to_numpy() for column in GREATEST))
    latest = _first_best(starts, _seconds(rows["last"]))
    totals = np.add.reduceat(rows["total"].to_numpy(), starts)
    if wanted is not None:
        kept = wanted[numbers[starts]]
        chosen, latest, totals = chosen[kept], latest[kept], totals[kept]
    best = rows.take(pa.array(chosen))
    columns = [best[name] for name in ("number", "key", "uri", "captures", "links")]
    last = rows["last"].take(pa.array(latest))
    return pa.record_batch([*columns, last, pa.array(totals)], rows.schema)


def _first_best(starts: Positions, *columns: npt.NDArray[np.int64]) -> Positions:
    """For each start, the first row before the next start with the greatest values of the columns,
    the first column before the others."""
    count = len(columns[0])
    sizes, best = np.diff(np.append(starts, count)), np.ones(count, bool)
    if len(starts) == count:
        return starts
    for column in columns:
        values = np.where(best, column, -2)  # below all values
        best &= values == np.repeat(np.maximum.reduceat(values, starts), sizes)
    result: Positions = np.minimum.reduceat(np.where(best, np.arange(count), count), starts)
    return result


def _seconds(timestamps: pa.StringArray) -> npt.NDArray[np.int64]:
    """Timestamps as numbers, -1 for an unknown one. Raises ValueError."""
    known = pc.replace_with_mask(timestamps, pc.equal(timestamps, UNKNOWN.decode()), "-1")
    seconds: npt.NDArray[np.int64] = known.cast(pa.int64()).to_numpy()
    return seconds


def _columns(
    ordered: Iterable[pa.RecordBatch], scores: Floats, order: Order, csr: Csr
) -> Iterator[pa.Table]:
    """Rows in order, with the columns from arrays by id."""
    total, done = float(scores.sum()), 0
    for batch in ordered:
        nodes = order[done : done + len(batch)].astype(np.int64)
        done += len(batch)
        inlinks = csr.offsets[nodes + 1] - csr.offsets[nodes]
        outlinks = csr.outdegrees[nodes].astype(np.int64)
        with np.errstate(invalid="ignore"):  # all scores may be 0
            shares = scores[nodes] / total
        columns = {
            "score": scores[nodes], "uri": batch["uri"], "key": batch["key"], "id": nodes,
            "inlinks": inlinks, "outlinks": outlinks, "captures": batch["captures"],
            "last": batch["last"], "probability": shares,
        }  # fmt: skip
        yield pa.table(columns, SCHEMA)
