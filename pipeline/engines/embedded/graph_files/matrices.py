"""Matrix Market: the entry (i, j) is an edge from node i to node j. Node i is named by row i of the
file NAME.nodes.csv beside the matrix, if there is one, else by its number. Entries of the value 0
are no edges. Source: https://math.nist.gov/MatrixMarket/formats.html."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.engines.embedded.graph_files.edge_lists import CURE
from crawlrank.pipeline.engines.embedded.graph_files.sources import (
    EDGES,
    NODES,
    Batches,
    GraphSource,
    lines_of,
    pieces_of,
    unpacked,
)
from crawlrank.pipeline.precedence.graph_formats import nodes_beside

BANNER = b"%%MatrixMarket"
WEIGHTS = "weights of edges, not taken over"
EXPECTED = "`%%MatrixMarket matrix coordinate`, a type, and `general` or `symmetric`"


class Matrix(GraphSource):
    def nodes(self) -> Batches:
        return pieces_of(iter(self._names()), NODES)

    def edges(self) -> Batches:
        return pieces_of(self._pairs(), EDGES)

    def _names(self) -> list[tuple[str, str]]:
        (path,) = self.paths
        _, size = self._size()
        beside = nodes_beside(path)
        if not beside.exists():
            return [(str(number), str(number)) for number in range(1, size[0] + 1)]
        with beside.open(newline="", encoding="utf-8") as file:
            labels = [row[0].removeprefix("'") for row in csv.reader(file)][1:]
        if len({*labels}) != size[0] or len(labels) != size[0]:
            what = f"{len(labels)} names, {len({*labels})} of them different"
            raise BadInput(str(beside), what, f"a name for each of {size[0]} nodes")
        return [(str(number), label) for number, label in enumerate(labels, 1)]

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
        size = line.split()
        if len(size) != 3 or not all(map(str.isdigit, size)) or size[0] != size[1]:
            cure = "A graph is a square matrix."
            raise BadInput(f"{path}, line {number}", f"{line!r}", "rows, as many columns, entries",
                           cure)  # fmt: skip
        return number, [*map(int, size)]

    def _pairs(self) -> Iterator[tuple[str, str]]:
        (path,) = self.paths
        *_, kind, symmetry = self._banner(path)
        after, (nodes, _, entries) = self._size()
        fields, count = 2 if kind == "pattern" else 3, 0
        for number, line in lines_of(path):
            if number <= after:
                continue
            row, count = line.split(), count + 1
            ids = [int(each) for each in row[:2] if each.isdigit()]
            if len(row) != fields or len(ids) != 2 or not 1 <= min(ids) <= max(ids) <= nodes:
                expected = f"row and column from 1 to {nodes}{' and a value' * (fields == 3)}"
                raise BadInput(f"{path}, line {number}", f"{line[:80]!r}", expected, CURE)
            if fields == 3:
                if not _is_edge(row[2], path, number):
                    continue
                self.counters[WEIGHTS] += row[2] not in ("1", "1.0")
            yield row[0], row[1]
            if symmetry == "symmetric" and row[0] != row[1]:
                yield row[1], row[0]
        if count != entries:
            what = f"{count} entries"
            raise BadInput(str(path), what, f"{entries}, as line {after} says", "Copy it again.")


def _is_edge(value: str, path: Path, number: int) -> bool:
    try:
        return float(value) != 0
    except ValueError as error:
        raise BadInput(
            f"{path}, line {number}", f"the value {value!r}", "a number", CURE
        ) from error
