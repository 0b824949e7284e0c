"""HITS: a page is a good hub as it links to good authorities, and a good authority as it is linked
from good hubs.

    h_i = sum over edges i->j of r_j a_j,  a_i = sum over edges j->i of h_j

The score of a page is its authority; r is the relevance of pages, 1 for all unless it is given. h
is the left singular vector of M = L R^(1/2), and a = L^T h; both have length 1. Source: Kleinberg,
*Authoritative Sources in a Hyperlinked Environment*, Journal of the ACM 46, 1999.

To a tolerance, lanczos.py finds the vectors, and the certificate bounds the length of a - a*.
Memory: that of the matrix of links, and STEPS vectors of hubs, fewer where the budget is small.

A number of plain passes gives exactly the scores that jobs would, to the last bit. A pass computes
both sums, from a = 1 everywhere, and divides each by its length. Every sum is correctly rounded, so
neither order nor threads matter. Memory: 24 bytes a node, 4 bytes an edge.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.csr import Ids, Offsets, Team, read_only, team_of
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.exact_sums import sum_of
from crawlrank.pipeline.ranking.hits.lanczos import (
    LEAST_STEPS,
    STEPS,
    Links,
    Pair,
    cycle,
    gather_exactly,
    measured,
    second,
    square_sum,
    turn,
)
from crawlrank.pipeline.ranking.inputs import PERTURB, RELEVANCE
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.solution import OnState, Problem, Solution, State

MOST_PERTURB = 1e100  # whose squares can be summed
HOPED = 0.1  # gap, relative, that the residual is made small enough for before the gap is looked at


def solve(problem: Problem) -> Solution:
    """Raises BadInput for a graph without links that count, or whose largest singular values are
    equal, for a relevance outside 0 to 1, and for a perturb that is none."""
    relevance = read_only(relevance_of(RELEVANCE.of(problem.inputs)))
    perturb = PERTURB.of(problem.inputs)
    if not 0 <= perturb <= MOST_PERTURB:
        raise BadInput(PERTURB.option, f"{perturb}", f"a number from 0 to {MOST_PERTURB:g}")
    with team_of(problem.csr, problem.threads, problem.block) as team:
        if not team.edges and not perturb:
            raise without_links()
        if problem.stop.iterations is not None:
            to = (team, relevance, perturb, problem.stop)
            return solve_by_passes(*to, problem.state, problem.on_round)
        room, wanted = problem.budget // 2, problem.stop.tolerance / 100
        links = Links(team, relevance, perturb, budget=room, wanted=wanted)
        return _to_tolerance(team, links, problem)


def base(weights: Floats | None) -> Floats:
    return np.zeros(1)


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    return more["gives"]


def relevance_of(weights: Floats | None) -> Floats:
    """float64[1] where none is given. Raises BadInput for one outside 0 to 1, or 0 for all."""
    if weights is None:
        return np.ones(1)
    if not ((weights >= 0) & (weights <= 1)).all():
        largest = f"a relevance of {float(np.abs(weights).max()):g}"
        raise BadInput("weights", largest, "0 to 1 for each page", "Name each page once.")
    if not weights.any():
        raise BadInput("weights", "0 for all pages", "one above 0", "Name a page that has a score.")
    return weights


def _to_tolerance(team: Team, links: Links, problem: Problem) -> Solution:
    """Cycles of Lanczos' method, and the gap as soon as the residual is small."""
    stop, state = problem.stop, problem.state
    start, rounds = links.team.outdegrees[links.nodes].astype(np.float64), list[Round]()
    if not start.any():  # of a perturbed matrix
        start += 1
    if state is not None and state.vector.shape == start.shape:
        start, rounds = state.vector, list(state.rounds)
    steps = _steps(problem.budget, len(start))
    enough, known = HOPED * min(stop.tolerance, 1.0), 0.0
    while True:
        started = time.monotonic()
        start = cycle(links.squared, start, steps, enough)
        pair = measured(links.squared, start)
        theta = pair.theta
        if not theta:
            raise without_links()
        if pair.residual <= max(enough, links.doubt) * theta or len(rounds) + 1 >= stop.max_rounds:
            known = known or _second(links, pair, stop.tolerance)
        scores, error = _scores(links, pair, known)
        entry = entry_of(team, len(rounds) + 1, scores.a, error, pair.residual / theta, started)
        rounds.append(entry)
        now = State(start, 0.0, rounds)
        problem.on_round(entry, rounds, lambda now=now: now)  # type: ignore[misc]
        if stop.over(rounds) or (known and pair.residual <= links.doubt * theta):
            return scores.solution(rounds)
        if known:
            enough = min(enough, 0.3 * stop.tolerance / error * pair.residual / theta)


