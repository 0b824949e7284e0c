"""A number of plain passes of HITS: exactly those that jobs would make, to the last bit.

    h_i = sum over edges i->j of r_j a_j,  a_i = sum over edges j->i of h_j

A pass is both, from a = 1 everywhere, each divided by its length. Every sum is correctly rounded,
so neither order nor threads matter. Memory: 24 bytes a node, 4 bytes an edge.
"""

from __future__ import annotations

import math
import time

import numpy as np

from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.team import Team
from crawlrank.pipeline.ranking.exact_sums import sum_of
from crawlrank.pipeline.ranking.hits.kernels import gather_exactly, square_sum, turn
from crawlrank.pipeline.ranking.hits.outcome import HitsScores, entry_of, without_links
from crawlrank.pipeline.ranking.solution import OnState, Solution, State
from crawlrank.pipeline.ranking.stop import Round, Stop


def solve_by_passes(
    team: Team,
    relevance: Floats,
    perturb: float,
    stop: Stop,
    state: State | None,
    on_round: OnState,
) -> Solution:
    """Nothing is proven of their distance from the fixed point, as the gap is not known."""
    ends, targets = _turned(team)
    a: Floats = np.ones(team.nodes)
    h: Floats = np.zeros(team.nodes)
    length, rounds = 1.0, list[Round]()
    if state is not None:
        h, rounds = state.vector, list(state.rounds)
        a, length = _half(team, team.offsets, team.sources, h, perturb)
    while not stop.reached(rounds):
        started, before = time.monotonic(), a
        h, _ = _half(team, ends, targets, relevance * a, perturb)
        a, length = _half(team, team.offsets, team.sources, h, perturb)
        residual = float(np.linalg.norm(a - before))
        rounds.append(entry_of(team, len(rounds) + 1, a, math.sqrt(2), residual, started))
        now = State(h, 0.0, rounds)
        on_round(rounds[-1], rounds, lambda now=now: now)  # type: ignore[misc]
    return HitsScores(a, h, length).solution(rounds)


def _turned(team: Team) -> tuple[Offsets, Ids]:
    offsets = np.concatenate(([0], np.cumsum(team.outdegrees, dtype=np.int64)))
    targets = np.empty(team.edges, team.sources.dtype)
    turn(team.offsets, team.sources, offsets[:-1].copy(), targets)
    return offsets, targets


def _half(
    team: Team, offsets: Offsets, ends: Ids, values: Floats, perturb: float
) -> tuple[Floats, float]:
    """The sums over edges, of length 1, and their length before. Raises BadInput for zeros."""
    sums = np.empty(team.nodes)
    team.over_nodes(lambda begin, end: gather_exactly(offsets, ends, values, sums, begin, end))
    if perturb:
        sums += perturb * math.fsum(values)
    length = math.sqrt(sum_of(team.over_nodes(lambda begin, end: square_sum(sums, begin, end))))
    if not length:
        raise without_links()
    sums /= length
    return sums, length
