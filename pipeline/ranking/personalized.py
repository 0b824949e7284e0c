"""Personalized PageRank and TrustRank: readers who start anew do so at chosen pages.

    p_i = c sum over j->i of p_j / n_j + r_i (1 - c sum over non-dangling p_j),  sum of r = 1

r is how often a reader starts at each page; c is the damping. It is PageRank with the base
(1 - c) N r_i: dangling pages and dummy start anew by r, too. A page that no path from a page with
r_i > 0 reaches has the score 0. Sources: Haveliwala, Topic-Sensitive PageRank, WWW 2002; Gyöngyi,
Garcia-Molina, Pedersen, Combating Web Spam with TrustRank, VLDB 2004, whose trusted pages all have
the same r. Order, stopping rules and memory are those of pagerank/, with 8 bytes a node more.
"""

from __future__ import annotations

from crawlrank.jobs.kernel.rank.equation import RECIPE, teleport
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.inputs import TELEPORT
from crawlrank.pipeline.ranking.pagerank import method as pagerank
from crawlrank.pipeline.ranking.solution import Problem, Solution

shares = pagerank.shares


def solve(problem: Problem) -> Solution:
    """Scores whose sum with dummy is N + 1. Raises BadInput for weights that are not all finite and
    at least 0, or all 0, or too far apart."""
    return pagerank.solve(problem, RECIPE, teleport(TELEPORT.of(problem.inputs)))


def base(weights: Floats | None) -> Floats:
    """What each page has of readers who start there."""
    return RECIPE.base * teleport(weights)
