"""PageRank of a topic: readers start at pages of the topic, and prefer links whose words are of it.

    x_i = (1 - c) b_i + c sum over j->i of x_j w_ji / W_j,   b_i = m t_i + 1 - m

t_i is how much a page is of the topic, with the mean 1; of all readers the part m starts by it, and
the others anywhere, so that every page has a score. w_ji is 1 + BOOST s, with s what the words of
the link weigh in the topic, and W_j the sum of w_ju over all u. Sources: Haveliwala,
Topic-Sensitive PageRank, WWW 2002; Richardson, Domingos, The Intelligent Surfer, NIPS 2001, for
links that pass more.

Sweeps and stopping rule are those of weighted.py. |x - x*|_1 is at most |r|_1 / (1 - c), and with
eta = max |r_i| / ((1 - c) (1 - m)) every |x_i - x*_i| at most eta x*_i. Memory: 32 bytes a page,
and 8 a link.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.equation import RECIPE, teleport
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.inputs import TOPIC, WORDS
from crawlrank.pipeline.ranking.solution import Problem, Solution, left_for_dummy
from crawlrank.pipeline.ranking.weighted import ROUNDING, WeightedGraph, iterate

ABOUT = 0.9  # the part of readers who start at pages of the topic, m
BOOST = 4.0  # how much more than another a link passes, for each weight of its words


@dataclass(frozen=True, eq=False)
class TopicLinks:
    """Links whose words are of the topic: ids of their pages, and what the words weigh. int64[L],
    int64[L], float64[L], above 0; each link once."""

    sources: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    weights: Floats


def solve(problem: Problem) -> Solution:
    """Scores whose sum with dummy is N + 1."""
    csr = problem.csr
    at_once = base(WORDS.of(problem.inputs))
    weights = np.ones(csr.edges)
    links: TopicLinks = problem.inputs[TOPIC]
    boosts = links.sources, links.targets, BOOST * links.weights
    add_boosts(csr.offsets, csr.sources, *boosts, weights)

    def bounds(l1: float, largest: float, scores: Floats) -> tuple[float, float]:
        eta = largest / (RECIPE.base * (1 - ABOUT)) * ROUNDING
        return l1 / RECIPE.base / math.fsum(scores) * ROUNDING, eta

    graph = WeightedGraph(csr.offsets, csr.sources, weights)
    counts = {"nodes": csr.nodes, "edges": csr.edges}
    scores, rounds = iterate(problem, graph, at_once, at_once.copy(), bounds, counts)
    return Solution(scores, left_for_dummy(csr.nodes, float(scores.sum())), rounds)


@loop
def add_boosts(
    offsets: Offsets,
    sources: Ids,
    of_sources: npt.NDArray[np.int64],
    of_targets: npt.NDArray[np.int64],
    boosts: Floats,
    weights: Floats,
) -> None:
    """Add boosts to the weights of some links; those that the graph does not have are passed by.
    sources: of each target ascending."""
    for k in range(len(of_sources)):
        begin, end = offsets[of_targets[k]], offsets[of_targets[k] + 1]
        last = end
        while begin < end:
            middle = begin + (end - begin) // 2
            if sources[middle] < of_sources[k]:
                begin = middle + 1
            else:
                end = middle
        if begin < last and sources[begin] == of_sources[k]:
            weights[begin] += boosts[k]


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    """0: what a link adds depends on its words."""
    return np.zeros(len(scores))


def base(weights: Floats | None) -> Floats:
    """What each page has of readers who start there."""
    return RECIPE.base * (ABOUT * teleport(weights) + (1 - ABOUT))
