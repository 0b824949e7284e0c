"""PageRank on a Csr to a certificate, by sweeps of Gauss and Seidel.

Equation: x = 0.15 + 0.85 A x; y = x / outdegree is what is kept and read.
Dangling nodes are never read, so the sweeps go over the others only, and dangling ones get their
scores from the pass that measures the residual. dummy = N + 1 - sum(x).
Order: each thread owns a range of rows, of equal work; it reads its own y as they are now, and all
others as the last sweep left them. So a result depends on the number of threads, and on nothing
else. Where the ratio of successive differences settles, the vector goes the rest of the geometric
series at once: hosts whose pages link to each other in pairs or rings all have the same slow mode.
Steps must not alternate in sign for that, and it is not done again once a difference grew by it.
Stopping rule: a sweep from x to x' has |r'|_1 <= 0.85 |x' - x|_1, as each x'_j was read either so
or as x_j. Every round, one sweep, tells the certificates that follow from that, which are true and
coarse (eta: no |r_i| is more than all of them). When that is below the tolerance, or nothing more
is allowed, a pass over all nodes measures the true residual, and its certificates are told.
Memory: 24 bytes a node and what the compact rows take, or 24 bytes a node without them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from jobs.kernel.rank.plain_round import BASE, DAMPING, UNIT
from pipeline.contract import Round, Stop
from pipeline.data.graph import Floats
from pipeline.data.team import Team
from pipeline.engines.embedded.pagerank import kernels
from pipeline.engines.embedded.pagerank.rows import Rows, rows_of
from pipeline.engines.embedded.pagerank.state import OnRound, Ranked, State

PATIENCE = 4  # sweeps before their differences tell a ratio
SETTLED = 0.02  # how much two ratios may differ
FASTEST, SLOWEST = 0.3, 0.9  # ratios outside gain nothing, or cannot be


@dataclass(frozen=True, eq=False)
class Measured:
    """Scores of all nodes, and what is known of their residual: a part of a round's entry."""

    scores: Floats
    total: float
    told: dict[str, Any]


def rank_by_sweeps(
    team: Team, stop: Stop, budget: int, state: State | None, on_round: OnRound
) -> Ranked:
    """Scores with a certificate of `stop`'s tolerance, or the last ones that it allows.

    budget: bytes of memory; without enough for compact rows every sweep reads the mapped edges.
    """
    rows = rows_of(team, budget, None if state is None else state.vector)
    rounds = [] if state is None else list(state.rounds)
    measured = None
    while not stop.over(rounds):
        started = time.monotonic()
        difference, total = rows.sweep()
        entry = _bounds(team, rows, len(rounds) + 1, difference, total)
        if _promising(stop, rounds, entry) or stop.over([*rounds, entry]):
            measured = _measure(team, rows)
            entry |= measured.told
        entry["factor"] = 0.0 if entry["verified"] else extrapolation(rounds, entry)
        rows.settle(entry["factor"])
        entry["seconds"] = round(time.monotonic() - started, 3)
        rounds.append(entry)
        on_round(entry, rounds, lambda: State(rows.vector(), 0.0, rounds))
    if measured is None:  # nothing was left to do
        measured = _measure(team, rows)
    return Ranked(measured.scores, team.nodes + 1 - measured.total, rounds)


def _bounds(team: Team, rows: Rows, number: int, difference: float, total: float) -> Round:
    """What a sweep tells: the difference bounds the residual; sums in one part round as often as
    they have terms. |x|_1 is that of the scores which the dangling nodes would get."""
    whole = BASE * team.nodes + DAMPING * total
    doubt = (rows.largest + 10) * UNIT * whole
    l1 = (DAMPING * difference + doubt) * _rounding(team)
    return {
        "round": number,
        "nodes": team.nodes,
        "edges": team.edges,
        "dangling": team.nodes - rows.count,
        "mass": float(team.nodes + 1),
        "residual_l1": l1,
        "residual_max": l1,
        "certificate": l1 / (BASE * whole),
        "eta": l1 / BASE,
        "probability_certificate": 2 * l1 / (BASE * whole),
        "difference": difference,
        "rows_l1": total,
        "promise": DAMPING * difference / (BASE * whole),
        "verified": False,
    }


def _promising(stop: Stop, rounds: list[Round], entry: Round) -> bool:
    """Is a pass over all nodes likely to certify? Not again before twice as much is reached."""
    tried = [told["difference"] for told in rounds if told["verified"]]
    reached: bool = entry["promise"] <= stop.bound
    return reached and (not tried or entry["difference"] <= tried[-1] / 2)


def extrapolation(rounds: list[Round], entry: Round) -> float:
    """How many times the last step is still to go, once steps shrink by a settled ratio; or 0."""
    told = [*rounds, entry]
    jumps = [k for k, one in enumerate(rounds) if one["factor"]]
    if any(told[k + 1]["difference"] > told[k]["difference"] for k in jumps):
        return 0.0
    since = told[jumps[-1] + 1 if jumps else 0 :]
    if len(since) < PATIENCE or not all(one["difference"] for one in since):
        return 0.0
    first, second, third = (one["difference"] for one in since[-3:])
    start, middle, now = (one["rows_l1"] for one in since[-3:])
    ratio, before = third / second, second / first
    settled = abs(ratio - before) < SETTLED * ratio and FASTEST < ratio < SLOWEST
    one_way = (middle - start) * (now - middle) > 0
    return ratio / (1 - ratio) if settled and one_way else 0.0


def _measure(team: Team, rows: Rows) -> Measured:
    """The scores of all nodes and their certificates, from their true residual."""
    y, r = rows.everywhere()
    scores = np.empty(team.nodes)
    graph = (team.offsets, team.sources, team.outdegrees)
    found = team.over_nodes(lambda begin, end: kernels.residual(*graph, y, scores, r, begin, end))
    total, signed, l1, _, doubt = (math.fsum(values) for values in zip(*found, strict=True))
    largest = max(values[3] for values in found)
    mean = signed / team.nodes
    away = team.over_nodes(lambda begin, end: kernels.deviation(r, mean, begin, end))
    rounding = _rounding(team)
    # the last term: what the sum of r, which cancels, may be wrong by
    deviation = math.fsum(away) + 2 * doubt + (rounding - 1) * l1
    told = {
        "residual_l1": l1,
        "residual_max": largest,
        "certificate": l1 / (BASE * total) * rounding,
        "eta": largest / BASE * rounding,
        "probability_certificate": deviation / (BASE * total) * rounding,
        "verified": True,
    }
    return Measured(scores, total, told)


def _rounding(team: Team) -> float:
    """What sums over all nodes, and quotients of them, can be wrong by, as a factor."""
    return 1 + UNIT * (2 * team.nodes + 16)
