"""Indegree as a ranking: the score of a page is the number of pages that link to it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.solution import Problem, Solution, exact


def solve(problem: Problem) -> Solution:
    """Exact, in one round."""
    return exact(problem.csr, np.diff(problem.csr.offsets).astype(np.float64))


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    return np.ones(len(scores))


def base(weights: Floats | None) -> Floats:
    return np.zeros(1)
