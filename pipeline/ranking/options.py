"""Options of rankings, classes and OPIC: each value with its type, bounds and default, once. `Stop`
says when the rounds of a ranking stop.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from crawlrank.jobs.kernel.errors import NotConverged, count_of
from crawlrank.jobs.kernel.formats.order import DIGITS

MAX_BINS = 125
ClassesOver = Literal["captured", "all"]
Ties = Literal["key", "links", "together"]
Policy = Literal["cycle", "random", "greedy"]
VirtualPage = Literal["teleport", "edge"]


@dataclass(frozen=True)
class CutOptions:
    """How scores are cut into classes; pipeline/ranking/classes.py has the equation.

    bins: 1 to MAX_BINS. digits: scores with the same significant digits count as equal.
    """

    bins: int = 5
    classes_over: ClassesOver = "captured"
    ties: Ties = "key"
    digits: int = DIGITS


@dataclass(frozen=True)
class OpicOptions:
    """opic_error: the certificate to reach. max_visits: in multiples of N; the policy cycle makes
    whole sweeps of N, at least one. seed: of the policy random. virtual_page: see
    pipeline/ranking/opic.py."""

    policy: Policy = "cycle"
    opic_error: float = 1e-6
    max_visits: float = 200.0
    seed: int = 0
    virtual_page: VirtualPage = "teleport"


@dataclass(frozen=True)
class ValidationOptions(CutOptions, OpicOptions):
    """Options of OPIC, and of classes as in the precedence file. digits: of PageRank's order.
    certificate: that page-rank has proved, where it is known."""

    min_agreement: float = 0.99
    certificate: float | None = None


Round = dict[str, Any]  # the entry of a round in the manifest
FINAL = "final"  # in the entry of a round after which there is nothing to do, whatever its error
# called after each round with its entry and all entries; returns whether these are saved, so that
# files of earlier rounds may be removed
OnRound = Callable[[Round, list[Round]], bool]
TOLERANCE = 1e-9  # the default, on every runner
MANY, HARDLY = 100, 0.9  # rounds, and how much of a certificate hardly less is


def _stagnant(rounds: list[Round]) -> int:
    """How many rounds, the last half, made the certificate hardly smaller; 0 where they did."""
    half = len(rounds) // 2
    before, after = (
        [entry["certificate"] for entry in part] for part in (rounds[:half], rounds[half:])
    )
    return len(after) if len(rounds) >= MANY and min(after) > HARDLY * min(before) else 0


@dataclass(frozen=True)
class Stop:
    """When to stop: after exactly `iterations` rounds, or at a certificate <= `tolerance`."""

    iterations: int | None = None
    tolerance: float = TOLERANCE
    max_rounds: int = 1000

    def parameters(self) -> dict[str, Any]:
        """What results depend on, by the names of the options without their dashes."""
        tolerance = None if self.iterations is not None else self.tolerance
        return {"iterations": self.iterations, "tolerance": tolerance}

    def reached(self, rounds: list[Round]) -> bool:
        if self.iterations is not None:
            return len(rounds) >= self.iterations or self._final(rounds)
        return bool(rounds) and (rounds[-1]["certificate"] <= self.tolerance or self._final(rounds))

    @staticmethod
    def _final(rounds: list[Round]) -> bool:
        """Whether no further round makes the scores better."""
        return bool(rounds) and bool(rounds[-1].get(FINAL) or rounds[-1]["certificate"] == 0)

    def exhausted(self, rounds: list[Round]) -> bool:
        return self.iterations is None and len(rounds) >= self.max_rounds

    def over(self, rounds: list[Round]) -> bool:
        return self.reached(rounds) or self.exhausted(rounds)

    def not_converged(self, rounds: list[Round], title: str = "PageRank") -> NotConverged:
        """The error to raise when the rounds are exhausted and the scores are in place."""
        known = rounds[-1]["certificate"]
        state = f"the certificate is {known:.2e}, above the tolerance {self.tolerance:.2e}"
        cure = "allow more with --max-rounds, or ask for less with --tolerance."
        if math.isinf(known):  # scores that are not bounded before their last round
            state = "the error of the scores is not known yet"
            cure = "allow more with --max-rounds."
        elif not self.exhausted(rounds):  # what is left is rounding
            cure = "no more rounds make them better: ask for less with --tolerance."
        elif half := _stagnant(rounds):
            cure = f"the last {half} made them hardly better: ask for less with --tolerance."
        return NotConverged(
            f"{title}: after {count_of(len(rounds), 'round')} {state}. The scores are kept in the "
            f"dataset ranks; {cure}"
        )
