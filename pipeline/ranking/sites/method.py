"""PageRank of sites as a ranking of pages: the score of a page is the score of its site.

    x_t = (1 - c) + c sum over sites s->t of x_s w_st / W_s,   W_s the sum of w_su over all u

w_st is the weight of the edge from site s to site t, c the damping; a site without edges out gives
to dummy. The S sites and dummy sum to S + 1. Sources: Wu, Aberer, Using SiteRank for
decentralized computation of web document ranking, 2004; Bharat, Chang, Henzinger, Ruhl, Who links
to whom: mining linkage between web sites, ICDM 2001, for the weights.

Order: sites by number; sweeps of Gauss and Seidel to a tolerance, plain rounds where their number
is asked for. Stopping rule: each round ends with a pass that measures the residual r of the scores
it leaves. With eta = max |r_t| / (1 - c) every |x_t - x*_t| is at most eta x*_t (certificate.py).
Hence also for pages, of which a site has any number: |x - x*|_1 <= eta / (1 - eta) |x|_1 for eta
below 1. It is always <= eta (S + 1) / (1 - c) |x|_1, as x*_t is at most S + 1 and x_t at least
1 - c. For probabilities |p - p*|_1 is at most twice that. Memory: 40 bytes a site, and 8 a page.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np

from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.jobs.kernel.rank.plain_round import UNIT
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.sites.graph import (
    SiteGraph,
    shared,
    spread,
    weighted_residual,
    weighted_sweep,
)
from crawlrank.pipeline.ranking.solution import Problem, Solution, State

ROUNDING = 1 + 16 * UNIT  # of the quotients of the bounds


def solve(problem: Problem) -> Solution:
    """The scores of pages, those of their sites."""
    stop, state = problem.stop, problem.state
    sites: SiteGraph = problem.inputs["sites"]
    rounds = [] if state is None else list(state.rounds)
    scores = np.ones(sites.nodes) if state is None else state.vector.copy()
    y = np.empty(sites.nodes)
    shared(scores, sites.outweights, y)
    then = y if stop.iterations is None else np.empty(sites.nodes)
    while not stop.over(rounds):
        started = time.monotonic()
        _sweep(sites, y, then, scores)
        y, then = then, y
        rounds.append(_entry(problem, sites, y, scores, len(rounds) + 1))
        rounds[-1]["seconds"] = round(time.monotonic() - started, 3)
        problem.on_round(rounds[-1], rounds, lambda: State(scores.copy(), 0.0, rounds))
    of_pages = np.empty(len(sites.of_pages))
    spread(sites.of_pages, scores, of_pages)
    return Solution(of_pages, sites.nodes + 1 - float(scores.sum()), rounds)


def _sweep(sites: SiteGraph, y: Floats, then: Floats, scores: Floats) -> None:
    edges = (sites.offsets, sites.sources, sites.weights)
    weighted_sweep(*edges, sites.outweights, base(None), RECIPE.damping, y, then, scores)


def _entry(problem: Problem, sites: SiteGraph, y: Floats, scores: Floats, number: int) -> Round:
    """The entry of a round that has left these scores."""
    edges = (sites.offsets, sites.sources, sites.weights)
    l1, largest = weighted_residual(*edges, base(None), RECIPE.damping, y, scores)
    eta = largest / RECIPE.base * ROUNDING
    certificate = min(
        eta / (1 - eta) if eta < 1 else math.inf, eta * (sites.nodes + 1) / RECIPE.base
    )
    certificate *= ROUNDING
    return {
        "round": number,
        "nodes": problem.csr.nodes,
        "edges": problem.csr.edges,
        "sites": sites.nodes,
        "site_edges": sites.edges,
        "dangling": int(np.count_nonzero(sites.outweights == 0)),
        "mass": sites.nodes + 1.0,
        "residual_l1": l1,
        "residual_max": largest,
        "certificate": certificate,
        "eta": eta,
        "probability_certificate": min(2.0, 2 * certificate),
    }


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    """0: a link between pages adds to the score of a site, and not to that of its target alone."""
    return np.zeros(len(scores))


def base(weights: Floats | None) -> Floats:
    """What a site has without any link to it."""
    return np.array([RECIPE.base])
