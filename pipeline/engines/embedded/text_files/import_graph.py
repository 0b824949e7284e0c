"""Graph lines, and a map if there is one, to this engine's graph, map and uris.

Lines come in any order. Their edges go to a file as they are read, and from there, when all ids are
known, through the external sort of gen-graph. Ids other than 0 to N - 1 are replaced by these, in
their order; without a map the old ids become the keys. Scores in the lines are not used: PageRank
begins at 1.0 here. Memory: the budget, or 8 bytes a node if that is more.
"""

from __future__ import annotations

import contextlib
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import DUMMY, START_SCORE, parse_graph_line, parse_map_row
from crawlrank.jobs.kernel.formats.reading import read_all, read_rows
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.pipeline.data.csr import id_type, open_csr
from crawlrank.pipeline.data.database import batches, database
from crawlrank.pipeline.data.graph import CURE, refuse_node
from crawlrank.pipeline.data.pairs import Pairs
from crawlrank.pipeline.data.parquet import parquet_writer
from crawlrank.pipeline.engines.embedded.canonicalization.canonicalize import URIS, URIS_SCHEMA
from crawlrank.pipeline.engines.embedded.gen_graph import write_graph
from crawlrank.pipeline.engines.embedded.ids import IDS, MAP
from crawlrank.pipeline.engines.embedded.ids import SCHEMA as MAP_SCHEMA
from crawlrank.pipeline.precedence.scored import decoded, insert, row_batches
from crawlrank.pipeline.steps import StepResult

PIECE = 1 << 20
TWICE = "SELECT min(key) FROM mapped GROUP BY key HAVING count(*) > 1 LIMIT 1"
NODES = 1 << 16  # rows of map and uris at once

TextIds = npt.NDArray[np.int64]  # ids as in the text


def read_graph_lines(
    path: str,
    maps: Sequence[str],
    output: Path,
    *,
    budget: int,
    threads: int,
    piece: int = PIECE,
) -> StepResult:
    """Write the folders graph, map and uris in `output`. piece: edges at once.

    Raises BadInput with file and line for an invalid line, a repeated id or a target without line;
    also if the dummy line, or every other line, is missing, or the map has other ids.
    """
    with tempfile.TemporaryDirectory(prefix=".", dir=output) as name:
        tmp = Path(name)
        lines = _GraphLines(path, tmp, piece)
        ids = lines.ids()
        counts = write_graph(
            [lines.pairs(ids)], len(ids), output / "graph", budget=budget - ids.nbytes, tmp=tmp,
            threads=threads,
        )  # fmt: skip
        write_names(_names(ids, maps, tmp, budget, threads), len(ids), output)
    counters = {"edges": counts.edges, "dangling": counts.dangling}
    if lines.other_scores:
        counters["scores not taken over"] = lines.other_scores
    return StepResult({"graph": counts.nodes}, counters)


class _GraphLines:
    """The lines of a graph, read once. other_scores: the number of lines with another score than
    that with which PageRank begins."""

    def __init__(self, path: str, tmp: Path, piece: int) -> None:
        self._path, self._edges, self._piece = path, tmp / "edges", piece
        self._ids = array("q")
        self.other_scores = 0
        with self._edges.open("wb") as file:
            self._parse(file)

    def _parse(self, file: BinaryIO) -> None:
        edges, dummies = array("q"), 0
        for node, score, targets in read_rows(self._path, parse_graph_line):
            self.other_scores += score != START_SCORE
            if node == DUMMY:
                dummies += 1
                continue
            source = int(node)
            self._ids.append(source)
            if targets[0] != DUMMY:
                for pair in zip(map(int, targets), repeat(source), strict=False):
                    edges.extend(pair)
                if len(edges) >= 2 * self._piece:
                    edges.tofile(file)
                    edges = array("q")
        edges.tofile(file)
        if dummies > 1:
            refuse_node(self._path, DUMMY, "a second dummy line", "one", nth=2)
        if not (dummies and self._ids):
            raise BadInput(
                self._path,
                "no node, only dummy" if dummies else "no dummy line",
                "one line for every node, and `dummy<TAB>1.0<TAB>O:dummy`",
                CURE,
            )

    def ids(self) -> TextIds:
        """The ids of all lines, ascending."""
        ids = np.frombuffer(self._ids, np.int64)
        if np.any(ids[1:] <= ids[:-1]):
            ids = np.sort(ids)
            if len(same := np.flatnonzero(ids[1:] == ids[:-1])):
                twice = int(ids[same[0]])
                what = f"id {twice} a second time"
                refuse_node(self._path, b"%d" % twice, what, "every id once", nth=2)
        return ids

    def pairs(self, ids: TextIds) -> Iterator[Pairs]:
        """The edges as positions of ids: targets, sources."""
        with self._edges.open("rb") as file:
            while len(piece := np.fromfile(file, np.int64, 2 * self._piece)):
                targets, sources = piece.reshape(-1, 2).T
                positions = _positions(ids, targets)
                if len(unknown := np.flatnonzero(ids[positions] != targets)):
                    self._refuse_target(int(sources[unknown[0]]), int(targets[unknown[0]]))
                kind = id_type(len(ids))
                yield positions.astype(kind), _positions(ids, sources).astype(kind)

    def _refuse_target(self, source: int, target: int) -> None:
        what = f"target {target} of id {source}, which has no line"
        refuse_node(self._path, b"%d" % source, what, "a line for every target")


