"""How many digits of scores count, and scores to so many digits."""

from __future__ import annotations

import math

import numpy as np

from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.pipeline.data.graph import Floats

BLOCK = 1 << 14  # scores whose steps stay in the cache of a core
POWERS = 10.0 ** np.arange(23)  # all that are doubles


def rounded(scores: Floats, digits: int, divisor: float = 1.0) -> Floats:
    """Every score, divided, to `digits` significant digits: `float(f"{x:.{digits-1}e}")`, bit for
    bit.

    A score is scaled to an integer n and divided back. With |power of ten| <= 22 and n < 2^53 that
    is the double nearest to the decimal; scores that lie too close to a tie or to a power of ten
    for the scaling to decide go through the format itself.
    """
    result: Floats = np.empty(len(scores))
    for begin in range(0, len(scores), BLOCK):
        result[begin : begin + BLOCK] = _rounded(scores[begin : begin + BLOCK] / divisor, digits)
    return result


def _rounded(scores: Floats, digits: int) -> Floats:
    result: Floats
    with np.errstate(all="ignore"):
        exponents = np.floor(np.log10(scores))
        shifts = digits - 1 - exponents
        shifts = np.where(np.isfinite(shifts), shifts, 0)
        up, down = (POWERS[np.clip(shift, 0, 22).astype(np.intp)] for shift in (shifts, -shifts))
        scaled = scores * up / down
        result = np.rint(scaled) / up * down
        margin = np.abs(scaled - np.floor(scaled) - 0.5)
        sure = (margin > 1e-3) & (np.abs(shifts) <= 22)
        sure &= (scaled >= 10.0 ** (digits - 1)) & (scaled < 10.0**digits)
    if digits > 12:
        sure[:] = False  # the scaling's own rounding would come near the margin
    unsure, places = np.unique(scores[~sure], return_inverse=True)
    result[~sure] = np.array([float(f"{x:.{digits - 1}e}") for x in unsure.tolist()])[places]
    return result


def rounded_ends(scores: Floats, digits: int, eta: float, absolute: float) -> tuple[Floats, Floats]:
    """The lowest and the highest that each exact score may be, rounded. eta, absolute: see
    pipeline/bounds.py."""
    low, high = np.empty(len(scores)), np.empty(len(scores))
    for begin in range(0, len(scores), BLOCK):
        part = slice(begin, begin + BLOCK)
        least = np.maximum(scores[part] / (1 + eta), scores[part] - absolute)
        most = scores[part] + absolute
        if eta < 1:
            np.minimum(most, scores[part] / (1 - eta), out=most)
        low[part], high[part] = _rounded(np.maximum(least, 0.0), digits), _rounded(most, digits)
    return low, high


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
