"""The equation of PageRank. Its numbers are values of a ranking, given to every engine.

    x_i = base_i + damping * sum over edges j->i of x_j / outdegree_j

A reader follows a link with the probability `damping`, and starts anew otherwise. `base` is what a
page gets from readers who start anew, 1 - damping, where they start at all pages equally often.

Elsewhere a file tells jobs how often a reader starts anew at each page. A line is `id<TAB>weight`;
ids ascend, and the weights of all N nodes have the mean 1. A node without a line has the weight 0.
A task holds 16 bytes for each line.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import DUMMY
from crawlrank.jobs.kernel.rank.array_types import Floats, Positions


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


FILE = "_teleport.txt"  # beside the parts of ranks, which readers of parts leave out
LEAST = 1e-200  # of the largest weight: less would be lost in the sums
EVERYWHERE = np.ones(1)  # where readers start at all pages equally often


def teleport(weights: Floats | None) -> Floats:
    """The weights with the mean 1. Raises BadInput for weights that are not all finite and at least
    0, or all 0, or too far apart."""
    if weights is None or not (weights >= 0).all() or not np.isfinite(weights).all():
        raise BadInput("weights", "none for some pages", "a finite number of at least 0 for each")
    largest = float(weights.max())
    if not largest:
        raise BadInput("weights", "0 for all pages", "one above 0", "Name a page that has a score.")
    if float(weights[weights > 0].min()) < LEAST * largest:
        what = f"a weight below {LEAST:g} times the largest"
        raise BadInput("weights", what, "weights nearer to each other", "Give such pages 0.")
    scaled = weights / largest
    scaled /= scaled.mean()
    return scaled


class Teleport:
    """The weights of a file. A reader always may start anew at `dummy`: its weight is 1."""

    def __init__(self, path: str | Path) -> None:
        self._ids, self._weights = array("q"), array("d")
        with Path(path).open("rb") as lines:
            for line in lines:
                node, weight = line.split(b"\t")
                self._ids.append(int(node))
                self._weights.append(float(weight))

    def of(self, node: bytes) -> float:
        """The weight of an id."""
        if node == DUMMY:
            return 1.0
        number = int(node)
        at = bisect_left(self._ids, number)
        there = at < len(self._ids) and self._ids[at] == number
        return self._weights[at] if there else 0.0

    def of_all(self, ids: Positions) -> Floats:
        """The weights of ids, in their order."""
        known, weights = np.array(self._ids, np.int64), np.array(self._weights)
        at = np.minimum(np.searchsorted(known, ids), max(len(known) - 1, 0))
        return np.where(known[at] == ids, weights[at], 0.0) if len(known) else np.zeros(len(ids))


def write_teleport(path: Path, weights: Floats) -> Path:
    """Write the weights of the nodes 0 to N-1; returns the path."""
    with path.open("w") as file:
        for node in np.flatnonzero(weights).tolist():
            file.write(f"{node}\t{float(weights[node])!r}\n")
    return path
