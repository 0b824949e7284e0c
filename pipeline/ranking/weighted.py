"""Scores on a graph of weighted edges, by sweeps: the solver of sites and of topics.

    x_t = b_t + c sum over edges s->t of x_s w_st / W_s,   W_s the sum of w_su over all u

b_t is what node t has without any edge, c the damping. A node without edges out gives to dummy: its
W_s is 0, and so is its y_s in the loops, where y_s = x_s / W_s.

Order: nodes by number; sweeps of Gauss and Seidel to a tolerance, plain rounds where their number
is asked for. Stopping rule: each round ends with a pass that measures the residual r of the scores
that it leaves. Sums are taken in the order written: nothing here lets the compiler reorder or
contract them. Memory: 24 bytes a node beside the graph.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import two_sum
from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.jobs.kernel.rank.plain_round import DOUBT, UNIT
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.solution import Problem, State, mass_of

ROUNDING = 1 + 16 * UNIT  # of the quotients of bounds

# of |r|_1 and max |r_t|, and the scores: the certificate of the scores, and their eta
ResidualBounds = Callable[[float, float, Floats], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class WeightedGraph:
    """The edges to node t come from `sources[offsets[t]:offsets[t + 1]]`, ascending, with
    `weights`, above 0 and finite: offsets int64[S + 1], sources int32[P] or int64[P], weights
    float64[P]. They may be mapped."""

    offsets: Offsets
    sources: Ids | Positions
    weights: Floats

    @property
    def nodes(self) -> int:
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        return len(self.sources)

    @cached_property
    def outweights(self) -> Floats:
        """float64[S]: what the weights of each node's edges out sum to, 0 for a dangling node."""
        return weight_sums(self.sources, self.weights, self.nodes)


def weight_sums(slots: Ids | Positions, weights: Floats, count: int) -> Floats:
    """float64[count]: the sum of the weights of each slot, rounded once."""
    sums, rests = np.zeros(count), np.zeros(count)
    _add_weights(slots, weights, sums, rests)
    return sums + rests


def iterate(
    problem: Problem,
    graph: WeightedGraph,
    base: Floats,
    start: Floats,
    bounds: ResidualBounds,
    counts: Mapping[str, int],
) -> tuple[Floats, list[Round]]:
    """Scores of nodes whose sum with dummy is S + 1, and the rounds that led to them. base:
    float64[1] for all nodes, or float64[S]. start: the scores before the first round, changed in
    place. counts: for the entries of rounds."""
    edges = graph.offsets, graph.sources, graph.weights
    stop, state, totals = problem.stop, problem.state, graph.outweights
    rounds = [] if state is None else list(state.rounds)
    scores = start if state is None else state.vector.copy()
    y = np.empty(graph.nodes)
    _share(scores, totals, y)
    then = y if stop.iterations is None else np.empty(graph.nodes)
    counts = {**counts, "dangling": int(np.count_nonzero(totals == 0))}
    while not stop.over(rounds):
        started = time.monotonic()
        _sweep(*edges, totals, base, RECIPE.damping, y, then, scores)
        y, then = then, y
        l1, largest = _residual(*edges, base, RECIPE.damping, y, scores)
        certificate, eta = bounds(l1, largest, scores)
        entry: Round = {
            "round": len(rounds) + 1,
            **counts,
            "mass": mass_of(graph.nodes, float(scores.sum())),
            "residual_l1": l1,
            "residual_max": largest,
            "certificate": certificate,
            "eta": eta,
            "probability_certificate": min(2.0, 2 * certificate),
            "seconds": round(time.monotonic() - started, 3),
        }
        rounds.append(entry)
        problem.on_round(entry, rounds, lambda: State(scores.copy(), 0.0, rounds))
    return scores, rounds


@loop
def _add_weights(slots: Ids | Positions, weights: Floats, sums: Floats, rests: Floats) -> None:
    """Add each weight to the sum of its slot, which is in two parts."""
    for k in range(len(slots)):
        slot = slots[k]
        sums[slot], error = two_sum(sums[slot], weights[k])
        rests[slot] += error


@loop
def _flow(
    sources: Ids | Positions, weights: Floats, y: Floats, begin: int, end: int
) -> tuple[float, float]:
    """The sum of w y over edges in two parts, wrong by less than (edges * UNIT)^2 of itself, but
    for the rounding of each product."""
    high, low = 0.0, 0.0
    for k in range(begin, end):
        value = weights[k] * y[sources[k]]
        high, error = two_sum(high, value)
        low += error
    return high, low


@loop
def _share(scores: Floats, totals: Floats, y: Floats) -> None:
    """y of scores."""
    for i in range(len(scores)):
        y[i] = scores[i] / totals[i] if totals[i] > 0.0 else 0.0


@loop
def _sweep(
    offsets: Offsets,
    sources: Ids | Positions,
    weights: Floats,
    totals: Floats,
    base: Floats,
    damping: float,
    y: Floats,
    then: Floats,
    scores: Floats,
) -> None:
    """New scores, and their y into `then`: with another array a plain round, with y itself a sweep
    of Gauss and Seidel. base: float64[1] for all, or float64[S]."""
    each = len(base) > 1
    for i in range(len(totals)):
        high, low = _flow(sources, weights, y, offsets[i], offsets[i + 1])
        scores[i] = base[i if each else 0] + damping * (high + low)
        then[i] = scores[i] / totals[i] if totals[i] > 0.0 else 0.0


@loop
def _residual(
    offsets: Offsets,
    sources: Ids | Positions,
    weights: Floats,
    base: Floats,
    damping: float,
    y: Floats,
    scores: Floats,
) -> tuple[float, float]:
    """With the doubt about each r_i of r = base + damping A x - x, |r|_1 and max |r_i|. base: as
    of `_sweep`.

    The doubt: W_s and y_s, the product with w_st, its sum, the product with the damping and the
    last sum round, and damping and base may be no doubles; w_st may be a rounded sum, which counts
    in W_s, too. That is 10 roundings of what each edge adds; DOUBT is 10, and two more are ample.
    """
    absolute, largest = 0.0, 0.0
    each = len(base) > 1
    for i in range(len(scores)):
        high, low = _flow(sources, weights, y, offsets[i], offsets[i + 1])
        score = base[i if each else 0] + damping * (high + low)
        edges = float(offsets[i + 1] - offsets[i])
        doubt = (DOUBT + 2.0 * UNIT + (edges * UNIT) ** 2) * (score + scores[i])
        off = abs(score - scores[i]) + doubt
        absolute += off
        largest = max(largest, off)
    return absolute, largest
