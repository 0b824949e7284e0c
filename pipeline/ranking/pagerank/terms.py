"""The numbers of the equation in the form that the loops take, and weights of links by host.

    p_i = c sum over j->i of p_j w_ji / W_j + (1 - c + what dangling pages have) / N
    W_j = internal * (links of j within its host) + external * (its other links)

w_ji is `internal` for a link within a host and `external` for another one. A page all whose links
weigh 0 is dangling. With equal weights it is PageRank. Source: weights of links as Xing, Ghorbani,
Weighted PageRank algorithm, CNSR 2004, and Baeza-Yates, Davis, Web page ranking using link
attributes, WWW 2004, have them, but by host alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.rank.equation import Equation
from crawlrank.jobs.kernel.rank.plain_round import spread
from crawlrank.pipeline.data.csr import Ids, Team, read_only
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.pagerank.kernels import internal_links
from crawlrank.pipeline.ranking.pagerank.kernels import relative as relative_to


class Terms(NamedTuple):
    """base: float64[1] for all nodes, or float64[N]; its mean is 1 - damping. first: the scores to
    begin with, of the same shape: the weights, as of the jobs, and so 0 where no reader starts."""

    equation: Equation
    base: Floats
    first: Floats

    @property
    def loops(self) -> tuple[Floats, float]:
        """The arguments base and damping of a loop over nodes."""
        return self.base, self.equation.damping

    def eta(self, team: Team, relative: float, scores: Floats, r: Floats) -> float:
        """A bound of |x_i - x*_i| / x*_i for all i, of scores x with the residual r.

        relative: max |r_i| / base_i, which is that bound where every base_i is above 0.
        """
        if len(self.base) == 1 or self.base.min() > 0:
            return relative
        of_ranges = team.over_nodes(lambda *nodes: relative_to(team.offsets, scores, r, *nodes))
        share, least = max(pair[0] for pair in of_ranges), min(pair[1] for pair in of_ranges)
        return spread(share, least, float(scores.sum()), self.equation.damping)


def some_of(values: Floats, nodes: Positions | Ids) -> Floats:
    """The base, or the first scores, of some nodes, by number."""
    return values[nodes] if len(values) > 1 else np.full(len(nodes), values[0])


def terms_of(equation: Equation, weights: Floats | None) -> Terms:
    """weights: float64[N] of mean 1; None: 1 for every node."""
    first = np.array([1.0]) if weights is None else weights
    return Terms(equation, read_only(equation.base * first), read_only(first))


@dataclass(frozen=True, eq=False)
class WeightedLinks:
    """internal, external: weights, at least 0, one of them above 0. hosts: the number of the host
    of each page, int32[N] or int64[N]."""

    internal: float
    external: float
    hosts: Positions

    def outweights(self, team: Team) -> Floats:
        """W of every page, float64[N]. Its products and its sum round once each."""
        counts = np.zeros(team.nodes, np.int64)
        for begin, end in team.blocks(0, team.nodes):
            internal_links(team.offsets, team.sources, self.hosts, counts, begin, end)
            team.release(begin, end)
        others = team.outdegrees.astype(np.int64) - counts
        sums: Floats = self.internal * counts.astype(np.float64)
        sums += self.external * others
        return sums
