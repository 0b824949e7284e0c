"""A graph dataset as arrays: what the algorithms of this package see.

Equation served: x_i = 0.15 + 0.85 * sum over edges j->i of x_j / outdegree_j.
Dangling nodes: `O:dummy` in the text; in the arrays they simply have no edges out, and the score
of `dummy` stands beside the arrays. Order: nodes ascend by id, so a node's position in the arrays
is its place in key order; ids need not be contiguous. Memory: 8 bytes an edge while reading, 4
afterwards below 2^31 nodes, 24 bytes a node; no Python object stays for a node or an edge. What is
counted over edges is counted a piece at a time, with mapped pieces let go of.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import DUMMY, parse_graph_line
from crawlrank.jobs.kernel.formats.reading import read_lines, read_rows
from crawlrank.jobs.kernel.machine.machine_code import compiled
from crawlrank.jobs.kernel.rank.array_types import Floats as Floats
from crawlrank.jobs.kernel.rank.array_types import Positions as Positions
from crawlrank.pipeline.data.arrays import release

Targets = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

PIECE = 1 << 22  # edges at once
CURE = "Run gen-graph to make the graph anew."


@dataclass(frozen=True, eq=False)
class Graph:
    """N nodes and E edges; the out-edges of the node at position i are
    `targets[offsets[i]:offsets[i + 1]]`, positions too, ascending.

    name: what messages call it. ids: int64[N], or int32[N] where they are positions, ascending.
    scores: float64[N], of Heritrix's scale. offsets: int64[N + 1]. targets: int32[E], or int64[E]
    from 2^31 nodes. dummy: its score.
    """

    name: str
    ids: Targets
    scores: Floats
    offsets: Positions
    targets: Targets
    dummy: float

    @property
    def nodes(self) -> int:
        return len(self.ids)

    @property
    def edges(self) -> int:
        return len(self.targets)

    @property
    def outdegrees(self) -> Positions:
        return np.diff(self.offsets)

    @property
    def dangling(self) -> int:
        """How many nodes have no edges out."""
        ends = self.offsets
        pieces = (ends[at : at + PIECE + 1] for at in range(0, self.nodes, PIECE))
        return sum(int(np.count_nonzero(piece[1:] == piece[:-1])) for piece in pieces)

    @property
    def indegrees(self) -> Targets:
        """The indegrees, in the type of the targets: an edge is a distinct pair, so no node has N
        of them."""
        counts: Targets = counts_of(self.targets, self.nodes, self.targets.dtype)
        return counts


def counts_of(numbers: npt.NDArray[Any], length: int, kind: npt.DTypeLike) -> Any:
    """How often each number below `length` is there. Memory: the counts, and a mapped PIECE."""
    counts = np.zeros(length, kind)
    count = compiled(_count)
    for begin in range(0, len(numbers), PIECE):
        count(np.asarray(numbers[begin : begin + PIECE]), counts)
        release(numbers, begin, min(begin + PIECE, len(numbers)))
    return counts


def _count(numbers: npt.NDArray[Any], counts: npt.NDArray[Any]) -> None:
    for number in numbers:
        counts[number] += 1


def read_graph(dataset: str | os.PathLike[str]) -> Graph:
    """The graph in a file, a glob or a folder of parts; lines in any order, plain or .gz.

    Raises BadInput, with file and line: for a line that is none, a score that is not positive and
    finite, an id twice, a target that is no node, a target twice, a self-loop (an edge is a
    distinct ordered pair: gen-graph has dropped the rest, and a program that has not is better
    found here than in the scores), `dummy` beside other targets, and where the dummy line or
    every other line is missing.
    """
    ids, scores, degrees, targets = array("q"), array("d"), array("q"), array("q")
    dummy: float | None = None
    for row in read_rows(dataset, parse_graph_line):
        if row.id == DUMMY:
            if dummy is not None:
                refuse_node(dataset, DUMMY, "a second dummy line", "one", nth=2)
            dummy = row.score
            continue
        ids.append(int(row.id))
        scores.append(row.score)
        named = row.targets if row.targets[0] != DUMMY else []
        degrees.append(len(named))
        targets.extend(map(int, named))
    if dummy is None:
        raise BadInput(str(dataset), "no dummy line", "one line `dummy<TAB>1.0<TAB>O:dummy`", CURE)
    if not ids:
        raise BadInput(str(dataset), "no node, only dummy", "one line for every node", CURE)
    columns = (_numpy(ids), _numpy(scores), _numpy(degrees), _numpy(targets))
    return _arranged(dataset, *columns, dummy)


def _numpy(column: array[Any]) -> npt.NDArray[Any]:
    return np.frombuffer(column, dtype=np.float64 if column.typecode == "d" else np.int64)


def _arranged(
    dataset: str | os.PathLike[str],
    ids: Positions,
    scores: Floats,
    degrees: Positions,
    targets: Positions,
    dummy: float,
) -> Graph:
    """Columns as read, brought into the order of the ids, targets as positions."""
    if np.any(ids[1:] <= ids[:-1]):
        order = np.argsort(ids, kind="stable")
        starts = (np.cumsum(degrees) - degrees)[order]
        ids, scores, degrees = ids[order], scores[order], degrees[order]
        if np.any(ids[1:] == ids[:-1]):
            twice = int(ids[np.flatnonzero(ids[1:] == ids[:-1])[0]])
            refuse_node(dataset, b"%d" % twice, f"id {twice} a second time", "every id once", nth=2)
        shifts = starts - (np.cumsum(degrees) - degrees)
        targets = targets[np.repeat(shifts, degrees) + np.arange(len(targets))]
    offsets = np.concatenate(([0], np.cumsum(degrees)))
    positions = _positions(dataset, ids, offsets, targets)
    return Graph(str(dataset), ids, scores, offsets, _ascending(offsets, positions), dummy)


def _positions(
    dataset: str | os.PathLike[str], ids: Positions, offsets: Positions, targets: Positions
) -> Targets:
    """Targets as positions of nodes, checked to be nodes; in blocks, to stay small in memory."""
    small = len(ids) < 2**31
    positions: Targets = (
        np.empty(len(targets), np.int32) if small else np.empty(len(targets), np.int64)
    )
    for begin in range(0, len(targets), 1 << 20):
        block = targets[begin : begin + (1 << 20)]
        nodes = np.minimum(np.searchsorted(ids, block), len(ids) - 1)
        unknown = np.flatnonzero(ids[nodes] != block)
        if len(unknown):
            edge = begin + int(unknown[0])
            source = int(ids[np.searchsorted(offsets, edge, side="right") - 1])
            what = f"target {int(targets[edge])} of id {source}, which has no line"
            refuse_node(dataset, b"%d" % source, what, "a line for every target")
        positions[begin : begin + len(block)] = nodes
    return positions


def _ascending(offsets: Positions, targets: Targets) -> Targets:
    """Targets ascending within each node, as gen-graph writes them; others are sorted here."""
    falls = targets[1:] < targets[:-1]
    inner = offsets[(offsets > 0) & (offsets < len(targets))]
    falls[inner - 1] = False  # from one node's last target to the next node's first
    if not falls.any():
        return targets
    sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    ordered: Targets = targets[np.lexsort((targets, sources))]
    return ordered


def refuse_node(
    dataset: str | os.PathLike[str], node: bytes, what: str, expected: str, nth: int = 1
) -> NoReturn:
    """Raise BadInput at the nth line of a node: reads again, as lines are not remembered."""
    where = str(dataset)
    for path, number, line in read_lines(dataset):
        if parse_graph_line(line).id == node:
            where, nth = f"{path}, line {number}", nth - 1
            if not nth:
                break
    raise BadInput(where, what, expected, CURE)
