"""When each page of a plan is fetched: the days of its first fetches within a horizon.

A page is due when its interval has passed since its last visit. Fetches are one at a time, at the
rate of the budget, in the order in which pages are due, so that no day has more than its share:
what is overdue at the beginning, such as a whole crawl of a month ago, does not come at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.rank.array_types import Floats
from crawlrank.pipeline.online.freshness import queue_loops


class DueDates(NamedTuple):
    """Of N pages. first: days from the beginning until the first fetch, float64[N]; where that is
    behind the horizon, until the page is due; infinite for pages that are not fetched. fetches:
    within the horizon, int32[N]. waited: days from due to fetched, the mean of all fetches."""

    first: Floats
    fetches: npt.NDArray[np.int32]
    waited: float


def due_dates(rates: Floats, ages: Floats, budget: float, horizon: float) -> DueDates:
    """rates: fetches a day of each page. ages: days since its last visit, of any float type.
    budget: fetches a day. horizon: days."""
    intervals = np.divide(1.0, rates, out=np.full(len(rates), np.inf), where=rates > 0)
    due = intervals - ages
    early = np.flatnonzero(due < horizon).astype(np.int32)
    early = early[np.argsort(due[early], kind="stable")]
    pages = np.zeros(len(early) if budget > 0 else 0, queue_loops.WAITING)
    if len(pages):
        pages["interval"] = intervals[early]
    del intervals  # before the next column is gathered: the columns are many
    if len(pages):
        pages["due"] = due[early]
    first = np.maximum(due, 0.0, out=due)
    waited = queue_loops.serve(pages, early, budget, horizon) if len(pages) else 0.0
    fetches = np.zeros(len(rates), np.int32)
    if len(pages):
        served = pages["fetches"] > 0
        first[early[served]] = pages["first"][served]
        fetches[early] = pages["fetches"]
    late = (fetches == 0) & (first < horizon)
    first[late] = horizon  # the queue is longer than the horizon
    return DueDates(first, fetches, waited / max(1, int(fetches.sum())))
