"""The input of a precedence file: the score of every node, and every spelling of a key.

Nodes are positions here, 0 to N-1 in the order of their keys. The embedded engine's datasets are
joined by numbers (`ByNumber`). All others, text or Parquet, are joined by their keys (`ByKey`),
which DuckDB sorts within its memory limit.

The classes of validate-opic are cut as those of the file: `spelled_nodes` tells which nodes of a
graph were captured, and which are preferred among equal ones.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import MAP
from crawlrank.jobs.kernel.formats.lines import parse_map_row, parse_score_row, parse_uri_row
from crawlrank.jobs.kernel.formats.reading import read_all, read_rows
from crawlrank.pipeline.data.arrays import numbered, open_ids
from crawlrank.pipeline.data.database import LEAST, batches, database, limit, read_ahead
from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.data.memory import require_memory
from crawlrank.pipeline.data.parquet import parquet_batches, parquet_file, schema_of
from crawlrank.pipeline.ranking.classes import SpelledNodes, tie_weights

STEP = "export-precedence"
BATCH = 100_000
FIXED = 300 << 20  # bytes, for Python, its libraries and the current batches
NO_NODE = -1
_SPELLING = [("uri", pa.string()), ("captured", pa.bool_()), ("weight", pa.uint64())]
SPELLINGS = pa.schema([("node", pa.int64()), *_SPELLING, ("listed", pa.bool_())])
SCORED = pa.schema([("key", pa.string()), ("uri", pa.string()), ("score", pa.float64())])
SPELLED = pa.schema([("key", pa.string()), *_SPELLING])
COUNTED = pa.schema(
    [
        ("key", pa.string()), ("uri", pa.string()), ("captures", pa.int64()), ("links", pa.int64())
    ]
)  # fmt: skip
MAPPED = schema_of(MAP.columns)
SPELLED_TABLE = "CREATE TABLE spelled (key VARCHAR, uri VARCHAR, captured BOOLEAN, weight UBIGINT)"
GRAPH_BUDGET = 2 << 30  # bytes, to join the map of a graph with uris
OF_ONE_RUN = "Give the uris, the map and the graph of one and the same run."


class Scored(Protocol):
    """scores: float64[N], by position."""

    scores: Floats

    def spellings(self) -> Iterator[pa.RecordBatch]:
        """Every spelling, as SPELLINGS; NO_NODE for a key without score. To be called only once.
        weight: as of tie_weights, or 0. listed: whether its page is one of those to list."""

    def key(self, node: int) -> str:
        """The key of the node at a position, for a message."""


@contextlib.contextmanager
def open_scored(
    scores: str | Path,
    uris: str | Path | None,
    ids: Path | None,
    tmp: Path,
    *,
    budget: int,
    threads: int,
    node_bytes: int = 0,
    weighed: bool = False,
    keys: Path | None = None,
) -> Iterator[Scored]:
    """Scores and their spellings; without uris, the URIs of the scores are the only spellings.

    ids: the ids of key numbers, if all datasets are the embedded engine's. budget: bytes of memory;
    DuckDB gets half of them, or less if the nodes, at node_bytes each, need more. weighed: whether
    spellings have weights, else 0. keys: the pages to list, a file of Parquet; None: all. Raises
    BadInput, also for no scores, two scores of a key and too
    little memory.
    """
    if ids is not None and uris is not None and keys is None:
        yield ByNumber(Path(scores), Path(uris), ids, budget, node_bytes, weighed=weighed)
        return
    left = max(0, budget - FIXED)
    with database(tmp, budget=left // 2, threads=threads) as (db, _):
        scored = ByKey(db, scores, uris, budget, node_bytes, weighed=weighed, keys=keys)
        limit(db, min(left // 2, left - node_bytes * len(scored.scores)))
        yield scored


class ByNumber:
    """The embedded engine's: ids are positions, and the spellings have the number of their key."""

    def __init__(
        self,
        scores: Path,
        uris: Path,
        ids: Path,
        budget: int,
        node_bytes: int,
        *,
        weighed: bool = False,
    ) -> None:
        self._columns = spelled_columns(weighed)
        require_memory(STEP, _rows(scores), node_bytes, budget, fixed=LEAST)
        self._path, self._uris = scores, uris
        self.scores = _by_id(scores)
        self._ids = open_ids(ids, len(self.scores))
        self._none = np.iinfo(self._ids.dtype).max

    def spellings(self) -> Iterator[pa.RecordBatch]:
        rows = read_ahead(parquet_batches(self._uris, ("number", *self._columns)))
        for batch in numbered(self._uris, rows, len(self._ids)):
            ids = self._ids[batch["number"].to_numpy()]
            nodes = np.where(ids == self._none, NO_NODE, ids.astype(np.int64))
            captured = pc.greater(batch["captures"], 0)
            listed = pa.array(np.ones(len(batch), bool))
            columns = [pa.array(nodes), batch["uri"], captured, _weights(batch), listed]
            yield pa.record_batch(columns, SPELLINGS)

    def key(self, node: int) -> str:
        for batch in parquet_batches(self._path, ("id", "key")):
            rows = np.flatnonzero(batch["id"].to_numpy() == node)
            if len(rows):
                return str(batch["key"][int(rows[0])])
        return f"id {node}"


