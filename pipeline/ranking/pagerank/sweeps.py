"""PageRank on a Csr to a certificate, by sweeps of Gauss and Seidel.

Equation: x = base + damping A x; y = x / outdegree is what is kept and read.
Dangling nodes are never read, so the sweeps go over the others only, and dangling ones get their
scores from the pass that measures the residual. dummy = N + 1 - sum(x), or 0.
Order: each thread owns a range of rows, of equal work; it reads its own y as they are now, and all
others as the last sweep left them. So a result depends on the number of threads, on whether the
rows are in memory, and on nothing else. Where the ratio of successive differences settles, the
vector goes the rest of the geometric series at once: hosts whose pages link to each other in pairs
or rings all have the same slow mode. Steps must not alternate in sign for that, and it is not done
again once a difference grew by it.
Stopping rule: a sweep from x to x' has |r'|_1 <= damping |x' - x|_1, as each x'_j was read either
so or as x_j. The certificates of a round, one sweep, follow from that; they are true and coarse
(eta: no |r_i| is more than all of them). When that is below the tolerance, or no more rounds are
allowed, a pass over all nodes measures the true residual and gives the certificates.
Rows: nodes with edges out. In memory (twins.py) a row stands for all nodes with the same sources;
rows that do not fit there are read where they lie, one for each node.
Memory: 24 bytes a node, and for rows in memory 4 bytes for each position of their lists, some 60 a
row, and twice as much while they are made."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.rank.plain_round import UNIT
from crawlrank.pipeline.data.csr import Team, id_type
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.pagerank import kernels
from crawlrank.pipeline.ranking.pagerank.terms import Terms, some_of
from crawlrank.pipeline.ranking.pagerank.twins import Lists, lists_of
from crawlrank.pipeline.ranking.solution import OnState, Solution, State, left_for_dummy, mass_of

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
    rows, rounds, measured = rows_of(team, terms, budget), list[Round](), None
    if state is not None and _fits(rows, state):
        rows.take(state.vector)
        rounds = list(state.rounds)
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
        on_round(entry, rounds, lambda: State(rows.vector(), rows.form, rounds))
    if measured is None:  # nothing was left to do
        measured = _measure(team, terms, rows)
    return Solution(measured.scores, left_for_dummy(team.nodes, measured.total), rounds)


def _fits(rows: Rows, state: State) -> bool:
    """Whether a state is of these rows."""
    vector = state.vector
    of_them = state.dummy == rows.form and vector.shape == (rows.length,)
    return of_them and vector.dtype == np.float64


def _bounds(
    team: Team, terms: Terms, rows: Rows, number: int, difference: float, total: float
) -> Round:
    """What a sweep tells: the difference bounds the residual. Sums in one part round as often as
    they have terms. With r = base + damping A x - x, `image` is |x + r|_1, so |x|_1 is at least
    that less |r|_1, and at least the sum of the base."""
    base, damping = terms.equation.base, terms.equation.damping
    least = float(terms.base.min())
    image = base * team.nodes + damping * total
    doubt = (rows.roundings + 10) * UNIT * image
    l1 = (damping * difference + doubt) * _rounding(team)
    whole = max(image - l1, base * team.nodes)
    return {
        "round": number,
        "nodes": team.nodes,
        "edges": team.edges,
        "dangling": rows.dangling,
        "mass": mass_of(team.nodes, whole),
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
        "mass": mass_of(team.nodes, total),
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


NODE_BYTES = 48  # of the scores, what they are measured with, and the graph's own columns
ROW_BYTES = 110  # of the compact rows, while they are made


def rows_of(team: Team, terms: Terms, budget: int) -> Rows:
    """The rows of a graph with the first scores, in memory where they fit the budget in bytes."""
    count, edges, largest = map(int, kernels.count(team.offsets, team.outdegrees))
    width = np.dtype(id_type(2 * team.nodes)).itemsize
    needed = edges * width + ROW_BYTES * count + NODE_BYTES * team.nodes
    if needed > budget:
        return _Streamed(team, terms, count, edges, largest)
    return _Compact(team, terms, lists_of(team, count), largest)


class _Compact:
    """Rows of twins in memory, as twins.py has them. The vector: F of each.

    dangling: nodes without edges out. roundings: how often the longest sum rounds. length: of the
    vectors. form: what a vector is, by number.
    """

    form = 1.0

    def __init__(self, team: Team, terms: Terms, lists: Lists, largest: int) -> None:
        self._team, self._terms, self._lists = team, terms, lists
        damping, twins = terms.equation.damping, int(lists.sizes.max(initial=0))
        self.roundings = largest + math.ceil((twins + 10) / (1 - damping))
        self.length, self.dangling = len(lists.first), team.nodes - lists.linking
        whole, based, left = self._sums()
        self._weights = damping / left * (lists.sizes - damping * lists.closed * whole)
        others = based * (self._weights - damping * lists.closed)
        linking = np.flatnonzero(team.outdegrees)
        self._fixed = float(some_of(terms.base, linking).sum() + others.sum(where=lists.closed > 0))
        self._factors, self._constants = self._of_slots(whole, based, left)
        self._y = np.empty(2 * len(self._factors))
        self.take(some_of(terms.first, lists.first))

    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """W, B and, 1 without links between the pages of a row, 1 - d W, of each row."""
        base, damping = self._terms.loops
        whole = self._sum_of(np.ones(1))
        based = base[0] * whole if len(base) == 1 else self._sum_of(base)
        return whole, based, 1 - damping * self._lists.closed * whole

    def _sum_of(self, values: Floats) -> Floats:
        sums, lists = np.zeros((self.length, 2)), self._lists
        of_nodes = (self._team.outdegrees, lists.row_of, lists.closed)
        kernels.row_sums(*of_nodes, values, self._terms.equation.damping, sums)
        total: Floats = sums[:, 0] + sums[:, 1]
        return total

    def _of_slots(self, whole: Floats, based: Floats, left: Floats) -> tuple[Floats, Floats]:
        """Factors and constants."""
        lists, (base, damping) = self._lists, self._terms.loops
        firsts, nodes, slots = lists.slots[:-1], lists.split, lists.of_split
        rows = lists.row_of[nodes]
        factors = np.empty(lists.slots[-1])
        factors[firsts] = damping / left * whole
        divisors = self._team.outdegrees[nodes] + damping * lists.closed[rows]
        factors[slots] = damping / left[rows] / divisors
        if len(base) == 1:
            return factors, base / damping
        constants = np.empty(len(factors))
        constants[firsts] = based / (damping * whole)
        constants[slots] = base[nodes] * left[rows] / damping + lists.closed[rows] * based[rows]
        return factors, constants

    def take(self, vector: Floats) -> None:
        """Continue from the vector of a state."""
        self._flows = vector.copy()
        self._team.each(self._spread)
        self._show(0, self.length)

    def _spread(self, thread: int) -> None:
        """Make the numbers in the slots of a thread's rows those of F."""
        part = self._lists.parts[thread]
        state = (self._flows, self._y, part.begin, part.end)
        kernels.spread(self._lists.slots, self._factors, self._constants, *state)

    def _show(self, begin: int, end: int) -> None:
        """Show everybody what there is now in the slots of a range of rows."""
        slots, whole = slice(*self._lists.slots[[begin, end]]), len(self._factors)
        self._y[whole:][slots] = self._y[slots]

    def sweep(self) -> tuple[float, float]:
        """One pass over all rows; returns |x' - x|_1 and |x'|_1 of nodes with edges out."""
        rows, slots = (self._lists.slots, self._weights), (self._factors, self._constants)

        def pass_over(thread: int) -> tuple[float, float]:
            part = self._lists.parts[thread]
            state = (self._flows, self._y, part.begin)
            return kernels.sweep(part.ends, part.positions, rows, slots, *state)

        difference, total = _summed(self._team.each(pass_over))
        return difference, self._fixed + total

    def settle(self, factor: float) -> None:
        """Go `factor` times the last step further, and end the pass."""

        def own(thread: int) -> None:
            part = self._lists.parts[thread]
            if factor:
                state = (self._flows, self._y, factor, part.begin, part.end)
                kernels.jump(self._lists.slots, self._factors, *state)
                self._spread(thread)
            self._show(part.begin, part.end)

        self._team.each(own)

    def everywhere(self) -> tuple[Floats, Floats]:
        """(y of every node, room for as many); between sweep and settle with factor 0."""
        y, team, closed = np.empty(self._team.nodes), self._team, self._lists.closed
        _, based, left = self._sums()
        flows = (self._flows + closed * based) / left
        of_nodes = (team.outdegrees, self._lists.row_of, (closed, flows), *self._terms.loops, y)
        team.over_nodes(lambda begin, end: kernels.shares(*of_nodes, begin, end))
        return y, np.empty(team.nodes)

    def vector(self) -> Floats:
        """What a state keeps, after settle: a copy."""
        return self._flows.copy()


