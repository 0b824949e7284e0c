"""PageRank of sites as a ranking of pages: the score of a page is the score of its site.

    x_t = (1 - c) + c sum over sites s->t of x_s w_st / W_s,   W_s the sum of w_su over all u

w_st is the weight of the edge from site s to site t, c the damping; a site without edges out gives
to dummy. The S sites and dummy sum to S + 1. Sources: Wu, Aberer, Using SiteRank for
decentralized computation of web document ranking, 2004; Bharat, Chang, Henzinger, Ruhl, Who links
to whom: mining linkage between web sites, ICDM 2001, for the weights.

Sweeps and stopping rule are those of weighted.py. With eta = max |r_t| / (1 - c) every |x_t - x*_t|
is at most eta x*_t (certificate.py). Hence also for pages, of which a site has any number:
|x - x*|_1 <= eta / (1 - eta) |x|_1 for eta below 1. It is always <= eta (S + 1) / (1 - c) |x|_1, as
x*_t is at most S + 1 and x_t at least 1 - c. For probabilities |p - p*|_1 is at most twice that.
Memory: 40 bytes a site, and 8 a page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.solution import Problem, Solution, left_for_dummy
from crawlrank.pipeline.ranking.weighted import ROUNDING, WeightedGraph, iterate


@dataclass(frozen=True, eq=False)
class SiteGraph(WeightedGraph):
    """The links between pages collapsed to weighted edges between their sites; those within a site
    are left out. of_pages: the site of each page, int32[N] or int64[N]."""

    of_pages: Positions


def solve(problem: Problem) -> Solution:
    """The scores of pages, those of their sites."""
    sites: SiteGraph = problem.inputs["sites"]
    counts = {
        "nodes": problem.csr.nodes,
        "edges": problem.csr.edges,
        "sites": sites.nodes,
        "site_edges": sites.edges,
    }

    def bounds(l1: float, largest: float, scores: Floats) -> tuple[float, float]:
        eta = largest / RECIPE.base * ROUNDING
        always = eta * (sites.nodes + 1) / RECIPE.base
        return min(eta / (1 - eta) if eta < 1 else math.inf, always) * ROUNDING, eta

    scores, rounds = iterate(problem, sites, base(None), np.ones(sites.nodes), bounds, counts)
    of_pages = np.empty(len(sites.of_pages))
    spread(sites.of_pages, scores, of_pages)
    return Solution(of_pages, left_for_dummy(sites.nodes, float(scores.sum())), rounds)


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    """0: a link between pages adds to the score of a site, and not to that of its target alone."""
    return np.zeros(len(scores))


def base(weights: Floats | None) -> Floats:
    """What a site has without any link to it."""
    return np.array([RECIPE.base])


@loop
def spread(of_pages: Positions, of_sites: Floats, scores: Floats) -> None:
    """The score of its site for each page: scores[i] = of_sites[of_pages[i]]."""
    for i in range(len(of_pages)):
        scores[i] = of_sites[of_pages[i]]
