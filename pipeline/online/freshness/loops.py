"""The loops of allocation.py, compiled by numba when first used.

A page changes l times a day and is fetched f times a day; v is what it is worth that its copy is
fresh. REGULAR, RANDOM and HARMONIC are the objectives of allocation.py.
"""

from __future__ import annotations

import math

from jobs.kernel.machine.machine_code import loop
from jobs.kernel.rank.array_types import Floats

REGULAR, RANDOM, HARMONIC = range(3)
_SMALL = 1e-3  # below it a series is more exact than the difference


@loop
def changes_between(y: float) -> float:
    """x with 1 - (1 + x) exp(-x) = y, for 0 < y < 1: how many changes of a page there are between
    two fetches, if a fetch more a day is worth y v/l."""
    t = -math.log1p(-y)  # then x - log(1 + x) = t
    s = math.sqrt(2 * t)
    if s < _SMALL:
        return s + s * s / 3 + s * s * s / 36 - s * s * s * s / 270
    if t < 1:
        x, steps = s * (1 + s * (1 / 3 + s * (1 / 36 + s * (-1 / 270 + s / 4320)))), 2
    else:
        x, steps = t + math.log1p(t + math.log1p(t)), 3
    for _ in range(steps):  # Halley's, each of which has three times as many digits
        excess = x - math.log1p(x) - t
        x -= 2 * excess * x * (1 + x) / (2 * x * x - excess)
    return x


@loop
def fetch_rate(kind: int, change: float, value: float, price: float, most: float) -> float:
    """f at which the gain of a fetch more a day is the price; 0 where it is less for any f."""
    if change <= 0 or value <= 0:
        return 0.0
    if kind == HARMONIC:
        return min(most, 2 * value / price / (1 + math.sqrt(1 + 4 * value / (price * change))))
    y = price * change / value
    if y >= 1:
        return 0.0
    if kind == RANDOM:
        return min(most, change * (1 / math.sqrt(y) - 1))
    return min(most, change / changes_between(y))


@loop
def fill_rates(
    kind: int, changes: Floats, values: Floats, price: float, most: float, rates: Floats
) -> None:
    for i in range(len(changes)):
        rates[i] = fetch_rate(kind, changes[i], values[i], price, most)


@loop
def total_rate(
    kind: int, changes: Floats, values: Floats, counts: Floats, price: float, most: float
) -> float:
    """Fetches a day of all pages. counts: how many pages each entry stands for; empty for one."""
    high = low = 0.0
    for i in range(len(changes)):
        term = fetch_rate(kind, changes[i], values[i], price, most)
        if len(counts):
            term *= counts[i]
        following = high + term
        added = following - high
        low += (high - (following - added)) + (term - added)
        high = following
    return high + low


@loop
def fill_freshness(kind: int, changes: Floats, rates: Floats, freshness: Floats) -> None:
    """The objective of each page, without its value."""
    for i in range(len(changes)):
        change, rate = changes[i], rates[i]
        if change <= 0:
            freshness[i] = 0.0 if kind == HARMONIC else 1.0
        elif rate <= 0:
            freshness[i] = -math.inf if kind == HARMONIC else 0.0
        elif kind == REGULAR:
            freshness[i] = -math.expm1(-change / rate) * rate / change
        elif kind == RANDOM:
            freshness[i] = rate / (rate + change)
        else:
            freshness[i] = -math.log1p(change / rate)


@loop
def fill_gains(kind: int, changes: Floats, rates: Floats, gains: Floats) -> None:
    """What a fetch more a day adds to the objective of each page, without its value."""
    for i in range(len(changes)):
        change, rate = changes[i], rates[i]
        if change <= 0:
            gains[i] = 0.0
        elif rate <= 0:
            gains[i] = math.inf if kind == HARMONIC else 1 / change
        elif kind == REGULAR:
            x = change / rate
            small = x * x / 2 - x * x * x / 3 + x * x * x * x / 8
            gains[i] = (small if x < _SMALL else -math.expm1(-x) - x * math.exp(-x)) / change
        elif kind == RANDOM:
            gains[i] = change / (rate + change) ** 2
        else:
            gains[i] = change / (rate * (rate + change))
