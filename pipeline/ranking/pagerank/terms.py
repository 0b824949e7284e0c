"""The numbers of the equation, in the form that the loops take."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jobs.kernel.rank.equation import Equation
from pipeline.data.graph import Floats, Mask
from pipeline.data.team import Team, read_only
from pipeline.ranking.pagerank.kernels import relative as relative_to


class Terms(NamedTuple):
    """base: float64[1] for all nodes, or float64[N]; its mean is 1 - damping."""

    equation: Equation
    base: Floats

    @property
    def loops(self) -> tuple[Floats, float]:
        """The arguments base and damping of a loop over nodes."""
        return self.base, self.equation.damping

    @property
    def first(self) -> Floats:
        """The scores to begin with, as a float64[1] or float64[N]: 0 where no reader starts, so
        that pages which none reaches keep it."""
        return self.base / self.equation.base

    def eta(self, team: Team, relative: float, scores: Floats, r: Floats) -> float:
        """A bound of |x_i - x*_i| / x*_i for all i, of scores x with the residual r.

        relative: max |r_i| / base_i, which is that bound where every base_i is above 0. Where some
        are 0, let s be max |r_i| / x_i, infinite unless r_i is 0 for all x_i of 0: such x_i are
        exact. With M = (I - damping A)^-1, |x - x*| <= M |r| <= s M x. As damping A x <= (1 + s) x,
        and as no entry of damping^k A^k x is above damping^k |x|_1, M x is for every k at most
        (k + 1) (1 + s)^k x + damping^(k+1) / (1 - damping) |x|_1.
        """
        if len(self.base) == 1 or self.base.min() > 0:
            return relative
        of_ranges = team.over_nodes(lambda *nodes: relative_to(team.offsets, scores, r, *nodes))
        s, least = max(pair[0] for pair in of_ranges), min(pair[1] for pair in of_ranges)
        if not s < 1:
            return math.inf
        damping, total = self.equation.damping, float(scores.sum())
        far = math.ceil(math.log(total / (1 - damping) / least) / -math.log(damping))
        bound = s * ((far + 1) * math.exp(far * math.log1p(s)) + 1)
        return bound / (1 - bound) if bound < 1 else math.inf

    def of(self, nodes: Mask) -> Terms:
        """Those of some nodes."""
        return self._replace(base=read_only(self.base[nodes])) if len(self.base) > 1 else self


def terms_of(equation: Equation, weights: Floats | None) -> Terms:
    """weights: float64[N] of mean 1; None: 1 for every node."""
    base = np.array([1.0]) if weights is None else weights
    return Terms(equation, read_only(equation.base * base))
