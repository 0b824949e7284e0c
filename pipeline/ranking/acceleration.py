"""What steers packed rounds: aggregation between groups of nodes, and Anderson's mixing of rounds.

**Aggregation** (iterative aggregation and disaggregation: Koury, McAllister, Stewart 1984). With
X_I the sum of the scores of group I, n_I its nodes, F_IJ what goes along edges from I to J, factors
s of the groups are such that the scaled vector is right between groups, whatever it is within:

    s_I X_I = base n_I + damping * sum over groups J of s_J F_JI

**Mixing** (Anderson 1965; Walker, Ni 2011). With h the vector that a round led to, and c its change
from the one that the round began with, the next round begins with h - sum gamma_k (difference of h
k rounds ago), the gammas such that the same combination of changes is least. The Gram matrix of
the differences is scaled to a unit diagonal, with RIDGE on it. Flows are linear in the vector, so
those of the mixed one are the same combination of flows. What a round did is forgotten when the
residual more than doubled.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from crawlrank.jobs.kernel.rank.array_types import Floats
from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation
from crawlrank.jobs.kernel.rank.packed_round import MEMORY
from crawlrank.jobs.kernel.rank.packing import from_text, to_text

RIDGE = 1e-12
WORSE = 2.0  # times the last residual
LEAST, MOST = 0.1, 10.0  # of a factor; the first vectors tell little


class Groups(NamedTuple):
    """flows: float64[groups, groups], from row to column. weights: scores in sum."""

    flows: Floats
    weights: Floats

    def less(self, other: Groups, by: float) -> Groups:
        return Groups(self.flows - by * other.flows, self.weights - by * other.weights)


class Products(NamedTuple):
    """gram: of differences of changes, the last first; right: of these with the last change."""

    gram: Floats
    right: Floats


def factors(groups: Groups, sizes: Floats, equation: Equation = RECIPE) -> Floats:
    """The factor of each group; 1 where a group has no scores or nothing can be solved."""
    result = np.ones(len(sizes))
    used = np.flatnonzero(groups.weights > 0)
    flows = groups.flows[np.ix_(used, used)].T
    matrix = np.diag(groups.weights[used]) - equation.damping * flows
    try:
        solved = np.linalg.solve(matrix, equation.base * sizes[used])
    except np.linalg.LinAlgError:
        return result
    if np.isfinite(solved).all():
        result[used] = np.clip(solved, LEAST, MOST)
    return result


def gammas(products: Products, depth: int) -> list[float]:
    """How much of each of the last `depth` differences to take back."""
    diagonal = np.diag(products.gram)[:depth]
    if not depth or not (diagonal > 0).all():
        return []
    scale = 1 / np.sqrt(diagonal)
    gram = products.gram[:depth, :depth] * np.outer(scale, scale) + RIDGE * np.eye(depth)
    weights = scale * np.linalg.solve(gram, scale * products.right[:depth])
    return [float(gamma) for gamma in weights] if np.isfinite(weights).all() else []


@dataclass
class Steering:
    """Remembers the groups of the last rounds, the last first."""

    sizes: Floats
    equation: Equation = RECIPE
    residual: float = sys.float_info.max
    _before: Sequence[Groups] = ()

    def saved(self) -> dict[str, Any]:
        """The state as JSON, from which `restored` continues."""
        arrays = {
            f"{name}_{number}": array.ravel()
            for number, groups in enumerate(self._before)
            for name, array in groups._asdict().items()
        }
        return {"residual": self.residual, "before": to_text(arrays).decode()}

    def restored(self, saved: dict[str, Any]) -> Steering:
        arrays, count = from_text(saved["before"].encode()), len(self.sizes)
        before = [
            Groups(arrays[f"flows_{n}"].reshape(count, count), arrays[f"weights_{n}"])
            for n in range(len(arrays) // 2)
        ]
        return replace(self, residual=saved["residual"], _before=before)

    def next(
        self, residual: float, products: Products, groups: Groups
    ) -> tuple[list[float], list[float]]:
        """(gammas, factors) of the next round, from what this one measured. residual: in sum."""
        if residual > WORSE * self.residual:
            self._before = ()
        self.residual = residual
        depth = min(len(self._before), len(products.right))
        taken = gammas(products, depth)
        mixed, rounds = groups, [groups, *self._before]
        for gamma, new, old in zip(taken, rounds, rounds[1:], strict=False):
            mixed = mixed.less(new, gamma).less(old, -gamma)
        self._before = tuple(rounds[:MEMORY])
        return taken, self.factors(mixed)

    def factors(self, groups: Groups) -> list[float]:
        """The factor of each group; no factor if there is one group only."""
        return factors(groups, self.sizes, self.equation).tolist() if len(self.sizes) > 1 else []
