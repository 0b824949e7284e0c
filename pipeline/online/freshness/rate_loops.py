"""The loops of change_rates.py, compiled by numba when first used.

What was seen of a page is `exact`, how many times of changes are known, `quiet`, the days in which
it did not change, and `spans`, the lengths in days of intervals in which it changed at least once.
With a prior that is a gamma distribution, of shape a and b days, the density of u = log(l) is

    (a + exact) u - (b + quiet) exp(u) + sum of log(1 - exp(-span exp(u)))

but for a constant, as a logarithm. It is concave in u.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import Floats, Positions

POINTS = 32  # of a density on each side of its mode, besides the mode
ROOM = 4  # rows of numbers of these points
_FEW = 16  # spans, the probabilities of which are multiplied as they are
_LEAST = 1e-100  # a density that does not count
_MOST_OF_IT = -1 + 1e-15
_FALL = 14.0  # the density ends where its logarithm is this far below its highest
MEAN, LOW, HIGH, SHAPE, LOG = range(5)  # columns of a posterior


@loop
def slope_and_bend(u: float, shape: float, days: float, spans: Floats) -> tuple[float, float]:
    """The first and the second derivative of the density's logarithm."""
    rate = math.exp(u)
    slope, bend = shape - days * rate, -days * rate
    for k in range(len(spans)):
        x = spans[k] * rate
        if x < 1e-8:
            slope += 1 - x / 2
            bend -= x / 2
        elif x < 700:
            part = x / math.expm1(x)
            slope += part
            bend += part * (1 - x - part)
    return slope, bend


@loop
def height(u: float, shape: float, days: float, spans: Floats) -> float:
    rate = math.exp(u)
    density = shape * u - days * rate
    for k in range(len(spans)):
        density += math.log(-math.expm1(-spans[k] * rate))
    return density


@loop
def mode(shape: float, days: float, spans: Floats) -> float:
    """u where the density is highest: Newton's steps, no longer than 2, on a falling slope."""
    u = math.log((shape + len(spans)) / (days + spans.sum()))
    for _ in range(200):
        slope, bend = slope_and_bend(u, shape, days, spans)
        step = min(2.0, max(-2.0, -slope / bend))
        u += step
        if abs(step) < 1e-9:
            break
    return u


@loop
def end_of(u: float, step: float, shape: float, days: float, spans: Floats) -> float:
    """Where the density ends in the direction of a step from its mode."""
    least, end = height(u, shape, days, spans) - _FALL, u + step
    while height(end, shape, days, spans) > least:
        step *= 1.5
        end += step
    return end


@loop
def growth(begin: float, end: float) -> float:
    """The logarithm of the ratio of two densities beside each other."""
    return math.log(max(end, _LEAST) / max(begin, _LEAST))


@loop
def between(width: float, begin: float, end: float) -> float:
    """The integral of a density whose logarithm is linear."""
    grown = growth(begin, end)
    if abs(grown) < 1e-6:
        return width * (begin + end) / 2
    return width * (end - begin) / grown


@loop
def quantile(share: float, points: Floats, densities: Floats, sums: Floats) -> float:
    """The rate below which a share of the density is. Its logarithm is linear between points."""
    wanted, k = share * sums[-1], 1
    while sums[k] < wanted:
        k += 1
    width, begin = points[k] - points[k - 1], max(densities[k - 1], _LEAST)
    grown, part = growth(begin, densities[k]), (wanted - sums[k - 1]) / (width * begin)
    if abs(grown) >= 1e-6:
        part = math.log1p(max(grown * part, _MOST_OF_IT)) / grown
    return math.exp(points[k - 1] + part * width)


@loop
def shape_of(spread: float) -> float:
    """The shape a with log(a) - digamma(a) = spread, the logarithm of a mean less the mean of the
    logarithms: within 1.5 %. Source: Minka, Estimating a gamma distribution, 2002."""
    spread = max(spread, 1e-4)
    return (3 - spread + math.sqrt((spread - 3) ** 2 + 24 * spread)) / (12 * spread)