def _positions(ids: TextIds, wanted: TextIds) -> TextIds:
    """The position of each one among the ids; any position if it is not there."""
    if ids[0] == 0 and ids[-1] == len(ids) - 1:
        return np.clip(wanted, 0, len(ids) - 1)
    return np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)


def _names(
    ids: TextIds, maps: Sequence[str], tmp: Path, budget: int, threads: int
) -> Iterator[pa.StringArray]:
    """The keys of all ids, in their order: from the map, or else the ids themselves."""
    if not maps:
        for begin in range(0, len(ids), NODES):
            yield pa.array(ids[begin : begin + NODES]).cast(pa.string())
        return
    begin, paths = 0, ", ".join(maps)
    with database(tmp, budget=budget - ids.nbytes, threads=threads) as (db, _):
        db.execute("CREATE TABLE mapped (id BIGINT, key VARCHAR)")
        rows = ((int(row.id), decoded(row.key)) for row in read_all(maps, parse_map_row))
        insert(db, "mapped", row_batches(MAP_SCHEMA, rows))
        for batch in batches(db, "SELECT id, key FROM mapped ORDER BY id, key"):
            end = begin + len(batch)
            if not np.array_equal(batch["id"].to_numpy(), ids[begin:end]):
                break
            yield batch["key"]
            begin = end
        (total,) = db.execute("SELECT count(*) FROM mapped").fetchall()[0]
        twice = db.execute(TWICE).fetchone()
    if (begin, total) != (len(ids), len(ids)):
        what = f"other ids than the graph ({total} for {len(ids)} nodes)"
        raise BadInput(paths, what, "one line for each node of the graph", "Give the graph's map.")
    if twice:
        raise BadInput(paths, f"two ids for the key {twice[0]}", "one line for a key")


def write_names(keys: Iterator[pa.StringArray], nodes: int, output: Path) -> None:
    """Write map and uris: every node of the graph in `output` with its key, which is also its only
    spelling."""
    offsets = open_csr(output / "graph", edges=False).offsets
    with writing_names(output, nodes) as (mapped, uris):
        begin = 0
        for key in keys:
            end = begin + len(key)
            ids, links = np.arange(begin, end), np.diff(offsets[begin : end + 1])
            mapped.write_table(pa.table([ids, key], MAP_SCHEMA))
            uris.write_table(spelled(ids, key, key, links))
            begin = end


@contextlib.contextmanager
def writing_names(output: Path, nodes: int) -> Iterator[tuple[pq.ParquetWriter, pq.ParquetWriter]]:
    """The new files of map and uris, to be filled in the order of the ids, from 0 to nodes - 1."""
    for name in ("map", "uris"):
        (output / name).mkdir()
    np.save(output / "map" / IDS, np.arange(nodes, dtype=id_type(nodes)))
    with (
        parquet_writer(output / "map" / MAP, MAP_SCHEMA) as mapped,
        parquet_writer(output / "uris" / URIS, URIS_SCHEMA) as uris,
    ):
        yield mapped, uris


def spelled(
    ids: TextIds, key: pa.StringArray, uri: pa.StringArray, links: npt.NDArray[Any]
) -> pa.Table:
    """Rows of uris that no archive has. links: of the graph to each."""
    none = np.zeros(len(key), np.int64)
    unknown = pa.repeat(pa.scalar(UNKNOWN.decode()), len(key))
    return pa.table([ids, key, uri, none, links.astype(np.int64), unknown], URIS_SCHEMA)
