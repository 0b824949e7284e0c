"""How often pages change, from what several visits saw of them.

Changes of a page are a Poisson process of l changes a day. Between two visits one sees only whether
the page changed. Three estimates of l:

- `simple`: changes seen over days observed. It is too low, as two changes between visits are seen
  as one.
- `corrected`: -log((n - X + 1/2) / (n + 1/2)) / t for X changes seen in n intervals of t days each,
  which removes most of that bias. Source: Cho and Garcia-Molina, Estimating frequency of change,
  ACM TOIT 3, 2003.
- `pooled`, for pages with few visits and intervals of all lengths: the pages of a group have rates
  from one gamma distribution, which is fitted to the group by the EM algorithm; the estimate is the
  mean of a page's posterior, with the interval that holds 95 % of it. An interval in which the page
  changed counts 1 - exp(-l t), one in which it did not exp(-l t), and a known time of the last
  change, `t` days before a visit, l exp(-l t).

A group that tells too little for a prior of its own has that of all pages, and if these tell too
little, DEFAULT. It does so if it has few pages, or if nearly all of them changed between all
visits: then only that they change at least so often is known, and intervals can miss the rate.

numba compiles the loops at the end when they are first used. For them, what was seen of a page is
`exact`, how many times of changes are known, `quiet`, the days in which it did not change, and
`spans`, the lengths in days of intervals in which it changed at least once. With a prior that is a
gamma distribution, of shape a and b days, the density of u = log(l) is

    (a + exact) u - (b + quiet) exp(u) + sum of log(1 - exp(-span exp(u)))

but for a constant, as a logarithm. It is concave in u.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import Floats, Positions
from crawlrank.pipeline.online.freshness.allocation import by_blocks

SHARE = 0.95  # of the posterior in its interval
# Half of all pages change within 50 days (Cho and Garcia-Molina, The evolution of the web and
# implications for an incremental crawler, VLDB 2000), and rates differ by orders of magnitude.
DEFAULT = (0.5, 16.4)  # shape and days of the gamma distribution whose median is log(2) / 50
# Pages that did not change for a while, or of which a time of a change is known, that a group needs
# for a prior of its own; and which share of it they have to be.
FEWEST, LEAST_SHARE = 30, 0.05
SAMPLE = 4096  # pages that a prior is fitted to at most
GroupsOfPages = npt.NDArray[np.int32]  # numbers of groups
_ROUNDS, _NEAR, _LONGEST = 30, 1e-4, 30.0
_STEADIEST = 1e3  # the largest shape of a prior


class Seen(NamedTuple):
    """What visits saw of N pages. exact: how many times of changes are known, float64[N]. quiet:
    days without a change, float64[N]. spans: days of the intervals with a change, float64[M];
    offsets: where those of each page begin, int64[N + 1]."""

    exact: Floats
    quiet: Floats
    offsets: Positions
    spans: Floats

    @property
    def is_something(self) -> npt.NDArray[np.bool_]:
        """Whether there is anything to see of a page, bool[N]."""
        return (self.exact > 0) | (self.quiet > 0) | (np.diff(self.offsets) > 0)

    def taken(self, pages: Positions) -> Seen:
        counts = np.diff(self.offsets)[pages]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], counts)
        spans = self.spans[np.repeat(self.offsets[:-1][pages], counts) + within]
        return Seen(self.exact[pages], self.quiet[pages], offsets, spans)


class Rates(NamedTuple):
    """Changes a day of each page, float64[N]: the mean of its posterior, the ends of the interval,
    and the shape of the gamma distribution that has its mean and its mean logarithm. prior: shape
    and days, float64[G + 1, 2], the last one of all pages. groups: which of them each page has,
    int32[N]."""

    mean: Floats
    low: Floats
    high: Floats
    shape: Floats
    prior: Floats
    groups: GroupsOfPages


def simple(changes: Floats, days: Floats) -> Floats:
    """Changes seen over days observed; 0 for pages that were not observed."""
    return np.divide(changes, days, out=np.zeros(len(days)), where=days > 0)


def corrected(changes: Floats, intervals: Floats, days: Floats) -> Floats:
    """The estimate without most of its bias; 0 for pages that were not observed."""
    logs = -np.log((intervals - changes + 0.5) / (intervals + 0.5))
    return np.divide(logs * intervals, days, out=np.zeros(len(days)), where=days > 0)


def pooled(seen: Seen, groups: GroupsOfPages, default: tuple[float, float] = DEFAULT) -> Rates:
    """Rates of pages by groups, numbered from 0. default: the prior if there is nothing to see."""
    count = int(groups.max()) + 1 if len(groups) else 0
    visible = np.flatnonzero(seen.is_something)
    prior = np.tile(np.array(default), (count + 1, 1))
    own = np.zeros(count + 1, bool)
    if _tells(seen, visible):
        prior[:] = _fitted(seen, visible, default)
        by_group = visible[np.argsort(groups[visible], kind="stable")]
        parts = np.split(by_group, np.searchsorted(groups[by_group], np.arange(1, count)))
        telling = [group for group, pages in enumerate(parts) if _tells(seen, pages)]
        start = tuple(prior[count])
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            fitted = pool.map(lambda group: _fitted(seen, parts[group], start), telling)
            for group, shape_and_days in zip(telling, fitted, strict=True):
                prior[group], own[group] = shape_and_days, True
    having = np.where(own[groups], groups, count).astype(np.int32)
    mean, low, high, shape = _described(seen, prior, having)
    return Rates(mean, low, high, shape, prior, having)


def _tells(seen: Seen, pages: Positions) -> bool:
    telling = np.count_nonzero((seen.quiet[pages] > 0) | (seen.exact[pages] > 0))
    return bool(telling >= max(FEWEST, LEAST_SHARE * len(pages)))


def posterior(seen: Seen, prior: Floats, groups: GroupsOfPages) -> Floats:
    """Mean, lower end, upper end, shape and mean logarithm of each page's rate, float64[N, 5]."""
    return np.concatenate(
        [np.empty((0, 5)), *by_blocks(_describing(seen, prior, groups), len(groups))]
    )


