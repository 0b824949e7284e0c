"""Graph lines, and a map if there is one, to this engine's graph, map and uris.

Lines come in any order. Their edges go to a file as they are read, and from there, once all ids
are known, through the external sort of gen-graph. Ids that are not 0 to N - 1 become so in their
order; the keys, which are the ids without a map, tell which they were. Scores in the lines are not
gone on from: PageRank begins at 1.0 here. Memory: the budget, or 8 bytes a node if that is more.
"""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.lines import DUMMY, START_SCORE, parse_graph_line, parse_map_row
from jobs.kernel.formats.reading import read_all, read_rows
from jobs.kernel.formats.rows import UNKNOWN
from pipeline.data.csr import id_type
from pipeline.data.database import batches, database
from pipeline.data.graph import CURE, refuse_node
from pipeline.data.pairs import Pairs
from pipeline.data.parquet import CHECKED
from pipeline.engines.embedded.edges import write_graph
from pipeline.engines.embedded.ids import IDS, MAP
from pipeline.engines.embedded.ids import SCHEMA as MAP_SCHEMA
from pipeline.engines.embedded.spellings import SCHEMA as URIS_SCHEMA
from pipeline.engines.embedded.spellings import URIS
from pipeline.precedence.scored import decoded, insert, row_batches

PIECE = 1 << 20  # edges
TWICE = "SELECT min(key) FROM mapped GROUP BY key HAVING count(*) > 1 LIMIT 1"
NODES = 1 << 16  # rows of map and uris at once

Given = npt.NDArray[np.int64]  # ids as they stand in the text


@dataclass(frozen=True)
class GraphRead:
    """rows: by dataset; counters: those of gen-graph, and what was not taken over."""

    rows: dict[str, int]
    counters: dict[str, int]


def read_graph_lines(
    where: str, maps: Sequence[str], output: Path, *, budget: int, threads: int
) -> GraphRead:
    """Write the folders graph, map and uris in `output`.

    Raises BadInput with file and line for a line that is none, an id twice, a target without a
    line; and where the dummy line, or every other line, is missing, or the map has other ids.
    """
    with tempfile.TemporaryDirectory(prefix=".", dir=output) as name:
        tmp = Path(name)
        lines = _Lines(where, tmp)
        ids = lines.ids()
        counts = write_graph(
            [lines.pairs(ids)], len(ids), output / "graph", budget=budget - ids.nbytes, tmp=tmp,
            threads=threads,
        )  # fmt: skip
        _write_names(_names(ids, maps, tmp, budget, threads), len(ids), output)
    counters = {name: n for name, n in asdict(counts).items() if name in ("edges", "dangling")}
    if lines.other_scores:
        counters["scores not taken over"] = lines.other_scores
    return GraphRead({"graph": counts.nodes}, counters)


class _Lines:
    """The lines of a graph, read once. other_scores: how many have another than PageRank begins
    with."""

    def __init__(self, where: str, tmp: Path) -> None:
        self._where, self._edges = where, tmp / "edges"
        self._ids = array("q")
        self.other_scores = 0
        with self._edges.open("wb") as file:
            self._read(file)

    def _read(self, file: BinaryIO) -> None:
        edges, dummies = array("q"), 0
        for node, score, targets in read_rows(self._where, parse_graph_line):
            self.other_scores += score != START_SCORE
            if node == DUMMY:
                dummies += 1
                continue
            source = int(node)
            self._ids.append(source)
            if targets[0] != DUMMY:
                for pair in zip(map(int, targets), repeat(source), strict=False):
                    edges.extend(pair)
                if len(edges) >= 2 * PIECE:
                    edges.tofile(file)
                    edges = array("q")
        edges.tofile(file)
        if dummies > 1:
            refuse_node(self._where, DUMMY, "a second dummy line", "one", nth=2)
        if not (dummies and self._ids):
            found = "no node, only dummy" if dummies else "no dummy line"
            expected = "one line for every node, and `dummy<TAB>1.0<TAB>O:dummy`"
            raise BadInput(self._where, found, expected, CURE)

    def ids(self) -> Given:
        """Those of all lines, ascending."""
        ids = np.frombuffer(self._ids, np.int64)
        if np.any(ids[1:] <= ids[:-1]):
            ids = np.sort(ids)
            if len(same := np.flatnonzero(ids[1:] == ids[:-1])):
                twice = int(ids[same[0]])
                what = f"id {twice} a second time"
                refuse_node(self._where, b"%d" % twice, what, "every id once", nth=2)
        return ids

    def pairs(self, ids: Given) -> Iterator[Pairs]:
        """The edges as places of ids: targets, sources."""
        with self._edges.open("rb") as file:
            while len(piece := np.fromfile(file, np.int64, 2 * PIECE)):
                targets, sources = piece.reshape(-1, 2).T
                places = _places(ids, targets)
                if len(unknown := np.flatnonzero(ids[places] != targets)):
                    self._refuse_target(int(sources[unknown[0]]), int(targets[unknown[0]]))
                kind = id_type(len(ids))
                yield places.astype(kind), _places(ids, sources).astype(kind)

    def _refuse_target(self, source: int, target: int) -> None:
        what = f"target {target} of id {source}, which has no line"
        refuse_node(self._where, b"%d" % source, what, "a line for every target")


def _places(ids: Given, wanted: Given) -> Given:
    """Where each stands among the ids, or some place if it does not."""
    if ids[0] == 0 and ids[-1] == len(ids) - 1:
        return np.clip(wanted, 0, len(ids) - 1)
    return np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)


def _names(
    ids: Given, maps: Sequence[str], tmp: Path, budget: int, threads: int
) -> Iterator[pa.StringArray]:
    """The keys of all ids, in their order: those of the map, or the ids themselves."""
    if not maps:
        for begin in range(0, len(ids), NODES):
            yield pa.array(ids[begin : begin + NODES]).cast(pa.string())
        return
    begin, where = 0, ", ".join(maps)
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
        total = db.execute("SELECT count(*) FROM mapped").fetchone()
        twice = db.execute(TWICE).fetchone()
    if (begin, total) != (len(ids), (len(ids),)):
        found = f"other ids than the graph ({total[0] if total else 0} for {len(ids)} nodes)"
        raise BadInput(where, found, "one line for each node of the graph", "Give the graph's map.")
    if twice:
        raise BadInput(where, f"two ids for the key {twice[0]}", "one line for a key")


def _write_names(keys: Iterator[pa.StringArray], nodes: int, output: Path) -> None:
    """map and uris: every node with its key, which stands for its only spelling."""
    for name in ("map", "uris"):
        (output / name).mkdir()
    np.save(output / "map" / IDS, np.arange(nodes, dtype=id_type(nodes)))
    begin = 0
    with (
        (output / "map" / MAP).open("wb") as of_map,  # pyarrow takes names in UTF-8 only
        (output / "uris" / URIS).open("wb") as of_uris,
        pq.ParquetWriter(of_map, MAP_SCHEMA, compression="zstd", **CHECKED) as mapped,
        pq.ParquetWriter(of_uris, URIS_SCHEMA, compression="zstd", **CHECKED) as uris,
    ):
        for key in keys:
            ids = np.arange(begin, begin + len(key))
            mapped.write_table(pa.table([ids, key], MAP_SCHEMA))
            uris.write_table(pa.table(_spelling(ids, key), URIS_SCHEMA))
            begin += len(key)


def _spelling(ids: Given, key: pa.StringArray) -> list[Any]:
    none = np.zeros(len(key), np.int64)
    return [ids, key, key, none, none, pa.repeat(pa.scalar(UNKNOWN.decode()), len(key))]
