"""The loops of allocation.py, compiled by numba when first used.

A page changes l times a day and is fetched f times a day; v is what it is worth that its copy is
fresh. REGULAR, RANDOM and HARMONIC are the objectives of allocation.py.

Where l is not known, but has a gamma distribution of shape a and mean a/b, the mean of REGULAR's F
has a closed form in s = 1/(b f), because the mean of exp(-l t) is (1 + t/b)^-a. With H(s) the
integral of (1 + t)^-a from 0 to s it is

    E F = H(s)/s,   dE F/df = b K(s),   K(s) = H(s) - s (1 + s)^-a
                                             = (1 - (1 + a s) (1 + s)^-a)/(a - 1)

K rises from 0 with the slope a s (1 + s)^-(a + 1): to 1/(a - 1) if a > 1, and without end
otherwise, so that a page which may never change is worth a fetch now and then at any price.
"""

from __future__ import annotations

import math

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import Floats, two_sum

REGULAR, RANDOM, HARMONIC = range(3)
_SMALL = 1e-3  # below it a series is more exact than the difference
_LONGEST = 1e290  # an interval of this many b is as good as none
_SERIES = 0.1  # a s, up to which the difference of K would cancel
_LAST = 1e-8
_FAR = 50.0  # the longest step, in logarithms
_BESIDE = 1e-4  # shapes nearer to 1 are taken to be so far above: differences would cancel


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
def shape_beside(shape: float) -> float:
    return 1 + _BESIDE if abs(shape - 1) < _BESIDE else shape


@loop
def mean_gain(shape: float, s: float) -> float:
    """K(s)."""
    a = shape_beside(shape)
    if s * (a + 2) < _SMALL:
        return a * s * s / 2 * (1 - (a + 1) * s * (2 / 3 - (a + 2) * s / 4))
    return -math.expm1(math.log1p(a * s) - a * math.log1p(s)) / (a - 1)


@loop
def mean_rate(change: float, shape: float, value: float, price: float, most: float) -> float:
    """f at which the mean gain of a fetch more a day is the price; 0 where it is less for any f.

    Newton's steps for K(s) = y in logarithms, where K is concave. They begin below, as K(s) is at
    most a s^2/2, and so stay below.
    """
    if change <= 0 or value <= 0:
        return 0.0
    a = shape_beside(shape)
    days = a / change
    y = price / (days * value)
    if a > 1 and y * (a - 1) >= 1:
        return 0.0
    s = math.sqrt(2 * y / a)
    for _ in range(100):
        kept = math.exp(-a * math.log1p(s))
        gain = mean_gain(a, s) if s * a < _SERIES else (1 - (1 + a * s) * kept) / (a - 1)
        slope = a * s * (s / (1 + s)) * kept / gain
        rest = math.log(y / gain)
        step = rest / slope if rest < _FAR * slope else _FAR
        s *= math.exp(step)
        if s > _LONGEST:
            return 0.0
        if not step > _LAST:  # the next one would be about its square
            break
    return min(most, 1 / (days * s))


@loop
def rate_at(
    kind: int, change: float, shapes: Floats, i: int, value: float, price: float, most: float
) -> float:
    """The rate of page i. shapes: empty where rates of changes are known."""
    if kind == REGULAR and len(shapes):
        return mean_rate(change, shapes[i], value, price, most)
    return fetch_rate(kind, change, value, price, most)


@loop
def fill_rates(
    kind: int,
    changes: Floats,
    shapes: Floats,
    values: Floats,
    price: float,
    most: float,
    rates: Floats,
) -> None:
    for i in range(len(changes)):
        rates[i] = rate_at(kind, changes[i], shapes, i, values[i], price, most)


@loop
def total_rate(
    kind: int,
    changes: Floats,
    shapes: Floats,
    values: Floats,
    price: float,
    most: float,
) -> float:
    """Fetches a day of all pages."""
    high = low = 0.0
    for i in range(len(changes)):
        term = rate_at(kind, changes[i], shapes, i, values[i], price, most)
        high, error = two_sum(high, term)
        low += error
    return high + low


@loop
def fill_freshness(
    kind: int, changes: Floats, shapes: Floats, rates: Floats, freshness: Floats
) -> None:
    """The objective of each page, without its value."""
    for i in range(len(changes)):
        change, rate = changes[i], rates[i]
        if change <= 0:
            freshness[i] = 0.0 if kind == HARMONIC else 1.0
        elif rate <= 0:
            freshness[i] = -math.inf if kind == HARMONIC else 0.0
        elif kind == REGULAR and len(shapes):
            a = shape_beside(shapes[i])
            s = change / (a * rate)
            freshness[i] = math.expm1((1 - a) * math.log1p(s)) / (s * (1 - a))
        elif kind == REGULAR:
            freshness[i] = -math.expm1(-change / rate) * rate / change
        elif kind == RANDOM:
            freshness[i] = rate / (rate + change)
        else:
            freshness[i] = -math.log1p(change / rate)
