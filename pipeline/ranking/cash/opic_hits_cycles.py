"""OPIC of two kinds of cash: authorities pay the hubs that link to them, hubs pay authorities.

Source: the backend OPIC-HITS of scrapinghub's Frontera, a crawler, and its page "OPIC Details". It
puts HITS (Kleinberg 1998) on top of Abiteboul, Preda, Cobena, WWW 2003. A page has cash of both
kinds, at first the same for all. A page i that is read gives

- its hub cash in equal parts to its n_i targets and to the virtual page, as authority cash;
- of its authority cash the part z_i to each of its P_i parents, as hub cash, and what is left to
  the virtual page, as hub cash.

The virtual page gives what it gets to all pages in equal parts, at once: its authority cash as hub
cash, its hub cash as authority cash. With the relevance r_i, 0 to 1, of the page's content,

z_i = (2 r_i / P_i) ((2 P_i / (P_i + 1)) (1 - r_i) + r_i - 0.5),    at most 1/P_i.

So a page of relevance 0 pays no parent, one of relevance 1 keeps nothing back, and at 0.5, that of
all pages without relevance, the virtual page is like one more parent. The bound 1/P_i is our own:
with more than 3 parents the source's z gives away more than there is for some r between 0.5 and 1.

The fixed point, a and b being authority and hub cash, v and w what the virtual page gives to each:
    a_i = sum over j->i of b_j / (n_j + 1) + v,    N v = sum of (1 - P_i z_i) a_i,
    b_j = sum over j->i of z_i a_i + w,            N w = sum of b_j / (n_j + 1).

Scores are a_i / v and hubs b_j / v, so the virtual page gives each page the score 1, as in
opic_cycles.py; a score is 1 and hub / (n + 1) of each page that links to it. `dummy` is N w / v. As
in opic_cycles.py, the cash of the last cycle is taken. If no page keeps anything back from its
parents, v is 0, and the ranking is refused.

Certificate. Write the equations as x = B x + g for x = (a, b), with the residual r = x - B x - g.
B is not negative, and cash makes 2 (m + 1) steps on average at most before the virtual page has
it, m being the largest outdegree. With M = (I - B)^-1, V = (v, 0) and W = (0, w), x = M V + M W +
M r. What is wrong with it are M r and the ratio v : w. Cash that the virtual page gave as authority
cash comes back as hub cash with some probability p, and q the other way round; the fixed point has
v p = w q, and here N |v p - w q| <= |r|_1. With p + q >= t, which crossing gives, there
is a multiple x* of the fixed point with
    |x - x*|_1 <= d = l |r|_1 + k min(2 l, (|x|_1 + l |r|_1) / min(v, w) / N) with l = 2 (m + 1),
    k = |r|_1 / t, and |v - v*| <= d/N;
    |x - x*| <= e x with e = (h + k / (N min(v, w))) / (1 - h), h = max(|r_a|/v, |r_b|/w),
and v like a_i. Of both the smaller bound is taken. Rounding of r is part of it.

Stopping rule: as many cycles as wanted, or the certificate; to this, cash is balanced between
cycles (`factors`). Memory: HITS_BYTES a node. An interrupted ranking continues after its last
cycle.

Cash between groups of pages is made right at once, for which OPIC-HITS needs many cycles. Where
most pages have no links, as at the edge of a crawl, nearly all hub cash goes to the virtual page
and back to hubs, and seldom becomes authority cash: on a crawl with 18,393 pages, 99% of which have
no links, a cycle brings it 1% nearer. So between cycles the cash of three groups is scaled:
authority cash, hub cash of pages without links, and that of pages with links. What flows from one
to another follows from their sums. The factors are those for which as much comes to each group as
leaves it (iterative aggregation and disaggregation: Koury, McAllister, Stewart, SIAM J. Alg. Disc.
Meth. 5, 1984). All cash together stays what it is.

Both kinds of cash move along the incoming edges of the page that is read. Its authority cash is
summed from what its sources held as hubs, as in OPIC. The hub cash that it gives to them is handed
out at once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import two_sum
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.data.memory import LOOPS, require_memory
from crawlrank.pipeline.ranking.cash.opic_cycles import BLOCK, UNIT, share_of, total
from crawlrank.pipeline.ranking.certificate import SAFETY
from crawlrank.pipeline.ranking.inputs import RELEVANCE
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.solution import Problem, Solution, State, exact


@loop
def kept_part(parents: int, part: float) -> float:
    """The part of its authority cash that a page does not give to its parents; what is no more than
    the rounding of the others is nothing."""
    kept = 1 - parents * part
    return kept if kept > 8 * UNIT else 0.0


@loop
def kept_back(offsets: Offsets, part: Floats, authority: Floats) -> float:
    """The authority cash that pages give to the virtual page, all together."""
    high = low = 0.0
    for page in range(len(authority)):
        term = kept_part(offsets[page + 1] - offsets[page], part[page]) * authority[page]
        high, error = two_sum(high, term)
        low += error
    return high + low


@loop
def read_both(
    offsets: Offsets,
    sources: Ids,
    share: Floats,
    part: Floats,
    start: float,
    authority: Floats,
    hub: Floats,
    waiting: Floats,
    kept: float,
    rest: float,
) -> None:
    """Read all pages, one after the other. authority, hub: what each had when it was read last.
    waiting: hub cash that a page got from pages since then. All three are changed in place. start:
    of either kind, what each has besides that nobody gave. kept, rest: what all pages together gave
    to the virtual page when they were read last, of authority and of hub cash."""
    n = len(hub)
    for page in range(n):
        cash, begin, end = start + kept / n, offsets[page], offsets[page + 1]
        for k in range(begin, end):
            cash += share[sources[k]] * hub[sources[k]]
        of_hub = start + rest / n + waiting[page]
        waiting[page] = 0.0
        kept += kept_part(end - begin, part[page]) * (cash - authority[page])
        rest += share[page] * (of_hub - hub[page])
        authority[page], hub[page] = cash, of_hub
        given = part[page] * cash
        for k in range(begin, end):
            waiting[sources[k]] += given


@loop
def hub_flow(
    offsets: Offsets, sources: Ids, part: Floats, authority: Floats, flow: Floats, low: Floats
) -> None:
    """What each page would get as a hub if all gave their authority cash, and what the rounding of
    that sum took away."""
    flow[:] = 0.0
    low[:] = 0.0
    for page in range(len(authority)):
        term = part[page] * authority[page]
        for k in range(offsets[page], offsets[page + 1]):
            source = sources[k]
            high = flow[source]
            flow[source], error = two_sum(high, term)
            low[source] += error


@loop
def authority_flow(
    offsets: Offsets, sources: Ids, share: Floats, hub: Floats, flow: Floats
) -> None:
    """What each page would get as an authority if all gave their hub cash."""
    for page in range(len(flow)):
        high = low = 0.0
        for k in range(offsets[page], offsets[page + 1]):
            term = share[sources[k]] * hub[sources[k]]
            high, error = two_sum(high, term)
            low += error
        flow[page] = high + low


@loop
def differences(
    held: Floats, flow: Floats, degrees: Ids | Offsets, gift: float, mean: float
) -> tuple[float, float, float, float]:
    """Sum of |r| and max|r| of r = held - flow - gift; then both with what rounding may have
    taken from each. degrees: terms of each flow. mean: all cash by the pages, for the rounding of
    the parts that go to the virtual page."""
    whole = most = sure = surest = 0.0
    for begin in range(0, len(held), BLOCK):
        block = block_sure = 0.0
        for page in range(begin, min(begin + BLOCK, len(held))):
            r, terms = abs(held[page] - flow[page] - gift), UNIT * degrees[page]
            doubt = (16 * UNIT + terms * terms) * (held[page] + flow[page] + gift + mean)
            block += r
            block_sure += r + doubt
            most, surest = max(most, r), max(surest, r + doubt)
        whole += block
        sure += block_sure
    return whole, most, sure, surest


@loop
def crossing(offsets: Offsets, sources: Ids, share: Floats, part: Floats) -> float:
    """At least how likely cash changes its kind before it comes back to the virtual page: the sum
    of both kinds, see opic_hits_cycles.py. It counts paths of one link."""
    likely = 0.0
    for page in range(len(share)):
        block, parents = 0.0, offsets[page + 1] - offsets[page]
        for k in range(offsets[page], offsets[page + 1]):
            block += share[sources[k]]
        likely += block * (part[page] + kept_part(parents, part[page]))
    return likely / len(share)


NONE = (1.0, 1.0, 1.0)


def factors(
    sums: tuple[float, float, float], gifts: tuple[float, float], without: float
) -> tuple[float, float, float]:
    """The factors of the three groups, as above; 1 where nothing can be solved.

    sums: cash of the groups. gifts: authority and hub cash that goes to the virtual page. without:
    the part of pages that have no links.
    """
    (authority, idle, linking), (kept, rest) = sums, gifts
    if not authority or not linking:
        return NONE
    back = (rest - idle) / linking  # hub cash of pages with links that stays hub cash
    flows = np.array(
        [
            [kept / authority, 0.0, 1 - back],
            [0.0, without, without * back],
            [1 - kept / authority, 1 - without, (1 - without) * back],
        ]
    )
    balance = flows - np.eye(3)
    balance[2] = 1.0  # the last balance follows from the others; cash stays
    try:
        right = np.linalg.solve(balance, [0.0, 0.0, sum(sums)])
    except np.linalg.LinAlgError:
        return NONE
    scaled: Floats = np.ones(3)
    np.divide(right, sums, out=scaled, where=np.array(sums) > 0)
    if not np.isfinite(scaled).all() or not (scaled > 0).all():
        return NONE
    return float(scaled[0]), float(scaled[1]), float(scaled[2])


NEUTRAL = 0.5  # the relevance of pages without one
HUGE = 1e6  # a bound that says nothing
HITS_BYTES = 108  # a node: twelve columns, and the ends of its edges and its outdegree


Imbalances = tuple[float, float, float, float]  # see differences


class _Cash(NamedTuple):
    """What pages held when they were read last, and the hub cash that they got since then: parts
    of one vector of float64[3N]."""

    vector: Floats
    authority: Floats
    hub: Floats
    waiting: Floats


class _Chain(NamedTuple):
    """share: of hub cash that a page gives to each target. part: z. crossing: t. rooms: two columns
    to work in."""

    csr: Csr
    share: Floats
    part: Floats
    crossing: float
    rooms: tuple[Floats, Floats]

    @property
    def edges(self) -> tuple[Offsets, Ids]:
        return self.csr.offsets, self.csr.sources

    def gifts(self, cash: _Cash) -> tuple[float, float]:
        """N v and N w."""
        kept = kept_back(self.csr.offsets, self.part, cash.authority)
        return kept, total(self.share, cash.hub)


def solve(problem: Problem) -> Solution:
    """Scores of at least 1, and hubs. Raises BadInput for relevance that is not from 0 to 1, or at
    which no page keeps anything back."""
    csr, stop, n = problem.csr, problem.stop, problem.csr.nodes
    relevance = relevance_of(RELEVANCE.of(problem.inputs), n)
    if not csr.edges or not relevance.any():  # all cash goes to the virtual page and back
        without = exact(csr, np.ones(n), 0.0 if csr.edges else float(n))
        hubs = np.zeros(n) if csr.edges else np.ones(n)
        return Solution(without.scores, without.dummy, without.rounds, {"hubs": hubs})
    require_memory("page-rank", n, HITS_BYTES, problem.budget, fixed=LOOPS)
    chain, (cash, rounds) = _chain(csr, relevance), _begin(problem)
    while not stop.over(rounds):
        started = time.monotonic()
        if rounds and stop.iterations is None:
            _balance(chain, cash)
        start, of_cash = 0.0 if rounds else 0.5 / n, (cash.authority, cash.hub, cash.waiting)
        parts = chain.share, chain.part
        read_both(*chain.edges, *parts, start, *of_cash, *chain.gifts(cash))
        entry = _entry(len(rounds) + 1, chain, cash)
        rounds.append({**entry, "seconds": round(time.monotonic() - started, 3)})
        problem.on_round(rounds[-1], rounds, lambda: State(cash.vector, 0.0, rounds))
    v, w = (each / n for each in chain.gifts(cash))
    return Solution(cash.authority / v, n * w / v, rounds, {"hubs": cash.hub / v})


def base(weights: Floats | None) -> Floats:
    return np.ones(1)


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    return more["hubs"] / (outdegrees + 1)


def relevance_of(weights: Floats | None, nodes: int) -> Floats:
    """float64[N]. Raises BadInput."""
    if weights is None:
        return np.full(nodes, NEUTRAL)
    if not ((weights >= 0) & (weights <= 1)).all():
        wrong = float(weights[~((weights >= 0) & (weights <= 1))][0])
        cure = "Divide them by the largest; give a page one line."
        raise BadInput("relevance", f"{wrong:g}", "numbers from 0 to 1", cure)
    return weights


def parts_of(relevance: Floats, parents: Positions) -> Floats:
    """z: the part of its authority cash that a page gives to each parent, 0 without any."""
    most = np.maximum(parents, 1)
    given = 2 * relevance * (2 * most / (most + 1) * (1 - relevance) + relevance - 0.5)
    return np.where(parents > 0, np.minimum(given, 1) / most, 0.0)


def _chain(csr: Csr, relevance: Floats) -> _Chain:
    parents = np.diff(csr.offsets)
    share, part = share_of(csr), parts_of(relevance, parents)
    if kept_back(csr.offsets, part, (parents > 0).astype(np.float64)) == 0:
        what, cure = "all pages keep nothing back", "Give some pages less relevance."
        raise BadInput("relevance", what, "some that are not fully relevant", cure)
    likely = crossing(csr.offsets, csr.sources, share, part)
    return _Chain(csr, share, part, likely, (np.empty(csr.nodes), np.empty(csr.nodes)))


def _balance(chain: _Chain, cash: _Cash) -> None:
    idle = chain.csr.outdegrees == 0
    of_all, of_idle = float(cash.hub.sum()), float(cash.hub[idle].sum())
    sums = float(cash.authority.sum()), of_idle, of_all - of_idle
    authority, without, linking = factors(sums, chain.gifts(cash), float(idle.mean()))
    cash.authority[:] *= authority
    cash.waiting[:] *= authority  # given by authorities
    cash.hub[:] *= linking
    cash.hub[idle] *= without / linking


def _begin(problem: Problem) -> tuple[_Cash, list[Round]]:
    state, n = problem.state, problem.csr.nodes
    vector = state.vector.copy() if state else np.zeros(3 * n)
    cash = _Cash(vector, vector[:n], vector[n : 2 * n], vector[2 * n :])
    return cash, list(state.rounds) if state else []


def _entry(number: int, chain: _Chain, cash: _Cash) -> Round:
    """A cycle with its certificate; errors are those of scores."""
    csr, n = chain.csr, chain.csr.nodes
    v, w = (each / n for each in chain.gifts(cash))
    by_a, by_b = _imbalances(chain, cash, v, w)
    mass, e, d = float(cash.authority.sum()), *_bounds(chain, cash, (v, w), by_a, by_b)
    of_v, of_each, of_all = min(e, d / (n * v)), min(e, d / cash.authority.min()), min(e, d / mass)
    eta = (of_v + of_each) / (1 - of_each) if of_each < 1 else HUGE
    certificate = (of_v + of_all) / (1 - of_v) if of_v < 1 else HUGE
    return {
        "round": number,
        "nodes": n,
        "edges": csr.edges,
        "dangling": int(np.count_nonzero(csr.outdegrees == 0)),
        "mass": (mass + n * w) / v,
        "residual_l1": (by_a[0] + by_b[0]) / v,
        "residual_max": max(by_a[1], by_b[1]) / v,
        "certificate": min(certificate * SAFETY, HUGE),
        "eta": min(float(eta) * SAFETY, HUGE),
        "probability_certificate": min(2 * of_all * SAFETY, 2.0),
        "seconds": 0.0,
    }


def _bounds(
    chain: _Chain, cash: _Cash, gifts: tuple[float, float], by_a: Imbalances, by_b: Imbalances
) -> tuple[float, float]:
    """e and d. gifts: v and w."""
    n, (v, w), one_norm = chain.csr.nodes, gifts, by_a[2] + by_b[2]
    lengths, k = 2 * (int(chain.csr.outdegrees.max()) + 1), one_norm / chain.crossing
    by_gifts = 1 / (n * min(v, w)) if w else math.inf
    whole = float(cash.authority.sum() + cash.hub.sum()) + lengths * one_norm
    d = lengths * one_norm + k * min(2 * lengths, whole * by_gifts)
    h = max(by_a[3] / v, by_b[3] / w if w else math.inf)
    return (h + k * by_gifts) / (1 - h) if h < 1 else math.inf, d


def _imbalances(chain: _Chain, cash: _Cash, v: float, w: float) -> tuple[Imbalances, Imbalances]:
    """Sum and maximum of |r_a|, and both with what rounding may have done; the same of |r_b|."""
    csr, (flow, low) = chain.csr, chain.rooms
    mean = float(cash.authority.sum() + cash.hub.sum()) / csr.nodes
    authority_flow(*chain.edges, chain.share, cash.hub, flow)
    by_a = differences(cash.authority, flow, np.diff(csr.offsets), v, mean)
    hub_flow(*chain.edges, chain.part, cash.authority, flow, low)
    flow += low
    return by_a, differences(cash.hub, flow, csr.outdegrees, w, mean)
