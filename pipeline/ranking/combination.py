"""One ranking made of several, as a weighted mean of what each says of a page.

With weights w_k that sum to 1 the combined score of a page is the sum over k of w_k * y_k, where

  by position      y_k = (mean rank from the lowest) / N, in (0, 1]; a Borda count with weights
  by probability   y_k = score / (sum of the scores); the result sums to 1

By position is the default. Scores of methods differ by orders of magnitude in how they spread: a
few authorities of HITS hold nearly everything, and PageRank has a base for every page. A mean of
probabilities has nearly the order of the most uneven ranking, unless its weight is small. Positions
are the same for every monotone change of the scores. By probability keeps distances: pages far
ahead in one ranking stay far ahead. It suits rankings that are spread alike, such as PageRank with
several teleports: where no page dangles, their mean is the PageRank of the mean teleport (Jeh,
Widom 2003, Scaling personalized web search).

As a method, `solve` returns the combined scores that it is given. Nothing is known of their error:
that of a part may change the positions of its pages.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.correlations import midranks
from crawlrank.pipeline.ranking.inputs import COMBINE
from crawlrank.pipeline.ranking.solution import Problem, Solution, exact


def combine(
    parts: Sequence[tuple[Floats, float]],
    how: Literal["position", "probability"] = "position",
) -> Floats:
    """float64[N], above 0 by position, at least 0 by probability.

    parts: scores, float64[N] by id, finite and at least 0, each with its weight, which is finite
    and above 0; the weights are divided by their sum. Raises ValueError by probability for scores
    that are all 0. Memory: 24 bytes a node.
    """
    weights = _normalized([weight for _, weight in parts])
    nodes = len(parts[0][0])
    total: Floats = np.zeros(nodes)
    for (scores, _), weight in zip(parts, weights, strict=True):
        total += weight * (_positions(scores) if how == "position" else _probabilities(scores))
    return total


def _normalized(weights: Sequence[float]) -> list[float]:
    """Each divided by the sum of all, which is taken of parts of the largest so that it is
    finite."""
    largest = max(weights)
    total = math.fsum(weight / largest for weight in weights)
    return [weight / largest / total for weight in weights]


def _positions(scores: Floats) -> Floats:
    return midranks(scores) / len(scores)


def _probabilities(scores: Floats) -> Floats:
    total = scores.sum()
    if not 0 < total < math.inf:
        raise ValueError(f"the sum of the scores is {total}, expected a finite number above 0")
    shares: Floats = scores / total
    return shares


def solve(problem: Problem) -> Solution:
    """The combined scores, with an unknown error."""
    return exact(problem.csr, problem.inputs[COMBINE.name], eta=math.inf)


def base(weights: Floats | None) -> Floats:
    return np.zeros(1)


def shares(scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
    """0: no link adds to the score by itself."""
    return np.zeros(len(scores))
