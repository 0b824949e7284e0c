"""A ranking made of others (combination.py), as a method. Its scores are those that it is given:
it adds no error to theirs, and tells nothing of theirs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.solution import Problem, Solution, exact


def solve(problem: Problem) -> Solution:
    """Raises BadInput for scores of another number of pages."""
    scores = problem.combined
    if scores is None or len(scores) != problem.csr.nodes:
        count = 0 if scores is None else len(scores)
        raise BadInput("--combine", f"{count} scores", f"{problem.csr.nodes}, one for each page")
    return exact(problem.csr, scores)


def base(weights: Floats | None) -> Floats:
    return np.zeros(1)


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    """0: no link adds to the score by itself."""
    return np.zeros(len(scores))
