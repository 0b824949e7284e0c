"""Which page to fetch next."""

from __future__ import annotations

import numpy as np

from crawlrank.pipeline.online.freshness import loops
from crawlrank.pipeline.online.freshness.allocation import ChangingPages, allocation
from crawlrank.pipeline.online.stores.database import Page
from crawlrank.pipeline.online.stores.page_graph import SqliteValues
from crawlrank.pipeline.online.stores.schedule import Demand, SqliteSchedule

SAMPLE = 10_000  # pages that the price is found by
_REVISED = 0.05  # share of pages whose demand changed, after which the price is found again


class BestFirst:
    """The page of the largest value first, each once; a page comes again when it gets a value
    again. What is taken is removed from the store before it is given out: a crawler that is killed
    then asks for these pages again by giving them values, as it knows what was in flight."""

    def __init__(self, values: SqliteValues) -> None:
        self._values = values

    def set_rate(self, page: Page, rate: float) -> None:
        """Rates of changes do not matter here."""

    def set_value(self, page: Page, value: float) -> None:
        self._values.set(page, value)

    def delete(self, page: Page) -> None:
        self._values.delete(page)

    def get_next_pages(self, count: int = 1) -> list[Page]:
        return self._values.take_best(count)


class Optimal:
    """Each page as often as keeps the most of value fresh, at crawl_rate fetches a day of all pages
    together: the plan of pipeline/online/freshness/allocation.py.

    The price of a fetch is found by a sample of pages, again when many have a new value or rate; a
    page's own interval follows from the price whenever it is given out. A page is given out at once
    when it first has a value.
    """

    def __init__(
        self,
        schedule: SqliteSchedule,
        crawl_rate: float,
        *,
        objective: str = "regular",
    ) -> None:
        self._schedule = schedule
        self._crawl_rate, self._objective = crawl_rate, objective
        self._changed, self._price = 0, 0.0
        self.revise()

    def set_rate(self, page: Page, rate: float) -> None:
        """Changes a day."""
        self._changed += 1
        self._schedule.set_rate(page, rate)

    def set_value(self, page: Page, value: float) -> None:
        self._changed += 1
        self._schedule.set_value(page, value)

    def delete(self, page: Page) -> None:
        self._changed += 1
        self._schedule.delete(page)

    def get_next_pages(self, count: int = 1) -> list[Page]:
        """Fewer where fewer pages are worth a fetch; a page may be given out more than once."""
        if self._changed > self._most_changed:
            self.revise()
        return self._schedule.take_due(count, self.frequency) if self._crawl_rate else []

    def frequency(self, demand: Demand) -> float:
        """Fetches a day of a page."""
        if not self._price:  # no page is worth a fetch, or none is there
            return 0.0
        kind = self._pages([]).kind
        return loops.fetch_rate(kind, *demand, self._price, float("inf"))

    def revise(self) -> None:
        """Find the price anew."""
        sample, count = self._schedule.sample(SAMPLE), self._schedule.count()
        self._changed, self._most_changed = 0, int(_REVISED * count)
        if sample:
            budget = self._crawl_rate * len(sample) / count
            self._price = allocation(self._pages(sample), budget).price
            self._schedule.wake(self._price)

    def _pages(self, sample: list[Demand]) -> ChangingPages:
        rates, values = np.array(sample, np.float64).reshape(-1, 2).T.copy()
        return ChangingPages(rates, values, self._objective)
