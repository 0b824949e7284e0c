"""Other plans of the same budget, to compare the best one with, and what plans would have caught.

- `uniform`: every page as often as any other.
- `proportional`: a page that changes twice as often, twice as often. Cho and Garcia-Molina (SIGMOD
  2000) prove that it is never better than `uniform` where all pages are worth the same.
- `importance`: a page that is worth twice as much, twice as often.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crawlrank.jobs.kernel.rank.array_types import Floats
from crawlrank.pipeline.online.freshness.allocation import ChangingPages

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
    """The probability that a change at a random time within so many days is fetched within them,
    float64[N]: fetches are at equal intervals that begin at a random time.

    With an interval of i days, the last fetch is r days before the end, r at random from 0 to i. It
    catches the change if that was before: with the probability 1 - r/days, which is the mean
    1 - i/(2 days); for longer intervals there is a fetch with the probability days/i, and the
    change before it with 1/2.
    """
    fetches = rates * days
    often = 1 - np.divide(0.5, fetches, out=np.zeros(len(rates)), where=fetches > 0)
    return np.where(fetches >= 1, often, fetches / 2)
