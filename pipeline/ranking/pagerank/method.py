"""PageRank as a method. Plain rounds compute it where their number is given or links weigh
differently, sweeps (sweeps.py) otherwise.

A plain round is exactly that of the page_rank job, to the last bit:

    x'_i = base_i + damping * sum over edges j->i of x_j / outdegree_j      (dummy likewise)

Dangling nodes give all they have to dummy, and dummy to itself. Every sum is correctly rounded, so
neither order nor threads matter. Order: by node. Stopping rule: the given number of rounds, or the
certificate of a round. Memory: 16 bytes a node, with weighted links 36.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import two_sum
from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation
from crawlrank.jobs.kernel.rank.plain_round import DOUBT, UNIT, RoundSums
from crawlrank.pipeline.data.csr import Ids, Offsets, Team, team_of
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.certificate import check_mass, round_entry
from crawlrank.pipeline.ranking.exact_sums import (
    CHUNKS,
    Chunks,
    add,
    empty_sum,
    rounded_sum,
    sum_of,
)
from crawlrank.pipeline.ranking.inputs import LINK_WEIGHT
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.pagerank.sweeps import rank_by_sweeps
from crawlrank.pipeline.ranking.pagerank.terms import Terms, WeightedLinks, terms_of
from crawlrank.pipeline.ranking.solution import OnState, Problem, Solution, State

SUMS = (
    "old_l1",
    "new_l1",
    "residual_sum",
    "residual_l1",
    "residual_max",
    "relative_max",
    "share_max",
    "least",
    "shifted_l1",
    "dangling_new",
)


@loop
def divide(scores: Floats, outdegrees: Ids, y: Floats, begin: int, end: int) -> None:
    """What every node gives along each of its edges."""
    for i in range(begin, end):
        y[i] = scores[i] / outdegrees[i] if outdegrees[i] else 0.0


#: as RoundSums names them: old_l1, new_l1, residual_sum, residual_l1, residual_max, relative_max,
#: share_max, least, shifted_l1, dangling_new
NodeSums = tuple[float, float, float, float, float, float, float, float, float, float]
NO_SUMS: NodeSums = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.inf, 0.0, 0.0)


@loop
def _added(
    sums: NodeSums, node: tuple[bool, float, float, float, float], shift_of_base: float
) -> NodeSums:
    """The sums of a round with one node more: whether it dangles, its score before and after the
    round, the doubt about the new one, and its base."""
    old, new, signed, absolute, largest, relative, share, smallest, shifted, dangling = sums
    dangles, before, score, doubt, least = node
    r = score - before
    bound = abs(r) + doubt
    largest = max(largest, bound)
    if bound > 0.0:
        relative, share = max(relative, bound / least), max(share, bound / before)
    if before > 0.0:
        smallest = min(smallest, before)
    if dangles:
        dangling += score
    return (
        old + before, new + score, signed + r, absolute + bound, largest, relative, share, smallest,
        shifted + (abs(r - shift_of_base * least) + doubt), dangling,
    )  # fmt: skip


@loop
def plain(
    offsets: Offsets,
    sources: Ids,
    outdegrees: Ids,
    base: Floats,
    damping: float,
    y: Floats,
    scores: Floats,
    shift_of_base: float,
    begin: int,
    end: int,
) -> NodeSums:
    """One plain round: scores of a range from y, in place. shift_of_base: for a base of 1."""
    chunks, each, sums = np.zeros(CHUNKS, np.int64), len(base) > 1, NO_SUMS
    for i in range(begin, end):
        flow = rounded_sum(sources, y, offsets[i], offsets[i + 1], chunks)
        least = base[i if each else 0]
        score = least + damping * flow
        doubt = DOUBT * score
        sums = _added(sums, (not outdegrees[i], scores[i], score, doubt, least), shift_of_base)
        scores[i] = score
    return sums


@loop
def dangling_sum(scores: Floats, outdegrees: Ids, begin: int, end: int) -> Chunks:
    """The exact sum of the scores of dangling nodes."""
    chunks = np.zeros(CHUNKS, np.int64)
    for i in range(begin, end):
        if not outdegrees[i]:
            add(chunks, scores[i])
    return chunks


@loop
def hosted_flow(
    sources: Ids,
    hosts: Positions,
    weights: tuple[float, float],
    y: Floats,
    host: int,
    edges: tuple[int, int],
) -> tuple[float, float]:
    """The sum of w y over edges in two parts, wrong by less than (edges * UNIT)^2 of itself, but
    for the rounding of each product."""
    high, low = 0.0, 0.0
    for k in range(edges[0], edges[1]):
        weight = weights[0] if hosts[sources[k]] == host else weights[1]
        value = weight * y[sources[k]]
        high, error = two_sum(high, value)
        low += error
    return high, low


@loop
def weighted_plain(
    offsets: Offsets,
    sources: Ids,
    outweights: Floats,
    base: Floats,
    damping: float,
    y: Floats,
    scores: Floats,
    shift_of_base: float,
    hosts: Positions,
    weights: tuple[float, float],
    begin: int,
    end: int,
) -> NodeSums:
    """One round with weighted links: scores of a range from y, in place.

    The doubt: W_j (3 roundings), y_j, its product with w_ji, their sum, that by the damping and the
    last sum round, and damping and base may be no doubles. That is 10; 20 are ample."""
    each, sums = len(base) > 1, NO_SUMS
    for i in range(begin, end):
        edges = (offsets[i], offsets[i + 1])
        high, low = hosted_flow(sources, hosts, weights, y, hosts[i], edges)
        least = base[i if each else 0]
        score = least + damping * (high + low)
        doubt = (2.0 * DOUBT + (float(edges[1] - edges[0]) * UNIT) ** 2) * score
        sums = _added(sums, (not outweights[i], scores[i], score, doubt, least), shift_of_base)
        scores[i] = score
    return sums


def rank_by_rounds(
    team: Team,
    terms: Terms,
    stop: Stop,
    state: State | None,
    on_round: OnState,
    links: WeightedLinks | None = None,
) -> Solution:
    """Scores after as many rounds as `stop` wants, from the first ones or from a state.

    links: their weights take the part of outdegrees; other links weigh 1 each.
    """
    outdegrees: Any = links.outweights(team) if links else team.outdegrees
    first = np.broadcast_to(terms.first, team.nodes) if state is None else state.vector
    scores = first.copy()
    dummy = 1.0 if state is None else state.dummy
    rounds = [] if state is None else list(state.rounds)
    dangling = int(np.count_nonzero(outdegrees == 0))
    y = np.empty(team.nodes)
    while not stop.over(rounds):
        started = time.monotonic()
        sums = RoundSums(
            nodes=team.nodes, edges=team.edges, dangling=dangling, dummies=1, dummy_old=dummy,
            damping=terms.equation.damping,
        )  # fmt: skip
        sums.shift = rounds[-1]["next_shift"] if rounds else 0.0
        sums.dummy_new = dummy = _dummy(team, terms, outdegrees, scores, dummy)
        _round(team, terms, outdegrees, scores, y, sums, links)
        check_mass(sums)
        rounds.append(round_entry(len(rounds) + 1, sums, time.monotonic() - started))
        now = State(scores, dummy, rounds)
        on_round(rounds[-1], rounds, lambda now=now: now)  # type: ignore[misc]
    more = {"outweights": outdegrees, "hosts": links.hosts.astype(np.float64)} if links else {}
    return Solution(scores, dummy, rounds, more)


def _dummy(team: Team, terms: Terms, outdegrees: Any, scores: Floats, dummy: float) -> float:
    """dummy's next score: it gets all that dangling nodes and itself have."""

    own = empty_sum()
    add(own, dummy)
    parts = team.over_nodes(lambda begin, end: dangling_sum(scores, outdegrees, begin, end))
    inflow = sum_of([own, *parts])
    return terms.equation.base + terms.equation.damping * inflow


