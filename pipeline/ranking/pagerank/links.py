"""Links that weigh by whether they stay within a host.

    p_i = c sum over j->i of p_j w_ji / W_j + (1 - c + what dangling pages have) / N
    W_j = internal * (links of j within its host) + external * (its other links)

w_ji is `internal` for a link within a host and `external` for another one. A page all whose links
weigh 0 is dangling. With equal weights it is PageRank. Source: weights of links as Xing, Ghorbani,
Weighted PageRank algorithm, CNSR 2004, and Baeza-Yates, Davis, Web page ranking using link
attributes, WWW 2004, have them, but by host alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.data.team import Team
from crawlrank.pipeline.ranking.pagerank.weighted_kernels import internal_links


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
