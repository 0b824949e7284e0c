"""Bounds of the errors of scores, and how many digits of a score they prove."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.options import Round

MOST_DIGITS = 6  # of a score that is shown
_UPWARD = Context(prec=3, rounding=ROUND_CEILING)
_ONE_DIGIT = Context(prec=1, rounding=ROUND_CEILING)


class Bounds(NamedTuple):
    """Two bounds of the error of each score. eta: relative to the exact score, infinite where
    nothing is known of that. absolute: in the unit of scores. The smaller one counts."""

    eta: float
    absolute: float

    def ends(self, score: float, scores: int = 1) -> tuple[float, float]:
        """The least and the most that an exact score, or the sum of a number of scores, may be."""
        off = self.absolute * scores
        low, high = max(score / (1 + self.eta), score - off, 0.0), score + off
        return low, min(high, score / (1 - self.eta)) if self.eta < 1 else high

    def text(self, score: float, scores: int = 1) -> str:
        """The score with the digits that the exact score has too, at most 6; where it has none,
        `0.7±0.2`, or `<3e-9` where it may be 0; `~0.7` where nothing is known of its error. scores:
        of how many it is the sum."""
        low, high = self.ends(score, scores)
        if math.isinf(high):
            return f"~{score:.{MOST_DIGITS}g}"
        if low == high == 0:
            return "0"
        if digits := _shared_digits(low, high):
            return f"{score:#.{digits}g}".removesuffix(".")
        if not low:
            return f"<{_ONE_DIGIT.create_decimal_from_float(high):.0e}"
        off = _ONE_DIGIT.create_decimal_from_float(max(score - low, high - score))
        return f"{score:.1g}±{float(off):.1g}"

    def number(self, score: float) -> float:
        """The score as a number with its proved digits, with at least one digit."""
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
    """The bounds by the entry of the last round. Where it has no absolute bound, no error is more
    than all of them: the certificate times all scores.

    The absolute bound is rounded up: its last digits depend on how many tasks a sum was made by,
    and results do not."""
    of_all = float(last.get("certificate", math.inf)) * float(last.get("mass", 1))
    bound = _UPWARD.create_decimal_from_float(float(last.get("absolute", of_all)))
    return Bounds(float(last["eta"]), float(bound))


def relative_bound(last: Round) -> float:
    """The bound relative to each score, and if it is infinite, that relative to the mean score."""
    eta, absolute = bounds_of(last)
    return eta if math.isfinite(eta) else absolute * float(last["nodes"] / last["mass"])


def most_wrong(scores: Floats, eta: float, absolute: float) -> Floats:
    """By how much each score may be off, float64[N]; infinite where nothing is known."""
    off = np.full(len(scores), absolute)
    if eta < 1:
        np.minimum(off, scores * (eta / (1 - eta)), out=off)
    return off


def digits_for(eta: float) -> int:
    """Significant digits that a certificate resolves: min(9, floor(-log10(2 eta))), at least 1."""
    if eta == 0:
        return DIGITS
    return 1 if eta >= 0.05 else min(DIGITS, math.floor(-math.log10(2 * eta)))


def order_digits(eta: float) -> int:
    """Fewest significant digits, at most 9, at which no two scores that are certainly different
    count as equal: two such differ by more than 2 eta, relative, and d digits resolve 10^(1-d).

    What `digits_for` resolves is up to a hundred times coarser: right for comparing two programs,
    but an order by it would place pages by their keys whose scores are known to differ. An infinite
    eta says nothing of how many there are.
    """
    if eta in (0, math.inf):
        return DIGITS
    return max(1, min(DIGITS, 1 + math.ceil(-math.log10(2 * eta))))
