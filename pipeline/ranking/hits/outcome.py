"""What HITS gives, and why it may not."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.team import Team
from crawlrank.pipeline.ranking.solution import Solution
from crawlrank.pipeline.ranking.stop import Round

CURE = (
    "With --runner embedded, give --perturb 1e-6, which adds that to every entry of the matrix of"
    " links."
)


class HitsScores(NamedTuple):
    """a: authorities, h: hubs, float64[N] of length 1. length: of the sums of h that a is."""

    a: Floats
    h: Floats
    length: float

    def solution(self, rounds: list[Round]) -> Solution:
        """gives: what each link of a page adds to the score of its target."""
        return Solution(self.a, 0.0, rounds, {"hubs": self.h, "gives": self.h / self.length})


def entry_of(
    team: Team, number: int, a: Floats, error: float, residual: float, started: float
) -> Round:
    """error: a bound of |a - a*|, the length of the difference, and so of each score. Nothing
    is known relative to an exact score, which may be 0. residual: the length of what a pass
    changes."""
    mass = float(a.sum())
    return {
        "round": number,
        "nodes": team.nodes,
        "edges": team.edges,
        "dangling": int(np.count_nonzero(team.outdegrees == 0)),
        "mass": mass,
        "residual_l1": residual,
        "residual_max": residual,
        "certificate": error,
        "eta": math.inf,
        "absolute": error,
        "probability_certificate": of_probabilities(error, team.nodes, mass),
        "seconds": round(time.monotonic() - started, 3),
    }


def of_probabilities(error: float, nodes: int, mass: float) -> float:
    """A bound of |p - p*|_1, with p = a / |a|_1: at most 2 |a - a*|_1 / |a|_1, and the sum of n
    numbers is at most sqrt(n) times their length. mass: |a|_1."""
    return min(2.0, 2 * math.sqrt(nodes) * error / mass)


def without_links() -> BadInput:
    what = "no link to a page that counts, so that all hub and authority scores are 0"
    return BadInput("graph", what, "at least one link to a page with a relevance above 0", CURE)


def without_gap(theta: float, second: float) -> BadInput:
    """theta, second: the squares of the largest singular values."""
    what = (
        f"two largest singular values that are equal as far as can be told ({theta**0.5:.9g} and at"
        f" least {second**0.5:.9g}), so that the scores would depend on where HITS starts"
    )
    return BadInput("graph", what, "one that is larger than all others", CURE)
