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
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.rank.plain_round import UNIT
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.team import Team
from crawlrank.pipeline.ranking.pagerank import kernels
from crawlrank.pipeline.ranking.pagerank.rows import Rows, rows_of
from crawlrank.pipeline.ranking.pagerank.terms import Terms
from crawlrank.pipeline.ranking.solution import OnState, Solution, State
from crawlrank.pipeline.ranking.stop import Round, Stop

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
