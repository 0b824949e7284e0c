"""When each page of a plan is fetched: the days of its first fetches within a horizon.

A page is due when its interval has passed since its last visit. Fetches are one at a time, at the
rate of the budget, in the order in which pages are due, so that no day has more than its share:
what is overdue at the beginning, such as a whole crawl of a month ago, does not come at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jobs.kernel.rank.array_types import Floats, Positions
from pipeline.online.freshness import queue_loops


class DueDates(NamedTuple):
    """Of N pages. first: days from the beginning until the first fetch, float64[N]; where that is
    behind the horizon, until the page is due; infinite for pages that are not fetched. fetches:
    within the horizon, int64[N]. waited: days from due to fetched, the mean of all fetches."""

    first: Floats
    fetches: Positions
    waited: float


def due_dates(rates: Floats, ages: Floats, budget: float, horizon: float) -> DueDates:
    """rates: fetches a day of each page. ages: days since its last visit. budget: fetches a day.
    horizon: days."""
    intervals = np.divide(1.0, rates, out=np.full(len(rates), np.inf), where=rates > 0)
    due = intervals - ages
    first, fetches = np.maximum(due, 0.0), np.zeros(len(rates), np.int64)
    early = np.flatnonzero(due < horizon)
    heap = early[np.argsort(due[early], kind="stable")]  # sorted, which is a heap
    waited = 0.0
    if budget > 0 and len(heap):
        waited = queue_loops.serve(heap, due, intervals, budget, horizon, first, fetches)
    late = (fetches == 0) & (first < horizon)
    first[late] = horizon  # the queue is longer than the horizon
    return DueDates(first, fetches, waited / max(1, int(fetches.sum())))
