"""The numbers of the equation, in the form that the loops take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jobs.kernel.rank.equation import Equation
from pipeline.data.graph import Floats, Mask
from pipeline.data.team import read_only


class Terms(NamedTuple):
    """base: float64[1] for all nodes, or float64[N]; its mean is 1 - damping."""

    equation: Equation
    base: Floats

    @property
    def loops(self) -> tuple[Floats, float]:
        """The arguments base and damping of a loop over nodes."""
        return self.base, self.equation.damping

    def of(self, nodes: Mask) -> Terms:
        """Those of some nodes."""
        return self._replace(base=read_only(self.base[nodes])) if len(self.base) > 1 else self


def terms_of(equation: Equation, weights: Floats | None) -> Terms:
    """weights: float64[N] of mean 1; None: 1 for every node."""
    base = np.array([1.0]) if weights is None else weights
    return Terms(equation, read_only(equation.base * base))