@loop
def describe(
    shape: float, days: float, spans: Floats, tail: float, room: Floats, row: Floats
) -> None:
    """Fill a row of a posterior: mean, the quantiles `tail` and 1 - `tail`, the shape of a gamma
    distribution of the same mean and mean of log(l), and the latter."""
    points, densities, sums = room[0], room[1], room[2]
    top = mode(shape, days, spans)
    _, bend = slope_and_bend(top, shape, days, spans)
    step = 2 / math.sqrt(-bend)
    low = end_of(top, -step, shape, days, spans)
    high = end_of(top, step, shape, days, spans)
    fill_densities(shape, days, spans, top, low, room)
    fill_densities(shape, days, spans, top, high, room)
    mean = log = whole = sums[0] = 0.0
    for k in range(2 * POINTS + 1):
        side, part = (low - top if k < POINTS else high - top), abs(k - POINTS) / POINTS
        density = densities[k]
        if k:
            sums[k] = sums[k - 1] + between(points[k] - points[k - 1], densities[k - 1], density)
        weight = abs(side) * part * (4 if k % 2 else 2) * density  # Simpson's rule on each side
        if k in (0, 2 * POINTS):
            weight /= 2
        mean, log = mean + weight * room[3, k], log + weight * points[k]
        whole += weight
    row[MEAN], row[LOG] = mean / whole, log / whole
    row[SHAPE] = shape_of(math.log(mean / whole) - log / whole)
    row[LOW] = quantile(tail, points, densities, sums)
    row[HIGH] = quantile(1 - tail, points, densities, sums)


@loop
def fill_densities(
    shape: float, days: float, spans: Floats, top: float, end: float, room: Floats
) -> None:
    """Fill u, the density and the rate at the mode and at the points between it and an end. The
    points are dense at the mode: at the squares of equal steps, so that each rate follows from the
    one before by products."""
    side, highest, rate = end - top, math.exp(top), math.exp(top)
    root = math.exp(side / (POINTS * POINTS))
    factor = root
    for k in range(POINTS + 1):
        at = POINTS + k if end > top else POINTS - k
        part = k / POINTS
        density = math.exp(shape * side * part * part - days * (rate - highest))
        if len(spans) <= _FEW:
            for span in spans:
                density *= math.expm1(-span * rate) / math.expm1(-span * highest)
        elif k:
            u = top + side * part * part
            fall = height(u, shape, days, spans) - height(top, shape, days, spans)
            density = math.exp(fall)
        room[0, at], room[1, at], room[3, at] = top + side * part * part, density, rate
        rate *= factor
        factor *= root * root


@loop
def describe_group(shape: float, tail: float, row: Floats) -> None:
    """Describe, as `describe` does, pages that did not change in one day; those of other days
    follow."""
    describe(shape, 1.0, np.empty(0), tail, np.empty((ROOM, 2 * POINTS + 1)), row)


@loop
def describe_all(
    exact: Floats,
    quiet: Floats,
    offsets: Positions,
    spans: Floats,
    prior: Floats,
    groups: Any,
    tail: float,
    rows: Floats,
) -> None:
    """Fill float64[N, 5]. offsets: where the spans of each page begin, int64[N + 1]. prior: shape
    and days of each group, float64[G, 2]. groups: of each page, int32[N].

    Pages of a group without a change all have the same density but for the unit of time."""
    room = np.empty((ROOM, 2 * POINTS + 1))
    of_groups = np.full((len(prior), 5), np.nan)
    for i in range(len(exact)):
        group = groups[i]
        shape, days = prior[group, 0] + exact[i], prior[group, 1] + quiet[i]
        if offsets[i] < offsets[i + 1] or exact[i] > 0:
            describe(shape, days, spans[offsets[i] : offsets[i + 1]], tail, room, rows[i])
            continue
        if math.isnan(of_groups[group, MEAN]):
            describe_group(shape, tail, of_groups[group])
        for k in (MEAN, LOW, HIGH):
            rows[i, k] = of_groups[group, k] / days
        rows[i, SHAPE] = shape
        rows[i, LOG] = of_groups[group, LOG] - math.log(days)
