"""What HITS gives, and why it may not."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from jobs.kernel.errors import BadInput
from pipeline.contract import Round
from pipeline.data.graph import Floats
from pipeline.data.team import Team
from pipeline.ranking.solution import Solution

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
    """error: a bound of |a - a*|, the length of the difference. eta: that, relative to the mean
    score. residual: the length of what a pass changes."""
    return {
        "round": number,
        "nodes": team.nodes,
        "edges": team.edges,
        "dangling": int(np.count_nonzero(team.outdegrees == 0)),
        "mass": float(a.sum()),
        "residual_l1": residual,
        "residual_max": residual,
        "certificate": error,
        "eta": error * team.nodes / float(a.sum()),
        "probability_certificate": error,
        "seconds": round(time.monotonic() - started, 3),
    }


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
