"""PageRank as a method: by plain rounds where their number is asked for or links weigh differently,
else by sweeps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation
from crawlrank.pipeline.data.csr import team_of
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.inputs import LINK_WEIGHT
from crawlrank.pipeline.ranking.pagerank.plain import rank_by_rounds
from crawlrank.pipeline.ranking.pagerank.sweeps import rank_by_sweeps
from crawlrank.pipeline.ranking.pagerank.terms import WeightedLinks, terms_of
from crawlrank.pipeline.ranking.solution import Problem, Solution


def solve(problem: Problem, equation: Equation = RECIPE, weights: Floats | None = None) -> Solution:
    """Scores of Heritrix's scale: with dummy they sum to N + 1.

    weights: float64[N] of mean 1, how often a reader starts anew at each page; None: all alike. The
    certificate of the last round tells whether the tolerance was reached. Weighted links are
    ranked by plain rounds, and leave the columns outweights and hosts. Raises JobFailed when a
    plain round loses mass.
    """
    stop, terms = problem.stop, terms_of(equation, weights)
    links: WeightedLinks | None = LINK_WEIGHT.of(problem.inputs)
    state = problem.state if _fits(problem) else None
    with team_of(problem.csr, problem.threads, problem.block) as team:
        if links is not None:
            return rank_by_rounds(team, terms, stop, state, problem.on_round, links)
        if stop.iterations is not None:
            return rank_by_rounds(team, terms, stop, state, problem.on_round)
        return rank_by_sweeps(team, terms, stop, problem.budget, state, problem.on_round)


def _fits(problem: Problem) -> bool:
    """Whether the vector of its state is one of the graph: float64[N] for plain rounds, otherwise
    float64 of the nodes with edges out."""
    if problem.state is None:
        return False
    plain = problem.stop.iterations is not None or LINK_WEIGHT.of(problem.inputs) is not None
    outdegrees = problem.csr.outdegrees
    rows = len(outdegrees) if plain else int(np.count_nonzero(outdegrees))
    vector = problem.state.vector
    return vector.shape == (rows,) and vector.dtype == np.float64


def base(weights: Floats | None) -> Floats:
    return np.array([RECIPE.base])


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    return RECIPE.damping * (scores / outdegrees)