def _by_id(scores: Path) -> Floats:
    """The scores in the order of their ids, 0 to N-1."""
    count = _rows(scores)
    if not count:
        raise BadInput(str(scores), "no scores", "at least one row", "Run join-scores first.")
    result = np.full(count, np.nan)
    for batch in parquet_batches(scores, ("id", "score")):
        ids, values = batch["id"].to_numpy(), batch["score"].to_numpy()
        known = (ids >= 0) & (ids < count)
        result[ids[known]] = values[known]
    if np.isnan(result).any():
        lacking = f"no score of id {int(np.flatnonzero(np.isnan(result))[0])}"
        raise BadInput(str(scores), lacking, f"one for each id below {count}", "Run join-scores.")
    return result


def _rows(scores: Path) -> int:
    return sum(len(batch) for batch in parquet_batches(scores, ("id",)))


class ByKey:
    """Any scores and uris, in tables of DuckDB."""

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        scores: str | Path,
        uris: str | Path | None,
        budget: int | None = None,
        node_bytes: int = 0,
        *,
        weighed: bool = False,
        keys: Path | None = None,
    ) -> None:
        self._db = db
        self._listed = "true"
        if keys is not None:
            db.execute("CREATE TABLE listed_keys (key VARCHAR)")
            insert(db, "listed_keys", parquet_batches(keys, ["key"]))
            self._listed = "key IN (SELECT key FROM listed_keys)"
        db.execute("CREATE TABLE scored (key VARCHAR, uri VARCHAR, score DOUBLE)")
        insert(db, "scored", _score_batches(scores))
        nodes = self._check(str(scores))
        if budget is not None:
            require_memory(STEP, nodes, node_bytes, budget, fixed=LEAST)
        db.execute(SPELLED_TABLE)
        if uris is None:
            db.execute("INSERT INTO spelled SELECT key, uri, false, 0 FROM scored")
        else:
            insert(db, "spelled", spelled_batches(uris, weighed=weighed))
        self.scores: Floats = np.empty(nodes)
        at = 0
        for batch in batches(db, "SELECT score FROM scored ORDER BY key"):
            self.scores[at : at + len(batch)] = batch["score"].to_numpy()
            at += len(batch)

    def _check(self, path_or_url: str) -> int:
        """The number of scores. Raises BadInput for none, or two of a key."""
        query = "SELECT min(key) FROM scored GROUP BY key HAVING count(*) > 1 LIMIT 1"
        if twice := self._db.execute(query).fetchone():
            raise BadInput(path_or_url, f"two scores for the key {twice[0]}", "one line for a key")
        (nodes,) = self._db.execute("SELECT count(*) FROM scored").fetchall()[0]
        if not nodes:
            raise BadInput(path_or_url, "no scores", "at least one line", "Run join-scores first.")
        return int(nodes)

    def spellings(self) -> Iterator[pa.RecordBatch]:
        query = (
            f"SELECT coalesce(node, {NO_NODE})::BIGINT AS node, uri, captured, weight,"
            f" {self._listed} AS listed FROM spelled"
            " LEFT JOIN (SELECT key, row_number() OVER (ORDER BY key) - 1 AS node FROM scored)"
            " USING (key)"
        )
        for batch in batches(self._db, query):
            yield pa.record_batch(batch.columns, SPELLINGS)

    def key(self, node: int) -> str:
        query = "SELECT key FROM scored ORDER BY key LIMIT 1 OFFSET $node"
        row = self._db.execute(query, {"node": node}).fetchone()
        return str(row[0]) if row else f"number {node}"