def _described(seen: Seen, prior: Floats, groups: GroupsOfPages) -> list[Floats]:
    """Mean, lower end, upper end and shape, float64[N] each."""
    columns: list[Floats] = [np.empty(len(groups)) for _ in range(4)]
    describe = _describing(seen, prior, groups)

    def fill(block: slice) -> None:
        for column, values in zip(columns, describe(block).T, strict=False):
            column[block] = values

    by_blocks(fill, len(groups))
    return columns


def _describing(seen: Seen, prior: Floats, groups: GroupsOfPages) -> Callable[[slice], Floats]:
    def describe(block: slice) -> Floats:
        rows = np.empty((len(groups[block]), 5))
        offsets = seen.offsets[block.start : block.stop + 1]
        columns = (seen.exact[block], seen.quiet[block], offsets, seen.spans)
        describe_all(*columns, prior, groups[block], (1 - SHARE) / 2, rows)
        return rows

    return describe


def _fitted(seen: Seen, pages: Positions, start: tuple[float, ...]) -> tuple[float, float]:
    """The gamma distribution that the rates of some pages come from, by EM: the posteriors give the
    mean of l and of log(l), and these give the next distribution. EM is slow where there is little
    to see, so each two steps are extended (SQUAREM: Varadhan and Roland, Scandinavian Journal of
    Statistics 35, 2008)."""
    some = seen.taken(pages[:: max(1, len(pages) // SAMPLE)])
    now = np.log(start)
    for _ in range(_ROUNDS):
        first = _next(some, now)
        second = _next(some, first)
        step, bend = first - now, second - 2 * first + now
        if np.abs(second - first).max() <= _NEAR:
            break
        length = max(1.0, min(_LONGEST, float(np.linalg.norm(step) / np.linalg.norm(bend))))
        now = _next(some, now + 2 * length * step + length * length * bend)
    shape, days = np.exp(second)
    return float(shape), float(days)


def _next(seen: Seen, logs: Floats) -> Floats:
    """A step of EM. logs: of the shape and the days."""
    rows = posterior(seen, np.exp(logs)[None], np.zeros(len(seen.exact), np.int32))
    mean, log = rows[:, MEAN].mean(), rows[:, LOG].mean()
    shape = _shape_of(math.log(mean) - log)
    return np.log([shape, shape / mean])


def _shape_of(spread: float) -> float:
    """The shape a of a gamma distribution with log(mean) - mean of log = log(a) - digamma(a)."""
    if spread <= 1 / (2 * _STEADIEST):
        return _STEADIEST
    low, high = math.log(1e-3), math.log(_STEADIEST)
    for _ in range(60):
        middle = (low + high) / 2
        if middle - _digamma(math.exp(middle)) > spread:
            low = middle
        else:
            high = middle
    return math.exp(low)


def _digamma(a: float) -> float:
    """The logarithmic derivative of the gamma function: by its series, after steps upward."""
    below = 0.0
    while a < 8:
        below, a = below + 1 / a, a + 1
    square = 1 / (a * a)
    return math.log(a) - 0.5 / a - square * (1 / 12 - square * (1 / 120 - square / 252)) - below


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