def _round(
    team: Team,
    terms: Terms,
    outdegrees: Any,
    scores: Floats,
    y: Floats,
    sums: RoundSums,
    links: WeightedLinks | None,
) -> None:
    """New scores in place, and what they sum to."""
    team.over_nodes(lambda begin, end: divide(scores, outdegrees, y, begin, end))
    shift_of_base = sums.shift / terms.equation.base
    of_graph = (team.offsets, team.sources, outdegrees, *terms.loops, y, scores, shift_of_base)
    if links:
        weights = (links.internal, links.external)
        parts = team.over_nodes(
            lambda begin, end: weighted_plain(*of_graph, links.hosts, weights, begin, end)
        )
    else:
        parts = team.over_nodes(lambda begin, end: plain(*of_graph, begin, end))
    for name, values in zip(SUMS, zip(*parts, strict=True), strict=True):
        total = max if name.endswith("_max") else min if name == "least" else math.fsum
        setattr(sums, name, total(values))


def solve(problem: Problem, equation: Equation = RECIPE, weights: Floats | None = None) -> Solution:
    """Scores of Heritrix's scale: with dummy they sum to N + 1.

    weights: float64[N] of mean 1, how often a reader starts anew at each page; None: all alike. The
    certificate of the last round tells whether the tolerance was reached. Weighted links are
    ranked by plain rounds, and leave the columns outweights and hosts. Raises JobFailed when a
    plain round loses mass.
    """
    stop, terms = problem.stop, terms_of(equation, weights)
    links: WeightedLinks | None = LINK_WEIGHT.of(problem.inputs)
    with team_of(problem.csr, problem.threads, problem.block) as team:
        if links is None and stop.iterations is None:
            of_sweeps = (problem.budget, problem.state, problem.on_round)
            return rank_by_sweeps(team, terms, stop, *of_sweeps)
        return rank_by_rounds(team, terms, stop, problem.state, problem.on_round, links)


def base(weights: Floats | None) -> Floats:
    return np.array([RECIPE.base])


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    return RECIPE.damping * (scores / outdegrees)
