"""The equation of PageRank. Its numbers are values of a ranking, given to every engine.

    x_i = base_i + damping * sum over edges j->i of x_j / outdegree_j

A reader follows a link with the probability `damping`, and starts anew otherwise. `base` is what a
page gets from readers who start anew, 1 - damping, where they start at all pages equally often.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal


@dataclass(frozen=True)
class Equation:
    """damping: at least 0.5, which the bounds of plain_round.py rely on, and below 1.

    base: 1 - damping as a decimal: 0.15 for 0.85, and not the double beside it. Raises ValueError.
    """

    damping: float = 0.85
    base: float = field(init=False)

    def __post_init__(self) -> None:
        if not 0.5 <= self.damping < 1:
            raise ValueError(f"a damping of {self.damping}: it is at least 0.5 and below 1")
        object.__setattr__(self, "base", float(1 - Decimal(repr(self.damping))))


RECIPE = Equation()  # of the Heritrix project's recipe
