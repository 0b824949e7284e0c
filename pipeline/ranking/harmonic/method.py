"""Harmonic centrality as a ranking: the sum over all other pages y of 1 / d(y, x), where d(y, x) is
the least number of links on a path from y to x, and pages without a path give nothing.

Source: Boldi, Vigna: *Axioms for Centrality* (Internet Mathematics, 2014). Common Crawl chooses
hosts to crawl by it.

The sum over distances d of a number of pages by d has two roundings for each distance, so its
relative error is below (D + 2) 2^-53, where D is the largest distance.

Distances are exact up to EXACT_WORK, the nodes times the links, and estimated by HyperBall above
it, where memory allows no more, or where a number of registers is given.

reach: the number of other pages from which a path leads to the page. closeness: 1 / (the sum of
their distances), 0 for a page that none reaches.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.harmonic import hyperball
from crawlrank.pipeline.ranking.harmonic.distances import NODE_BYTES, Distances, exact_distances
from crawlrank.pipeline.ranking.inputs import LOG2M
from crawlrank.pipeline.ranking.solution import Problem, Solution, exact

EXACT_WORK = 1 << 37
UNIT = 2.0**-53  # of one rounding; each distance has two
SEED = "seed"  # of the hash of HyperBall, for programs


def solve(problem: Problem) -> Solution:
    csr, log2m = problem.csr, LOG2M.of(problem.inputs) or 0
    threads = min(problem.threads, problem.budget // (NODE_BYTES * max(csr.nodes, 1)))
    if log2m or threads < 1 or csr.nodes * csr.edges > EXACT_WORK:
        return hyperball.solve(problem, log2m, int(problem.inputs.get(SEED, 0)))
    sums = exact_distances(csr, threads)
    solution = exact(csr, sums.harmonic, eta=(sums.longest + 2) * UNIT)
    return Solution(solution.scores, 0.0, solution.rounds, columns(sums))


def columns(sums: Distances) -> Mapping[str, Floats]:
    with np.errstate(divide="ignore"):
        closeness = np.where(sums.total > 0, 1 / sums.total, 0.0)
    return {"reach": sums.reach, "closeness": closeness}


def base(weights: Floats | None) -> Floats:
    return np.zeros(1)


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    """A link by itself gives 1, which is what its source at distance 1 adds."""
    return np.ones(len(scores))
