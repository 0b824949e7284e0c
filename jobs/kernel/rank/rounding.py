"""Columns of scores rounded as the order of rows rounds each of them (formats/order.py)."""

from __future__ import annotations

import numpy as np

from crawlrank.jobs.kernel.rank.array_types import Floats

BLOCK = 1 << 14  # scores whose steps stay in the cache of a core
POWERS = 10.0 ** np.arange(23)  # all that are doubles


def rounded(scores: Floats, digits: int) -> Floats:
    """Every score to `digits` significant digits: `float(f"{x:.{digits-1}e}")`, bit for
    bit.

    A score is scaled to an integer n and divided back. With |power of ten| <= 22 and n < 2^53 that
    is the double nearest to the decimal; scores that lie too close to a tie or to a power of ten
    for the scaling to decide go through the format itself.
    """
    result: Floats = np.empty(len(scores))
    for begin in range(0, len(scores), BLOCK):
        result[begin : begin + BLOCK] = _rounded(scores[begin : begin + BLOCK], digits)
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


@np.errstate(over="ignore")  # an end may be infinite
def rounded_ends(scores: Floats, digits: int, eta: float, absolute: float) -> tuple[Floats, Floats]:
    """The lowest and the highest that each exact score may be, rounded. eta, absolute: as
    of Bounds."""
    low, high = np.empty(len(scores)), np.empty(len(scores))
    for begin in range(0, len(scores), BLOCK):
        part = slice(begin, begin + BLOCK)
        least = np.maximum(scores[part] / (1 + eta), scores[part] - absolute)
        most = scores[part] + absolute
        if eta < 1:
            np.minimum(most, scores[part] / (1 - eta), out=most)
        low[part], high[part] = _rounded(np.maximum(least, 0.0), digits), _rounded(most, digits)
    return low, high