def _score_batches(scores: str | Path) -> Iterator[pa.RecordBatch]:
    if path := parquet_file(scores):
        yield from parquet_batches(path, SCORED.names)
        return
    rows = ((decoded(r.key), decoded(r.uri), r.score) for r in read_rows(scores, parse_score_row))
    yield from row_batches(SCORED, rows)


def spelled_columns(weighed: bool) -> tuple[str, ...]:
    """The columns that are read of a spelling, besides its key; without ties by links, a table
    need not have links."""
    return ("uri", "captures", *(["links"] if weighed else []))


def spelled_batches(uris: str | Path, *, weighed: bool = False) -> Iterator[pa.RecordBatch]:
    """Spellings of text or Parquet, as SPELLED. weighed: whether they have weights, else 0."""
    for batch in counted_batches(uris, ("key", *spelled_columns(weighed))):
        captured = pc.greater(batch["captures"], 0)
        columns = [batch["key"], batch["uri"], captured, _weights(batch)]
        yield pa.record_batch(columns, SPELLED)


def counted_batches(
    uris: str | Path, columns: Sequence[str] = COUNTED.names
) -> Iterator[pa.RecordBatch]:
    """These columns of COUNTED, of all spellings in text or Parquet."""
    if path := parquet_file(uris):
        return parquet_batches(path, columns)
    rows = (
        (decoded(row.key), decoded(row.uri), row.captures, row.links)
        for row in read_rows(uris, parse_uri_row)
    )
    return (batch.select(columns) for batch in row_batches(COUNTED, rows))


def _weights(batch: pa.RecordBatch) -> pa.Array:
    if "links" not in batch.schema.names:
        return pa.array(np.zeros(len(batch), np.uint64))
    return pa.array(tie_weights(batch["links"].to_numpy(), batch["captures"].to_numpy()))


def spelled_nodes(
    graph: Graph, uris: str | Path, maps: Sequence[str | Path], tmp: Path, *, weighed: bool = False
) -> SpelledNodes:
    """What the spellings in uris say of the nodes of a graph, by position. maps: the files of its
    map. tmp: a folder for the database, in which keys are joined. weighed: preferences too.

    Raises BadInput where the ids of the map are not those of the graph, or uris lacks a key of it.
    """
    named = ", ".join(map(str, maps))
    result = SpelledNodes(graph.nodes, weighed=weighed)
    with database(tmp, budget=GRAPH_BUDGET, threads=os.cpu_count() or 1) as (db, _):
        db.execute("CREATE TABLE mapped (id BIGINT, key VARCHAR)")
        rows = ((int(row.id), decoded(row.key)) for row in read_all(maps, parse_map_row))
        insert(db, "mapped", row_batches(MAPPED, rows))
        ids = db.sql("SELECT id FROM mapped ORDER BY id").fetchnumpy()["id"]
        if not np.array_equal(ids, graph.ids):
            other_ids = f"other ids than {graph.name} ({len(ids)} for {graph.nodes} nodes)"
            raise BadInput(named, other_ids, "one line for each node of the graph", OF_ONE_RUN)
        db.execute(SPELLED_TABLE)
        insert(db, "spelled", spelled_batches(uris, weighed=weighed))
        joined = "SELECT id, captured, weight FROM mapped JOIN spelled USING (key)"
        for batch in batches(db, joined):
            captured = batch["captured"].to_numpy(zero_copy_only=False)
            nodes = np.searchsorted(graph.ids, batch["id"].to_numpy())
            result.add(nodes, captured, batch["weight"].to_numpy())
        lacking = np.flatnonzero(~result.spelled)
        if len(lacking):
            node = int(graph.ids[lacking[0]])
            (key,) = db.execute("SELECT key FROM mapped WHERE id = $id", {"id": node}).fetchall()[0]
            raise BadInput(
                str(uris), f"no line for the key {key}", f"every key of {named}", OF_ONE_RUN
            )
    return result


def decoded(field: bytes) -> str:
    return field.decode("utf-8", "replace")


def row_batches(schema: pa.Schema, rows: Iterable[tuple[Any, ...]]) -> Iterator[pa.RecordBatch]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, BATCH)):
        columns = zip(zip(*chunk, strict=True), schema.types, strict=True)
        yield pa.record_batch([pa.array(values, kind) for values, kind in columns], schema)


def insert(db: duckdb.DuckDBPyConnection, table: str, rows: Iterable[pa.RecordBatch]) -> None:
    for batch in rows:
        db.register("batch", pa.Table.from_batches([batch]))
        db.execute(f"INSERT INTO {table} SELECT * FROM batch")
        db.unregister("batch")
