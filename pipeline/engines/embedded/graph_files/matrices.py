"""Matrix Market: the entry (i, j) is an edge from node i to node j. Node i is named by row i of the
file NAME.nodes.csv beside the matrix, if there is one, else by its number. Entries of the value 0
are no edges. Source: https://math.nist.gov/MatrixMarket/formats.html."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.engines.embedded.graph_files.edge_lists import CURE
from crawlrank.pipeline.engines.embedded.graph_files.sources import (
    EDGES,
    NODES,
    Batches,
    GraphSource,
    are_ids,
    batch_of,
    blocks_of,
    columns_in,
    lines_in,
    lines_of,
    names_in,
    pieces_of,
    unpacked,
    whole_number,
)
from crawlrank.pipeline.precedence.graph_formats import nodes_beside

BANNER = b"%%MatrixMarket"
ONES = ("1", "1.0")
WEIGHTS = "weights of edges, not taken over"
# A matrix may have rows without entries; one of so few entries among so many rows is a mistake.
FEW_NODES, MOST_ALONE = 10_000_000, 1000
EXPECTED = "`%%MatrixMarket matrix coordinate`, a type, and `general` or `symmetric`"


class MatrixForm(NamedTuple):
    """fields: of a line. nodes: how many there are."""

    fields: int
    nodes: int


class ReadEntries(NamedTuple):
    """entries: how many were read. edges: source and target of those that are not 0."""

    entries: int
    edges: list[pa.Array]


class Matrix(GraphSource):
    def nodes(self) -> Batches:
        (path,) = self.paths
        _, (count, _, _) = self._size()
        numbers, beside = range(1, count + 1), nodes_beside(path)
        labels = names_in(beside, count) if beside.exists() else map(str, numbers)
        return pieces_of(zip(map(str, numbers), labels, strict=True), NODES)

    def edges(self) -> Batches:
        (path,) = self.paths
        *_, kind, symmetry = self._banner(path)
        after, (nodes, _, entries) = self._size()
        form, count = MatrixForm(2 if kind == "pattern" else 3, nodes), 0
        for number, block in blocks_of(path):
            read = self._at_once(block, form) if number > after else None
            if read is None:
                lines = (line for line in lines_in(block, number, path) if line[0] > after)
                read = self._one_by_one(lines, form)
            count += read.entries
            yield pa.record_batch(read.edges, EDGES)
            if symmetry == "symmetric":
                other = pc.not_equal(*read.edges)
                yield pa.record_batch([end.filter(other) for end in read.edges[::-1]], EDGES)
        if count != entries:
            what = f"{count} entries"
            raise BadInput(str(path), what, f"{entries}, as line {after} says", "Copy it again.")

    def _at_once(self, block: bytes, form: MatrixForm) -> ReadEntries | None:
        """The edges of lines that are all as they should be."""
        columns = columns_in(block, "")
        if not columns or len(columns) != form.fields or not all(map(are_ids, columns[:2])):
            return None
        try:
            ends = [column.cast(pa.int64()) for column in columns[:2]]
            values = columns[-1].cast(pa.float64())
        except pa.ArrowInvalid:
            return None
        least, most = (
            min(pc.min(end).as_py() for end in ends),
            max(pc.max(end).as_py() for end in ends),
        )
        if not 1 <= least <= most <= form.nodes:
            return None
        if form.fields == 3:
            are_edges = pc.not_equal(values, 0.0)
            ends = [end.filter(are_edges) for end in ends]
            weights = columns[2].filter(are_edges)
            self.counters[WEIGHTS] += len(
                weights.filter(pc.invert(pc.is_in(weights, pa.array(ONES))))
            )
        return ReadEntries(len(values), [end.cast(pa.string()) for end in ends])

    def _one_by_one(self, lines: Iterator[tuple[int, str]], form: MatrixForm) -> ReadEntries:
        (path,), pairs, count = self.paths, [], 0
        for number, line in lines:
            row, count = line.split(), count + 1
            ids = [whole_number(each) or 0 for each in row[:2]]
            if len(row) != form.fields or not 1 <= min(ids) <= max(ids) <= form.nodes:
                value = " and a value" * (form.fields == 3)
                expected = f"row and column from 1 to {form.nodes}{value}"
                raise BadInput(f"{path}, line {number}", f"{line[:80]!r}", expected, CURE)
            if form.fields == 2 or _is_edge(row[2], path, number):
                pairs.append((str(ids[0]), str(ids[1])))
                self.counters[WEIGHTS] += form.fields == 3 and row[2] not in ONES
        return ReadEntries(count, batch_of(pairs, EDGES).columns)

    def _banner(self, path: Path) -> list[str]:
        with unpacked(path) as stream:
            words = stream.readline(1000).decode("latin-1").lower().split()
        kinds, symmetries = ("pattern", "integer", "real"), ("general", "symmetric")
        if (
            len(words) != 5
            or words[1:3] != ["matrix", "coordinate"]
            or (words[3] not in kinds or words[4] not in symmetries)
        ):
            cure = "`scipy.io.mmwrite(NAME, scipy.sparse.coo_matrix(M))` writes such a file."
            raise BadInput(f"{path}, line 1", f"{' '.join(words)!r}", EXPECTED, cure)
        return words

    def _size(self) -> tuple[int, list[int]]:
        """The number of the line with the size, and rows, columns and entries."""
        (path,) = self.paths
        self._banner(path)
        number, line = next(lines_of(path), (2, ""))
        size = [whole_number(each) for each in line.split()]
        if len(size) != 3 or size[0] != size[1] or None in size:
            cure = "A graph is a square matrix."
            raise BadInput(f"{path}, line {number}", f"{line[:80]!r}",
                           "rows, as many columns, entries", cure)  # fmt: skip
        nodes, _, entries = (each or 0 for each in size)
        if nodes > max(FEW_NODES, MOST_ALONE * entries):
            what = f"{nodes:,} rows and {count_of(entries, 'entry', 'entries')}"
            expected = "rows that have entries"
            raise BadInput(f"{path}, line {number}", what, expected, "Correct the line.")
        return number, [nodes, nodes, entries]


def _is_edge(value: str, path: Path, number: int) -> bool:
    try:
        return float(value) != 0
    except ValueError as error:
        raise BadInput(
            f"{path}, line {number}", f"the value {value!r}", "a number", CURE
        ) from error
