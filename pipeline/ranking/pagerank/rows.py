"""The nodes with edges out, as the sweeps go over them: compact in memory, or where they lie.

Both forms give the same vectors to the last bit: the same sums, in the same order, by the same
ranges of threads. What differs is memory and speed: compact rows hold 4 bytes for every edge to a
row, 28 for a row, and name their sources by place in a vector that holds rows only.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from crawlrank.pipeline.data.csr import Ids, Offsets, id_type
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.team import Range, Team, read_only
from crawlrank.pipeline.ranking.pagerank import kernels
from crawlrank.pipeline.ranking.pagerank.terms import Terms

NODE_BYTES = 36  # of the scores, what they are measured with, and the graph's own columns


class Rows(Protocol):
    """count: of the rows. largest: the most edges to one."""

    count: int
    largest: int

    def sweep(self) -> tuple[float, float]:
        """One pass over all rows; returns |x' - x|_1 and |x'|_1 of them."""

    def settle(self, factor: float) -> None:
        """Go `factor` times the last step further, and end the pass."""

    def everywhere(self) -> tuple[Floats, Floats]:
        """(y of every node, room for as many); between sweep and settle with factor 0."""

    def vector(self) -> Floats:
        """y of the rows, after settle: a copy."""


def rows_of(team: Team, terms: Terms, budget: int, vector: Floats | None) -> Rows:
    """The rows of a graph, compact where that fits the budget in bytes, each with the first
    scores, or with the y of a vector."""
    count, edges, largest = kernels.count(team.offsets, team.outdegrees)
    cuts = np.zeros((team.threads + 1, 3), np.int64)
    kernels.cut(team.offsets, team.outdegrees, count, edges, cuts)
    width = np.dtype(id_type(2 * count)).itemsize
    needed = (edges + count) * width + 24 * count + NODE_BYTES * team.nodes
    form = _Compact if needed <= budget else _Streamed
    return form(team, terms, cuts, largest, vector)


class _Compact:
    def __init__(
        self, team: Team, terms: Terms, cuts: Offsets, largest: int, vector: Floats | None
    ) -> None:
        # all nodes with edges out, and all edges to them, which `compact` goes through
        self.count, edges = int(cuts[-1, 1]), int(cuts[-1, 2])
        self.largest, self._team = int(largest), team
        of_rows = terms.of(team.outdegrees > 0)
        self._terms = of_rows.loops
        self._ends = np.zeros(self.count + 1, np.int64)
        self._positions: Ids = np.zeros(edges, id_type(2 * self.count))  # type: ignore[assignment]
        self._degrees: Ids = np.zeros(self.count, team.outdegrees.dtype)
        self._blocks = self._filled(cuts)
        self._graph = (read_only(self._ends), read_only(self._positions), read_only(self._degrees))
        first = of_rows.first / self._degrees if vector is None else vector
        self._y = np.concatenate((first, first))

    def _filled(self, cuts: Offsets) -> list[list[Range]]:
        """Fill the compact graph; the rows of each thread's blocks."""
        team = self._team
        row_of = np.empty(team.nodes, id_type(team.nodes))
        kernels.number(team.outdegrees, row_of)  # type: ignore[arg-type]
        rows: Ids = read_only(row_of)

        def fill(thread: int) -> list[Range]:
            node, row, edge = map(int, cuts[thread])
            end, last = int(cuts[thread + 1, 0]), int(cuts[thread + 1, 1])
            own, blocks = (row, last), []
            for nodes in team.blocks(node, end):
                position = (nodes, own, row, edge, self.count)
                into = (self._ends, self._positions, self._degrees)
                begin = row
                row, edge = kernels.compact(
                    team.offsets, team.sources, team.outdegrees, rows, *position, *into
                )
                blocks.append((begin, row))
                team.release(*nodes)
            return blocks

        return team.each(fill)

    def sweep(self) -> tuple[float, float]:
        def pass_over(thread: int) -> list[tuple[float, float]]:
            terms = (*self._terms, self._y)
            return [kernels.sweep(*self._graph, *terms, *rows) for rows in self._blocks[thread]]

        return _summed(self._team.each(pass_over))

    def settle(self, factor: float) -> None:
        def own(thread: int) -> None:
            for rows in self._blocks[thread]:
                kernels.settle(self._y, self._graph[2], self._terms[0], factor, *rows)

        self._team.each(own)

    def everywhere(self) -> tuple[Floats, Floats]:
        y = np.zeros(self._team.nodes)
        y[self._team.outdegrees > 0] = self._y[: self.count]
        return y, np.empty(self._team.nodes)

    def vector(self) -> Floats:
        return self._y[: self.count].copy()


class _Streamed:
    def __init__(
        self, team: Team, terms: Terms, cuts: Offsets, largest: int, vector: Floats | None
    ) -> None:
        self.count, self.largest, self._team = int(cuts[-1, 1]), int(largest), team
        self._terms = terms.loops
        self._own = [(int(cuts[t, 0]), int(cuts[t + 1, 0])) for t in range(team.threads)]
        self._y = np.zeros(2 * team.nodes)
        gives = team.outdegrees > 0
        first = terms.of(gives).first / team.outdegrees[gives] if vector is None else vector
        self._y[: team.nodes][gives] = first
        self._y[team.nodes :] = self._y[: team.nodes]

    def sweep(self) -> tuple[float, float]:
        team = self._team
        graph = (team.offsets, team.sources, team.outdegrees)

        def pass_over(thread: int) -> list[tuple[float, float]]:
            own, results = self._own[thread], []
            for nodes in team.blocks(*own):
                results.append(kernels.stream(*graph, *self._terms, self._y, own, *nodes))
                team.release(*nodes)
            return results

        return _summed(team.each(pass_over))

    def settle(self, factor: float) -> None:
        state = (self._y, self._team.outdegrees, self._terms[0], factor)
        self._team.each(lambda thread: kernels.settle(*state, *self._own[thread]))

    def everywhere(self) -> tuple[Floats, Floats]:
        nodes = self._team.nodes
        return self._y[:nodes], self._y[nodes:]

    def vector(self) -> Floats:
        return self._y[: self._team.nodes][self._team.outdegrees > 0]


def _summed(parts: list[list[tuple[float, float]]]) -> tuple[float, float]:
    """Sums over blocks, in the order of the nodes."""
    pairs = [pair for part in parts for pair in part]
    return sum(difference for difference, _ in pairs), sum(total for _, total in pairs)