def _steps(budget: int, rows: int) -> int:
    """The steps of a cycle: half of the memory is for its vectors."""
    return max(LEAST_STEPS, min(STEPS, budget // (16 * max(rows, 1))))


def _second(links: Links, pair: Pair, bound: float) -> float:
    """An upper bound of the second eigenvalue. Raises BadInput where it may be the first."""
    room = math.sqrt(2) * (pair.residual + links.doubt * pair.theta) / bound
    low, high = second(links.squared, pair, pair.theta - room)
    high += 2 * links.doubt * pair.theta
    if not high < pair.theta - pair.residual:
        raise without_gap(pair.theta, low)
    return high


def _scores(links: Links, pair: Pair, known: float) -> tuple[HitsScores, float]:
    """The authorities of hubs, and a bound of their error. known: of the second eigenvalue."""
    u, sine = pair.u, math.inf
    known = known if pair.theta > known else 0.0  # else u may be near another vector
    if known:
        sine = (pair.residual + links.doubt * pair.theta) / (pair.theta - known)
        u = _of_community(links, u, sine)
    sums = links.authorities(u)
    length = float(np.linalg.norm(sums))
    hubs = np.zeros(links.team.nodes)
    hubs[links.nodes] = u
    scores = HitsScores(sums / length, hubs, length)
    if not known:
        return scores, math.sqrt(2)
    return scores, min(math.sqrt(2), _of_authorities(links, length, sine))


def _of_community(links: Links, u: Floats, sine: float) -> Floats:
    """The vector without the hubs of other communities, which are exactly 0; this turns u further
    to u*. A hub is in the best community where it is above |u - u*|, which is at most sqrt(2) times
    the sine."""
    best = int(u.argmax())
    if not u[best] > math.sqrt(2) * sine:
        return u
    there: Floats = np.where(links.community(best), u, 0.0)
    there /= np.linalg.norm(there)
    return there


def _of_authorities(links: Links, length: float, sine: float) -> float:
    """The error of a from that of h: with h = cos h* + sin g, L^T h is cos L^T h* + sin L^T g.

    Where all relevance is 1, |L^T g| is at most the second singular value, and |L^T h| the first.
    Otherwise |L^T g| is at most the root of the largest in- and outdegree's product.
    """
    if len(links.relevance) == 1:
        return math.sqrt(2) * sine
    team = links.team
    most = int(np.diff(team.offsets).max()) * int(team.outdegrees.max())
    largest = math.sqrt(most) + links.perturb * team.nodes
    return min(math.sqrt(2), 2 * largest * sine / length)


CURE = (
    "With --runner embedded, give --perturb 1e-6, which adds that to every entry of the matrix of"
    " links."
)


class HitsScores(NamedTuple):
    """a: authorities, h: hubs, float64[N] of length 1. length: of the sums of h that a is."""

    a: Floats
    h: Floats
    length: float

    def solution(self, rounds: list[Round]) -> Solution:
        """gives: what each link of a page adds to the score of its target."""
        return Solution(self.a, 0.0, rounds, {"hubs": self.h, "gives": self.h / self.length})


def entry_of(
    team: Team, number: int, a: Floats, error: float, residual: float, started: float
) -> Round:
    """error: a bound of |a - a*|, the length of the difference, and so of each score. Nothing
    is known relative to an exact score, which may be 0. residual: the length of what a pass
    changes."""
    mass = float(a.sum())
    return {
        "round": number,
        "nodes": team.nodes,
        "edges": team.edges,
        "dangling": int(np.count_nonzero(team.outdegrees == 0)),
        "mass": mass,
        "residual_l1": residual,
        "residual_max": residual,
        "certificate": error,
        "eta": math.inf,
        "absolute": error,
        "probability_certificate": of_probabilities(error, team.nodes, mass),
        "seconds": round(time.monotonic() - started, 3),
    }


def of_probabilities(error: float, nodes: int, mass: float) -> float:
    """A bound of |p - p*|_1, with p = a / |a|_1: at most 2 |a - a*|_1 / |a|_1, and the sum of n
    numbers is at most sqrt(n) times their length. mass: |a|_1."""
    return min(2.0, 2 * math.sqrt(nodes) * error / mass)


def without_links() -> BadInput:
    what = "no link to a page that counts, so that all hub and authority scores are 0"
    return BadInput("graph", what, "at least one link to a page with a relevance above 0", CURE)


def without_gap(theta: float, second: float) -> BadInput:
    """theta, second: the squares of the largest singular values."""
    what = (
        f"two largest singular values that are equal as far as can be told ({theta**0.5:.9g} and at"
        f" least {second**0.5:.9g}), so that the scores would depend on where HITS starts"
    )
    return BadInput("graph", what, "one that is larger than all others", CURE)


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
