"""How wrong scores may be, and scores as people are shown them: with the digits that are proved."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context
from typing import NamedTuple

from crawlrank.pipeline.contract import Round

MOST_DIGITS = 6  # of a score that is shown
_UPWARD = Context(prec=3, rounding=ROUND_CEILING)
_ONE_DIGIT = Context(prec=1, rounding=ROUND_CEILING)


class Bounds(NamedTuple):
    """Of the error of each score. eta: relative to the exact score, infinite where nothing is known
    of that. absolute: in the unit of scores. The smaller one counts."""

    eta: float
    absolute: float

    def ends(self, score: float, scores: int = 1) -> tuple[float, float]:
        """The least and the most that an exact score may be, or the sum of so many."""
        off = self.absolute * scores
        low, high = max(score / (1 + self.eta), score - off, 0.0), score + off
        return low, min(high, score / (1 - self.eta)) if self.eta < 1 else high

    def text(self, score: float, scores: int = 1) -> str:
        """With the digits that the exact score has too, at most 6; where it has none, `0.7±0.2`, or
        `<3e-9` where it may be 0. scores: of how many it is the sum."""
        low, high = self.ends(score, scores)
        if low == high == 0:
            return "0"
        if digits := _shared_digits(low, high):
            return f"{score:#.{digits}g}".removesuffix(".")
        if not low:
            return f"<{_ONE_DIGIT.create_decimal_from_float(high):.0e}"
        off = _ONE_DIGIT.create_decimal_from_float(max(score - low, high - score))
        return f"{score:.1g}±{float(off):.1g}"

    def number(self, score: float) -> float:
        """The same as a number, with at least one digit."""
        digits = _shared_digits(*self.ends(score)) or 1
        return float(f"{score:.{digits - 1}e}")


EXACT = Bounds(0.0, 0.0)


def _shared_digits(low: float, high: float) -> int:
    """Significant digits that two numbers share when they are rounded, 0 to 6."""
    for digits in range(MOST_DIGITS, 0, -1):
        if f"{low:.{digits - 1}e}" == f"{high:.{digits - 1}e}":
            return digits
    return 0


def bounds_of(last: Round) -> Bounds:
    """By the entry of the last round. Where it has no absolute bound, no error is more than all of
    them: the certificate times all scores.

    The absolute bound is rounded up: its last digits depend on how many tasks a sum was made by,
    and results do not."""
    of_all = float(last.get("certificate", math.inf)) * float(last.get("mass", 1))
    bound = _UPWARD.create_decimal_from_float(float(last.get("absolute", of_all)))
    return Bounds(float(last["eta"]), float(bound))


def relative_bound(last: Round) -> float:
    """The bound relative to each score, and if it is infinite, that relative to the mean score."""
    eta, absolute = bounds_of(last)
    return eta if math.isfinite(eta) else absolute * float(last["nodes"] / last["mass"])
