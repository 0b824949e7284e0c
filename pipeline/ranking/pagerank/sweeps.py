"""PageRank on a Csr to a certificate, by sweeps of Gauss and Seidel.

Equation: x = base + damping A x; y = x / outdegree is what is kept and read.
Dangling nodes are never read, so the sweeps go over the others only, and dangling ones get their
scores from the pass that measures the residual. dummy = N + 1 - sum(x).
Order: each thread owns a range of rows, of equal work; it reads its own y as they are now, and all
others as the last sweep left them. So a result depends on the number of threads, and on nothing
else. Where the ratio of successive differences settles, the vector goes the rest of the geometric
series at once: hosts whose pages link to each other in pairs or rings all have the same slow mode.
Steps must not alternate in sign for that, and it is not done again once a difference grew by it.
Stopping rule: a sweep from x to x' has |r'|_1 <= damping |x' - x|_1, as each x'_j was read either
so or as x_j. The certificates of a round, one sweep, follow from that; they are true and coarse
(eta: no |r_i| is more than all of them). When that is below the tolerance, or no more rounds are
allowed, a pass over all nodes measures the true residual and gives the certificates.
Memory: 24 bytes a node and what the compact rows take, or 24 bytes a node without them.

The rows are the nodes with edges out, compact in memory or where they lie. Both forms give the same
vectors to the last bit: the same sums, in the same order, by the same ranges of threads. What
differs is memory and speed: compact rows hold 4 bytes for every edge to a row, 28 for a row, and
name their sources by place in a vector that holds rows only."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from crawlrank.jobs.kernel.rank.plain_round import UNIT
from crawlrank.pipeline.data.csr import Ids, Offsets, Range, Team, id_type, read_only
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.pagerank import kernels
from crawlrank.pipeline.ranking.pagerank.terms import Terms
from crawlrank.pipeline.ranking.solution import OnState, Solution, State

PATIENCE = 4  # sweeps before their differences tell a ratio
SETTLED = 0.02  # how much two ratios may differ
FASTEST, SLOWEST = 0.3, 0.9  # ratios outside gain nothing, or cannot be


@dataclass(frozen=True, eq=False)
class Measured:
    """Scores of all nodes, and what is known of their residual: a part of a round's entry."""

    scores: Floats
    total: float
    bounds: dict[str, Any]


def rank_by_sweeps(
    team: Team, terms: Terms, stop: Stop, budget: int, state: State | None, on_round: OnState
) -> Solution:
    """Scores with a certificate of `stop`'s tolerance, or the last ones that it allows.

    budget: bytes of memory; without enough for compact rows every sweep reads the mapped edges.
    """
    rows = rows_of(team, terms, budget, None if state is None else state.vector)
    rounds = [] if state is None else list(state.rounds)
    measured = None
    while not stop.over(rounds):
        started = time.monotonic()
        difference, total = rows.sweep()
        entry = _bounds(team, terms, rows, len(rounds) + 1, difference, total)
        if _promising(stop, rounds, entry) or stop.over([*rounds, entry]):
            measured = _measure(team, terms, rows)
            entry |= measured.bounds
        entry["factor"] = 0.0 if entry["verified"] else extrapolation(rounds, entry)
        rows.settle(entry["factor"])
        entry["seconds"] = round(time.monotonic() - started, 3)
        rounds.append(entry)
        on_round(entry, rounds, lambda: State(rows.vector(), 0.0, rounds))
    if measured is None:  # nothing was left to do
        measured = _measure(team, terms, rows)
    return Solution(measured.scores, team.nodes + 1 - measured.total, rounds)


def _bounds(
    team: Team, terms: Terms, rows: Rows, number: int, difference: float, total: float
) -> Round:
    """What a sweep tells: the difference bounds the residual. Sums in one part round as often as
    they have terms. With r = base + damping A x - x, `image` is |x + r|_1, so |x|_1 is at least
    that less |r|_1, and at least the sum of the base."""
    base, damping = terms.equation.base, terms.equation.damping
    least = float(terms.base.min())
    image = base * team.nodes + damping * total
    doubt = (rows.largest + 10) * UNIT * image
    l1 = (damping * difference + doubt) * _rounding(team)
    whole = max(image - l1, base * team.nodes)
    return {
        "round": number,
        "nodes": team.nodes,
        "edges": team.edges,
        "dangling": team.nodes - rows.count,
        "mass": float(team.nodes + 1),
        "residual_l1": l1,
        "residual_max": l1,
        "certificate": l1 / (base * whole),
        "eta": l1 / least if least else math.inf,
        "probability_certificate": 2 * l1 / (base * whole),
        "difference": difference,
        "rows_l1": total,
        "promise": damping * difference / (base * image),
        "verified": False,
    }


def _promising(stop: Stop, rounds: list[Round], entry: Round) -> bool:
    """Is a pass over all nodes likely to certify? Not again before twice as much is reached."""
    tried = [past["difference"] for past in rounds if past["verified"]]
    reached: bool = entry["promise"] <= stop.tolerance
    return reached and (not tried or entry["difference"] <= tried[-1] / 2)


def extrapolation(rounds: list[Round], entry: Round) -> float:
    """How many times the last step is still to go, once steps shrink by a settled ratio; or 0."""
    every = [*rounds, entry]
    jumps = [k for k, past in enumerate(rounds) if past["factor"]]
    if any(every[k + 1]["difference"] > every[k]["difference"] for k in jumps):
        return 0.0
    since = every[jumps[-1] + 1 if jumps else 0 :]
    if len(since) < PATIENCE or not all(past["difference"] for past in since):
        return 0.0
    first, second, third = (past["difference"] for past in since[-3:])
    start, middle, now = (past["rows_l1"] for past in since[-3:])
    ratio, before = third / second, second / first
    settled = abs(ratio - before) < SETTLED * ratio and FASTEST < ratio < SLOWEST
    one_way = (middle - start) * (now - middle) > 0
    return ratio / (1 - ratio) if settled and one_way else 0.0


def _measure(team: Team, terms: Terms, rows: Rows) -> Measured:
    """The scores of all nodes and their certificates, from their true residual."""
    y, r = rows.everywhere()
    scores = np.empty(team.nodes)
    of_graph = (team.offsets, team.sources, team.outdegrees, *terms.loops, y, scores, r)
    parts = team.over_nodes(lambda begin, end: kernels.residual(*of_graph, begin, end))
    total, signed, l1, _, _, doubt = (math.fsum(values) for values in zip(*parts, strict=True))
    largest, relative = (max(values[k] for values in parts) for k in (3, 4))
    mean = signed / team.nodes
    away = team.over_nodes(lambda *nodes: kernels.deviation(r, terms.first, mean, *nodes))
    rounding = _rounding(team)
    # the last term: what the sum of r, which cancels, may be wrong by
    deviation = math.fsum(away) + 2 * doubt + (rounding - 1) * l1
    base = terms.equation.base
    bounds = {
        "residual_l1": l1,
        "residual_max": largest,
        "certificate": l1 / (base * total) * rounding,
        "eta": terms.eta(team, relative, scores, r) * rounding,
        "probability_certificate": deviation / (base * total) * rounding,
        "verified": True,
    }
    return Measured(scores, total, bounds)


def _rounding(team: Team) -> float:
    """What sums over all nodes, and quotients of them, can be wrong by, as a factor."""
    return 1 + UNIT * (2 * team.nodes + 16)


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