class _Streamed:
    """A row for each node with edges out, read where it lies. The vector: their y. Attributes and
    methods are those of _Compact."""

    form = 0.0

    def __init__(self, team: Team, terms: Terms, count: int, edges: int, largest: int) -> None:
        self.length, self.roundings, self._team = count, largest, team
        self.dangling, self._terms = team.nodes - count, terms.loops
        cuts = np.zeros(team.threads + 1, np.int64)
        kernels.cut(team.offsets, team.outdegrees, count, edges, cuts)
        self._own = [(int(cuts[t]), int(cuts[t + 1])) for t in range(team.threads)]
        self._y = np.zeros(2 * team.nodes)
        linking = np.flatnonzero(team.outdegrees)
        self.take(some_of(terms.first, linking) / team.outdegrees[linking])

    def take(self, vector: Floats) -> None:
        nodes = self._team.nodes
        self._y[:nodes][self._team.outdegrees > 0] = vector
        self._y[nodes:] = self._y[:nodes]

    def sweep(self) -> tuple[float, float]:
        team = self._team
        graph = (team.offsets, team.sources, team.outdegrees)

        def pass_over(thread: int) -> tuple[float, float]:
            own, results = self._own[thread], []
            for nodes in team.blocks(*own):
                results.append(kernels.stream(*graph, *self._terms, self._y, own, *nodes))
                team.release(*nodes)
            return _summed(results)

        return _summed(team.each(pass_over))

    def settle(self, factor: float) -> None:
        state = (self._y, self._team.outdegrees, self._terms[0], factor)
        self._team.each(lambda thread: kernels.settle(*state, *self._own[thread]))

    def everywhere(self) -> tuple[Floats, Floats]:
        nodes = self._team.nodes
        return self._y[:nodes], self._y[nodes:]

    def vector(self) -> Floats:
        return self._y[: self._team.nodes][self._team.outdegrees > 0]


Rows = _Compact | _Streamed


def _summed(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Sums over parts, in their order."""
    return sum(difference for difference, _ in pairs), sum(total for _, total in pairs)
