"""The Markov chain of a graph with a virtual page, and its exact importance by power iteration.

Equation. A page with d targets gives each of them `share` of its cash and the virtual page the
`rest`; one without targets gives it all. The virtual page gives what it gets to all N pages, at
once, in the proportion of their weights f (all alike, or a favour for each). Abiteboul, Preda and
Cobena (WWW 2003) give every page one edge to the virtual page: share = 1/(d + 1). Here it has any
number w of edges: share = 1/(d + w), rest = w/(d + w). Without w it is PageRank: share = 0.85/d,
rest = 0.15. The importance is the fixed point of x = A x + f (rest . x), sum(x) = 1.

Stopping rule: a round brings any two probabilities closer by the factor q = 1 - min(rest), as all
of them give the same to the same pages. So |x_k - x*|_1 <= q/(1 - q) |x_k - x_{k-1}|_1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from crawlrank.jobs.kernel.errors import NotConverged
from crawlrank.jobs.kernel.machine.machine_code import compiled
from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.pipeline.data.graph import Floats, Positions, Targets
from crawlrank.pipeline.ranking import opic
from crawlrank.pipeline.ranking.opic import shares_of

ERROR = 1e-11  # L1, of the importance
MOST_ROUNDS = 10_000


@dataclass(frozen=True, eq=False)
class Chain:
    """N pages: the targets of page i are `targets[offsets[i]:offsets[i + 1]]`.

    offsets: int64[N + 1]. targets: int32[E] or int64[E]. share: float64[N], see above. edges: w;
    None: PageRank's virtual page.
    """

    offsets: Positions
    targets: Targets
    share: Floats
    edges: float | None

    @property
    def nodes(self) -> int:
        return len(self.share)

    @property
    def teleport(self) -> float:
        """Part of its cash that a page with targets gives to the virtual page; 0 where it differs
        from page to page."""
        return RECIPE.base if self.edges is None else 0.0

    @property
    def rest(self) -> Floats:
        """The part that each page gives to the virtual page, float64[N], made anew."""
        given = self.teleport if self.edges is None else self.edges * self.share
        return np.where(self.share > 0, given, 1.0)


def chain_of(offsets: Positions, targets: Targets, edges: float | None = 1.0) -> Chain:
    """The chain of a graph of at least one page. edges: to the virtual page, of every page, above
    0."""
    ends = np.ascontiguousarray(offsets, np.int64)
    numbers = cast(Targets, np.ascontiguousarray(targets))
    return Chain(ends, numbers, shares_of(ends, edges), edges)


def weights_of(chain: Chain, values: Floats | None) -> Floats:
    """The part of each page, float64[N] of sum 1; without values all alike. values: above 0."""
    if values is None:
        return np.full(chain.nodes, 1 / chain.nodes)
    weights: Floats = np.asarray(values, np.float64) / np.sum(values)
    return weights


def one_round(chain: Chain, x: Floats, weights: Floats, rest: Floats) -> Floats:
    """What all pages hold after every one has given its x away, float64[N]."""
    flow = np.zeros(chain.nodes)
    compiled(opic.spread)(chain.offsets, chain.targets, chain.share, x, flow)
    flow += weights * float(rest @ x)
    return flow


def exact_importance(
    chain: Chain, favour: Floats | None = None, error: float = ERROR, start: Floats | None = None
) -> Floats:
    """The fixed point, float64[N] of sum 1, certainly within `error` in L1, except for rounding.

    start: where to begin, such as the importance before a change. Raises NotConverged.
    """
    weights, rest = weights_of(chain, favour), chain.rest
    q = 1 - float(rest.min())
    x = np.full(chain.nodes, 1 / chain.nodes) if start is None else start / start.sum()
    for _ in range(MOST_ROUNDS):
        following = one_round(chain, x, weights, rest)
        step = float(np.abs(following - x).sum())
        x = following
        if step * q <= error * (1 - q):
            break
    else:
        raise NotConverged(f"importance: {MOST_ROUNDS} rounds did not reach an error of {error:g}")
    result: Floats = x / x.sum()
    return result
