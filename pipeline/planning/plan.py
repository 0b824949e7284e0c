"""The plan: rates of changes, fetches a day under a budget, and the days of the next fetches.

Rates: the pages of a site and a class have rates from one gamma distribution (pooled, in
pipeline/online/freshness/change_rates.py). Classes are fifths of pages by value. Pages of sites
that tell too little are one group for each class. Values are scores of a ranking; a page without
one has the least. A gone page has none, and is not fetched.

Fetches: pipeline/online/freshness/allocation.py. Days: due_dates.py there.

How many changes plans would have caught: the last time between two visits of each page is held out,
and the plans know what was seen before it.

Whether a page changed in that time is known, not when. So the number of changes caught is the sum
of probabilities (`caught` in pipeline/online/freshness/allocation.py). Pages of which nothing is
held out are left out, and the budget is smaller by their share. Of very many pages SAMPLE are
looked at, which are the first, as their order says nothing.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.rank.array_types import Floats
from crawlrank.pipeline.online.freshness.allocation import (
    ChangingPages,
    allocation,
    caught,
    freshness_of,
    rival_plans,
)
from crawlrank.pipeline.online.freshness.change_rates import FEWEST, Rates, Seen, pooled
from crawlrank.pipeline.online.freshness.due_dates import DueDates, due_dates
from crawlrank.pipeline.options import PlanOptions
from crawlrank.pipeline.planning.visit_numbers import ShortNumbers
from crawlrank.pipeline.planning.visits import Visits

CLASSES = 5
Fifths = npt.NDArray[np.int8]
BEST = "plan"


class FetchPlan(NamedTuple):
    """The fetches of N pages. values: float64[N]. classes: 1 to 5, int8[N]. rates: of changes.
    fetches: a day, float64[N]. freshness: the share of time in which the copy is that of the
    server, float64[N]. due: the next fetches. urgency: what a fetch now is worth, value times the
    probability that the page changed since its last visit, float64[N]."""

    values: Floats
    classes: Fifths
    rates: Rates
    fetches: Floats
    freshness: Floats
    due: DueDates
    urgency: Floats


class PlanFreshness(NamedTuple):
    """How fresh a plan keeps pages. freshness: mean over pages. of_value: the same, weighted by
    value."""

    freshness: float
    of_value: float


def planned(visits: Visits, options: PlanOptions) -> FetchPlan:
    """Raises BadInput."""
    values = values_of(visits)
    classes = classes_of(values)
    rates = rates_of(visits.spans.seen(len(values)), visits.sites, classes)
    pages = changing_pages(rates.mean, rates.shape, values, options)
    fetches = allocation(pages, options.budget).rates
    ages = np.maximum(visits.ages, np.float32(0.0))
    due = due_dates(fetches, ages, options.budget, options.horizon)
    # the mean of exp(-l t) over the posterior of l
    unchanged = -rates.shape * np.log1p(rates.mean * ages / rates.shape)
    urgency = values * -np.expm1(unchanged)
    return FetchPlan(values, classes, rates, fetches, freshness_in(pages, fetches), due, urgency)


def values_of(visits: Visits) -> Floats:
    """float64[N]: 0 of pages that are gone. Others have their score, at least a thousandth of the
    least one above 0: a ranking may give 0, and harmonic leaves no page out."""
    known = visits.scores[~np.isnan(visits.scores)]
    least = known.min() if len(known) else 1.0
    scores = np.nan_to_num(visits.scores, nan=least)
    floor = scores[scores > 0].min(initial=1.0) / 1000
    return np.where(visits.gone, 0.0, np.maximum(scores, floor))


def classes_of(values: Floats) -> Fifths:
    """1 is the best fifth; pages of the same value are in one class."""
    ends = np.quantile(values, np.arange(1, CLASSES) / CLASSES)
    return (CLASSES - np.searchsorted(ends, values)).astype(np.int8)


def rates_of(seen: Seen, sites: ShortNumbers, classes: Fifths) -> Rates:
    return pooled(seen, groups_of(seen, sites, classes))


def groups_of(seen: Seen, sites: ShortNumbers, classes: Fifths) -> ShortNumbers:
    """The group of each page, int32[N]: its site and class, or its class alone where too few pages
    of the site tell something."""
    groups = (sites + np.int32(1)) * np.int32(CLASSES) + classes - np.int32(1)
    telling = np.bincount(groups, seen.quiet > 0)
    groups = np.where(telling[groups] < FEWEST, classes - np.int8(1), groups)
    is_there = np.bincount(groups) > 0
    numbers: ShortNumbers = (np.cumsum(is_there) - 1).astype(np.int32)[groups]
    return numbers


def changing_pages(
    rates: Floats, shapes: Floats, values: Floats, options: PlanOptions
) -> ChangingPages:
    most = 1 / options.shortest_interval
    return ChangingPages(rates, values, options.objective, most, shapes)


def freshness_in(pages: ChangingPages, fetches: Floats) -> Floats:
    """The share of time, which `harmonic` is the logarithm of where fetches are at random."""
    timed = "random" if pages.objective == "random" else "regular"
    return freshness_of(pages._replace(objective=timed), fetches)


def compared(plan: FetchPlan, options: PlanOptions) -> dict[str, PlanFreshness]:
    """The plan and others of the same budget, by name. Gone pages do not count."""
    is_there = plan.values > 0
    there = slice(None) if is_there.all() else np.flatnonzero(is_there)
    rates = plan.rates
    pages = changing_pages(rates.mean[there], rates.shape[there], plan.values[there], options)
    made = {BEST: _freshness_of_plan(pages, plan.fetches[there])}
    for name, fetches in rival_plans(pages, options.budget):
        made[name] = _freshness_of_plan(pages, fetches)
    return made


def _freshness_of_plan(pages: ChangingPages, fetches: Floats) -> PlanFreshness:
    freshness = freshness_in(pages, fetches)
    return PlanFreshness(mean(freshness), mean(freshness, pages.values))


def mean(column: Floats, weights: npt.NDArray[np.float64] | None = None) -> float:
    """0 without pages."""
    return float(np.average(column, weights=weights)) if len(column) else 0.0


SAMPLE = 1_000_000  # pages


class Replay(NamedTuple):
    """pages: with a time held out. changed: in it. caught: changes by plan; of_value: their share
    by value, where all of them caught is 1."""

    pages: int
    changed: int
    caught: dict[str, float]
    of_value: dict[str, float]


def replayed(visits: Visits, options: PlanOptions) -> Replay | None:
    """None where no page was visited twice."""
    values = values_of(visits)[:SAMPLE]
    spans = visits.spans.of_first(len(values))
    held = spans.is_last & ~visits.gone[spans.pages]
    if not held.any():
        return None
    rows, is_change = spans.pages[held], spans.is_change[held]
    seen = spans.seen(len(values), ~spans.is_last)
    rates = rates_of(seen, visits.sites[: len(values)], classes_of(values))
    pages = changing_pages(rates.mean[rows], rates.shape[rows], values[rows], options)
    budget = options.budget * len(rows) / np.count_nonzero(~visits.gone)
    days = spans.days[held].astype(np.float64)
    worth = pages.values[is_change]
    plans = chain([(BEST, allocation(pages, budget).rates)], rival_plans(pages, budget))
    chances = {name: caught(plan, days)[is_change] for name, plan in plans}
    return Replay(
        len(rows),
        len(worth),
        {name: float(column.sum()) for name, column in chances.items()},
        {name: mean(column, worth) for name, column in chances.items()},
    )
