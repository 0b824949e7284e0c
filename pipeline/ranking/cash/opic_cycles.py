"""OPIC as a ranking: the importance that pages have by the cash that passes through them.

Source: Abiteboul, Preda, Cobena, Adaptive On-Line Page Importance Computation, WWW 2003. At first
all N pages have the same cash. A page that is read gives it away in equal parts, to its targets and
to a virtual page, which gives what it gets to all pages in equal parts, at once. A page without
targets gives all to the virtual page. A page's importance is the cash that it had when it was read,
of all that was read. In the limit that is the fixed point of the paper's chain,

    x_i = sum over j->i of x_j / (n_j + 1) + g,    g the same for all, n_j the outdegree of j.

Scores have the scale on which the virtual page gives each page 1, so g = 1: a page that no page
links to has the score 1, and the virtual page, as `dummy`, has N.

Policy: cycle, that is all pages by their ids, again and again. The history is that of the last
cycle, as the whole history comes nearer only like 1/cycles, whatever the policy (docs/opic.md).

Certificate. Let h be the cash of the last cycle, A h what pages get of it from pages, and
r = h/g - A h/g - 1. A is not negative and no column of it sums to more than m / (m + 1), m being
the largest outdegree. So with M = (I - A)^-1 and the exact scores x* = M 1,
    |h_i/g - x*_i| <= eta x*_i with eta = max|r|, and |h/g - x*|_1 <= (m + 1) |r|_1.
The certificate is the smaller bound on the L1 distance by the sum of the scores. It holds for any
g; here g is an N-th of what the virtual page gets. What rounding can do to r is part of it.

Stopping rule: the given number of cycles, or the certificate. Memory: 16 bytes a node. An
interrupted ranking continues after its last cycle.

The loops are compiled by numba when first used. A page's cash when it is read is what its sources
gave since it was read last. In a cycle, each of them was read once in between, so that cash is a
sum over what the sources held when they were read last. So a page takes what others give to it, by
its incoming edges, and no edge is turned around.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import two_sum
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.certificate import SAFETY
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.solution import Problem, Solution, State, exact

UNIT = 2.0**-53
BLOCK = 1 << 12  # pages whose values are summed by themselves


@loop
def total(weights: Floats, values: Floats) -> float:
    """The sum of the products, each rounded once, with what the rounding of sums took away."""
    high = low = 0.0
    for page in range(len(values)):
        term = weights[page] * values[page]
        high, error = two_sum(high, term)
        low += error
    return high + low


@loop
def read_pages(
    offsets: Offsets, sources: Ids, share: Floats, start: float, held: Floats, virtual: float
) -> None:
    """Read all pages, one after the other. held: what each had when it was read last, changed in
    place. start: what each has besides that nobody gave. virtual: what all pages together gave to
    the virtual page when they were read last; it gives each page an N-th."""
    for page in range(len(held)):
        cash = start + virtual / len(held)
        for k in range(offsets[page], offsets[page + 1]):
            source = sources[k]
            cash += share[source] * held[source]
        virtual += share[page] * (cash - held[page])
        held[page] = cash


@loop
def imbalance(
    offsets: Offsets, sources: Ids, share: Floats, held: Floats, gift: float
) -> tuple[float, float, float, float]:
    """Sum of |r| and max|r| of r = held - A held - gift; then both with what rounding may have
    taken from each. A sum with its low part is wrong by UNIT and by the square of UNIT times its
    terms (Ogita, Rump, Oishi, Accurate Sum and Dot Product, SIAM J. Sci. Comput. 26, 2005)."""
    whole = most = sure = surest = 0.0
    for begin in range(0, len(held), BLOCK):
        block = block_sure = 0.0
        for page in range(begin, min(begin + BLOCK, len(held))):
            high = low = 0.0
            for k in range(offsets[page], offsets[page + 1]):
                term = share[sources[k]] * held[sources[k]]
                high, error = two_sum(high, term)
                low += error
            flow, terms = high + low, UNIT * (offsets[page + 1] - offsets[page])
            r = abs(held[page] - flow - gift)
            doubt = (8 * UNIT + terms * terms) * (held[page] + flow + gift)
            block += r
            block_sure += r + doubt
            most, surest = max(most, r), max(surest, r + doubt)
        whole += block
        sure += block_sure
    return whole, most, sure, surest


def solve(problem: Problem) -> Solution:
    """Scores of at least 1. The cycle's certificate tells whether the tolerance was reached."""
    csr, stop, n = problem.csr, problem.stop, problem.csr.nodes
    if not n:
        return exact(csr, np.zeros(0))
    share, (held, rounds) = share_of(csr), _begin(problem)
    while not stop.over(rounds):
        started = time.monotonic()
        virtual = total(share, held)
        start = 0.0 if rounds else 1 / n
        read_pages(csr.offsets, csr.sources, share, start, held, virtual)
        entry = _entry(len(rounds) + 1, csr, share, held)
        rounds.append({**entry, "seconds": round(time.monotonic() - started, 3)})
        now = State(held, 0.0, rounds)
        problem.on_round(rounds[-1], rounds, lambda now=now: now)  # type: ignore[misc]
    return Solution(held / (total(share, held) / n), float(n), rounds)


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    return scores / (outdegrees + 1)


def base(weights: Floats | None) -> Floats:
    return np.ones(1)


def share_of(csr: Csr) -> Floats:
    """The part of its cash that a page gives to each target and to the virtual page, float64[N]."""
    share = csr.outdegrees.astype(np.float64)
    share += 1
    return np.divide(1, share, out=share)


def _begin(problem: Problem) -> tuple[Floats, list[Round]]:
    """What pages held when they were read last, and the rounds so far."""
    if state := problem.state:
        return state.vector.copy(), list(state.rounds)
    return np.zeros(problem.csr.nodes), []


def _entry(number: int, csr: Csr, share: Floats, held: Floats) -> Round:
    """A cycle with its certificate; errors are those of scores."""
    gift = total(share, held) / csr.nodes
    edges = csr.offsets, csr.sources
    whole, most, sure, surest = (each / gift for each in imbalance(*edges, share, held, gift))
    mass, eta = float(held.sum()) / gift, surest * SAFETY
    by_lengths = (int(csr.outdegrees.max()) + 1) * sure / mass
    by_eta = eta / (1 - eta) if eta < 1 else math.inf
    bound = min(by_lengths, by_eta) * SAFETY
    return {
        "round": number,
        "nodes": csr.nodes,
        "edges": csr.edges,
        "dangling": int(np.count_nonzero(csr.outdegrees == 0)),
        "mass": mass + csr.nodes,
        "residual_l1": whole,
        "residual_max": most,
        "certificate": bound,
        "eta": eta,
        "probability_certificate": 2 * bound,
        "seconds": 0.0,
    }
