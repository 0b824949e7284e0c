"""How often to fetch each page, so that a budget of fetches keeps the most of value fresh.

A page changes at random, l times a day on average (a Poisson process), and is fetched f times a
day. The plan is the one with the largest sum of v F(f, l) over pages under a budget of all f, where
v is the page's value. F is one of these objectives:

- `regular`, the default: the share of time in which the copy is that of the server, if fetches are
  at equal intervals: F = f/l (1 - exp(-l/f)). Source: Cho and Garcia-Molina, Synchronizing a
  database to improve freshness, SIGMOD 2000.
- `random`: the same share, if fetches are at random: F = f/(f + l). Source: Azar, Horvitz,
  Lubetzky, Peres and Shahaf, Tractable near-optimal policies for crawling, PNAS 115, 2018.
- `harmonic`: F = log(f/(f + l)), which leaves no page unfetched. Source: Kolobov, Peres, Lu and
  Horvitz, Staying up to date with online content changes using reinforcement learning for
  scheduling, NeurIPS 2019.

A rate l that visits have not shown exactly has a distribution. Then the plan is for the mean of F
over it, where F is `regular`: F at the mean rate would leave out pages of which little is known, as
those that hardly ever change among them do not count in F at a mean.

F is concave in f. So a plan is the best one if a fetch more a day is worth the same for all pages
that are fetched, the price, and not more for the others (the conditions of Karush, Kuhn and
Tucker). At a given price each page's f follows by itself, and the sum of all f falls with the
price. Under the first two objectives pages that change too often for their value are not fetched
at all.

The price at which the sum is the budget is found between two bounds by steps of the secant in
logarithms, each second one twice as long, so that both bounds come nearer (after Alefeld, Potra and
Shi, ACM TOMS 21, 1995). The search begins at the price of a sample of the pages.

Loops over many pages by all cores: numba's loops release the interpreter's lock.

Other plans of the same budget, to compare the best one with, and what plans would have caught.

- `uniform`: every page as often as any other.
- `proportional`: a page that changes twice as often, twice as often. Cho and Garcia-Molina (SIGMOD
  2000) prove that it is never better than `uniform` where all pages are worth the same.
- `importance`: a page that is worth twice as much, twice as often.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.rank.array_types import Floats, Positions
from crawlrank.pipeline.online.freshness import loops

BLOCK = 1 << 17  # pages
Part = TypeVar("Part")


def by_blocks(work: Callable[[slice], Part], pages: int) -> list[Part]:
    """What the work makes of all pages, a block at a time, in the order of the pages."""
    blocks = [slice(begin, begin + BLOCK) for begin in range(0, pages, BLOCK)]
    if len(blocks) < 2:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, blocks))


OBJECTIVES = {"regular": loops.REGULAR, "random": loops.RANDOM, "harmonic": loops.HARMONIC}
_SAMPLE = 1 << 16  # pages, by which the price of very many is guessed first
_NEAR = 1e-13  # of the budget
_STEPS = 300
_NONE = np.empty(0)


class ChangingPages(NamedTuple):
    """changes: a day, float64[N], not negative. values: the same, in any unit. objective: a name of
    OBJECTIVES. most: fetches a day of a page at most. shapes: of gamma distributions whose means
    the changes are, float64[N]; empty where they are known."""

    changes: Floats
    values: Floats
    objective: str = "regular"
    most: float = math.inf
    shapes: Floats = _NONE

    def taken(self, some: Positions) -> ChangingPages:
        columns = (self.changes[some], self.values[some])
        shapes = self.shapes[some] if len(self.shapes) else _NONE
        return ChangingPages(*columns, self.objective, self.most, shapes)

    @property
    def kind(self) -> int:
        return OBJECTIVES[self.objective]

    def total(self, price: float) -> float:
        """Fetches a day of all pages at a price."""

        def of_block(block: slice) -> float:
            columns = (self.changes[block], self.shapes[block], self.values[block])
            return loops.total_rate(self.kind, *columns, price, self.most)

        return math.fsum(by_blocks(of_block, len(self.changes)))

    def rates(self, price: float) -> Floats:
        """Fetches a day of each page, float64[N], where a fetch more a day has this price."""
        rates = np.empty(len(self.changes))

        def fill(block: slice) -> None:
            columns = (self.changes[block], self.shapes[block], self.values[block])
            loops.fill_rates(self.kind, *columns, price, self.most, rates[block])

        by_blocks(fill, len(rates))
        return rates


class Allocation(NamedTuple):
    """rates: fetches a day of each page, float64[N]. price: what a fetch more a day of any of them
    adds to the objective; 0 if the budget is more than can be used."""

    rates: Floats
    price: float


def allocation(pages: ChangingPages, budget: float) -> Allocation:
    """The best plan under a budget of fetches a day. Raises BadInput."""
    if not budget >= 0 or math.isinf(budget):
        raise BadInput("budget", f"{budget:g}", "fetches a day, at least 0")
    wanted = (pages.changes > 0) & (pages.values > 0)
    if not budget or not wanted.any():
        return Allocation(np.zeros(len(wanted)), 0.0)
    if budget >= np.count_nonzero(wanted) * pages.most:
        return Allocation(np.where(wanted, pages.most, 0.0), 0.0)
    low, high = _prices(pages, budget)
    rates, fewer = pages.rates(low), pages.rates(high)
    at_low, at_high = math.fsum(rates), math.fsum(fewer)
    if at_low > at_high:  # what is left goes to the pages that differ at the two prices
        rates = fewer + (rates - fewer) * min(1.0, (budget - at_high) / (at_low - at_high))
    return Allocation(rates, low)


def freshness_of(pages: ChangingPages, rates: Floats) -> Floats:
    """F of each page, float64[N]. A page that never changes is fresh."""
    freshness = np.empty(len(rates))
    loops.fill_freshness(pages.kind, pages.changes, pages.shapes, rates, freshness)
    return freshness


class _Bound(NamedTuple):
    """A price, and the fetches of all pages at it."""

    price: float
    total: float


def _prices(pages: ChangingPages, budget: float) -> tuple[float, float]:
    """Two prices with the budget's between them. At the first one fetches are above the budget by
    `_NEAR` at most, or the prices are neighbours in double precision."""
    low, high = _bounds(pages, budget)
    widths = [math.inf, math.inf]  # before each of the last two steps
    for step in range(_STEPS):
        width = math.log(high.price / low.price)
        if low.total <= budget * (1 + _NEAR) or width <= 2 * sys.float_info.epsilon:
            break
        price = math.sqrt(low.price) * math.sqrt(high.price)
        if high.total > 0 and width <= widths[0] / 2:
            price = _secant(low, high, budget, price, is_long=step % 2 == 1)
        if not low.price < price < high.price:
            break
        bound = _Bound(price, pages.total(price))
        low, high = (bound, high) if bound.total >= budget else (low, bound)
        widths = [widths[1], width]
    return low.price, high.price


def _secant(low: _Bound, high: _Bound, budget: float, otherwise: float, *, is_long: bool) -> float:
    """The price at which the secant says that the budget is. is_long: beyond it, seen from the
    better bound. otherwise: where rounding makes it one of the bounds."""
    over, under = math.log(low.total / budget), math.log(budget / high.total)
    share = over / (over + under)
    if is_long:
        share = min(2 * share, 0.5) if over < under else max(2 * share - 1, 0.5)
    price = low.price * math.exp(share * math.log(high.price / low.price))
    return price if low.price < price < high.price else otherwise


def _bounds(pages: ChangingPages, budget: float) -> tuple[_Bound, _Bound]:
    """A price at which the fetches are not below the budget, and one at which they are."""
    wanted = np.flatnonzero((pages.changes > 0) & (pages.values > 0))
    price, factor = float((pages.values[wanted] / pages.changes[wanted]).max()), 4.0
    if len(wanted) > 2 * _SAMPLE:
        some = wanted[:: len(wanted) // _SAMPLE]
        sample = pages.taken(some)
        price, _ = _prices(sample, budget * len(some) / len(wanted))
        factor = 1.01
    bound = _Bound(price, pages.total(price))
    low = high = bound
    while high.total >= budget:
        price = high.price * factor
        low, high, factor = high, _Bound(price, pages.total(price)), factor * factor
    if low is high:
        factor = min(factor, 4.0)
    while low.total < budget:
        price = low.price / factor
        low, high, factor = _Bound(price, pages.total(price)), low, factor * factor
    return low, high


UNIFORM, PROPORTIONAL, IMPORTANCE = "uniform", "proportional", "importance"


def rival_plans(pages: ChangingPages, budget: float) -> Iterator[tuple[str, Floats]]:
    """The name of each plan, and its fetches a day of each page, float64[N]."""
    yield UNIFORM, shared(np.ones(len(pages.changes)), budget, pages.most)
    yield PROPORTIONAL, shared(pages.changes, budget, pages.most)
    yield IMPORTANCE, shared(pages.values, budget, pages.most)


def shared(weights: Floats, budget: float, most: float) -> Floats:
    """The budget in parts that are proportional to the weights, float64[N], each `most` at most;
    what a page cannot use goes to the others."""
    shares = np.zeros(len(weights))
    free, left = np.flatnonzero(weights > 0), budget
    while left > 0 and len(free):
        parts = weights[free] / weights[free].max()
        parts *= left / parts.sum()
        full = parts >= most
        shares[free] = np.minimum(parts, most)
        if not full.any():
            break
        free, left = free[~full], left - most * np.count_nonzero(full)
    return shares


def caught(rates: Floats, days: Floats) -> Floats:
    """The probability that a change at a random time within `days` is fetched within them,
    float64[N]: fetches are at equal intervals that begin at a random time.

    With an interval of i days, the last fetch is r days before the end, r at random from 0 to i. It
    catches the change if that was before: with the probability 1 - r/days, which is the mean
    1 - i/(2 days); for longer intervals there is a fetch with the probability days/i, and the
    change before it with 1/2.
    """
    fetches = rates * days
    often = 1 - np.divide(0.5, fetches, out=np.zeros(len(rates)), where=fetches > 0)
    return np.where(fetches >= 1, often, fetches / 2)
