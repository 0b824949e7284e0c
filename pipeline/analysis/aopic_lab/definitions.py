"""Other definitions of importance beside that of OPIC's random walk, of the paper's section 1.

Importance is a vector x that a matrix M leaves in proportion, M x = c x:

    random walk     M_ij is what page j gives to page i, the virtual page included: c = 1
    (L + I)         the same matrix and the identity: c = 2, and the same x. Powers of M may go
                    round in a circle, as on a ring of pages; those of M + I settle
    adjacency       M_ij = 1 for each link from j to i: a page gives all of its importance to each
                    of its targets
    undirected      M_ij = 1 for each link from j to i or from i to j

The last two are found with the identity added, too. Each is found by x <- M x / |M x|_1, begun at
equal importance, until a round moves x by at most STEP in L1; after MOST rounds it is taken as it
is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from crawlrank.pipeline.analysis.aopic_lab.experiments import LabGraphs
from crawlrank.pipeline.data.graph import Floats, Targets
from crawlrank.pipeline.ranking.aopic.chain import Chain, one_round, weights_of
from crawlrank.pipeline.ranking.correlations import kendall

STEP, MOST = 1e-9, 1000
TOP = 0.1  # of all pages
WALK, LAZY, ADJACENCY, UNDIRECTED = "random walk", "(L + I)", "adjacency", "undirected"


class DefinitionRow(NamedTuple):
    """rounds: until it settled. kendall: tau-b of its order and that of the random walk. top:
    percent of the walk's top tenth that are in its own."""

    seed: int
    definition: str
    rounds: int
    kendall: float
    top: float


def compare_definitions(graphs: LabGraphs, seed: int) -> list[DefinitionRow]:
    chain = graphs.web(seed)[0].chain()
    walk, _ = importance(chain, WALK)
    rows = []
    for name in (WALK, LAZY, ADJACENCY, UNDIRECTED):
        x, rounds = importance(chain, name)
        order = kendall(walk, x) if np.ptp(x) else 0.0
        rows.append(DefinitionRow(seed, name, rounds, order, 100 * _shared_top(walk, x)))
    return rows


def importance(chain: Chain, definition: str) -> tuple[Floats, int]:
    """x of sum 1, float64[N], and the rounds that it took."""
    turn = _turns(chain)[definition]
    x: Floats = np.full(chain.nodes, 1 / chain.nodes)
    step, rounds = np.inf, 0
    while step > STEP and rounds < MOST:
        following = turn(x)
        following /= following.sum()
        step, x = float(np.abs(following - x).sum()), following
        rounds += 1
    return x, rounds


def _turns(chain: Chain) -> dict[str, Callable[[Floats], Floats]]:
    """M x of each definition."""
    weights, rest, targets = weights_of(chain, None), chain.rest, chain.targets
    sources = np.repeat(np.arange(chain.nodes), np.diff(chain.offsets))

    def added(x: Floats, to: Targets) -> Floats:
        sums: Floats = np.bincount(to, x, chain.nodes).astype(np.float64)
        return sums

    return {
        WALK: lambda x: one_round(chain, x, weights, rest),
        LAZY: lambda x: one_round(chain, x, weights, rest) + x,
        ADJACENCY: lambda x: added(x[sources], targets) + x,
        UNDIRECTED: lambda x: added(x[sources], targets) + added(x[targets], sources) + x,
    }


def _shared_top(one: Floats, other: Floats) -> float:
    count = max(1, int(TOP * len(one)))
    best, others = (np.argsort(-x, kind="stable")[:count] for x in (one, other))
    return len(np.intersect1d(best, others)) / count
