"""The graph of sites: the links between pages collapsed to weighted edges between their sites.

With N pages in S sites, of which P ordered pairs are linked. Links within a site are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crawlrank.pipeline.data.csr import Offsets
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.sites.loops import outweights


@dataclass(frozen=True, eq=False)
class SiteGraph:
    """of_pages: the site of each page, int32[N] or int64[N]. The edges to site t come from
    `sources[offsets[t]:offsets[t + 1]]`, ascending, never t itself, with `weights`, above 0 and
    finite: offsets int64[S + 1], sources int64[P], weights float64[P]. The two may be mapped."""

    of_pages: Positions
    offsets: Offsets
    sources: Positions
    weights: Floats

    @property
    def nodes(self) -> int:
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        return len(self.sources)

    @cached_property
    def outweights(self) -> Floats:
        """float64[S]: what the weights of each site's edges out sum to, 0 for a dangling site."""
        sums = np.zeros(self.nodes)
        outweights(self.sources, self.weights, sums)
        return sums
