"""How many changes plans would have caught: the last time between two visits of each page is held
out, and the plans know what was seen before it.

Whether a page changed in that time is known, not when. So the number of changes caught is the sum
of probabilities (`caught` in pipeline/online/freshness/rivals.py). Pages of which nothing is held
out are left out, and the budget is smaller by their share. Of very many pages SAMPLE are looked at,
which are the first, as their order says nothing.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np

from crawlrank.pipeline.online.freshness.allocation import allocation
from crawlrank.pipeline.online.freshness.rivals import caught, rival_plans
from crawlrank.pipeline.options import PlanOptions
from crawlrank.pipeline.planning.plan import (
    BEST,
    changing_pages,
    classes_of,
    mean,
    rates_of,
    values_of,
)
from crawlrank.pipeline.planning.visits import Visits

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
