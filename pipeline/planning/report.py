"""What a plan says of itself: tables for people, and the same as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.pipeline.online.freshness.allocation import IMPORTANCE, PROPORTIONAL, UNIFORM
from crawlrank.pipeline.options import PlanOptions
from crawlrank.pipeline.planning.plan import BEST, CLASSES, FetchPlan, PlanFreshness, Replay
from crawlrank.pipeline.planning.visit_numbers import LEFT_OUT
from crawlrank.pipeline.planning.visits import Visits
from crawlrank.pipeline.terminal import TextTable

SCHEMA = "crawlrank-plan/1"
_USED = 0.999  # of the budget, or the rest is worth a line
_PLANS = {
    BEST: "this plan",
    UNIFORM: "every page as often as others",
    PROPORTIONAL: "as often as a page changes",
    IMPORTANCE: "as often as a page is important",
}


class PlanReport(NamedTuple):
    """pages: counts. left_out: captures that are no visits, by reason. classes: an entry each.
    fetches: of all pages. due: pages in the precedence file."""

    options: PlanOptions
    begin: datetime
    pages: dict[str, int]
    left_out: dict[str, int]
    classes: list[dict[str, Any]]
    fetches: dict[str, Any]
    comparison: dict[str, PlanFreshness]
    replay: Replay | None
    due: int

    def data(self) -> dict[str, Any]:
        """The JSON document."""
        replay = self.replay
        return {
            "begin": self.begin.isoformat(),
            "budget_per_day": self.options.budget,
            "horizon_days": self.options.horizon,
            "objective": self.options.objective,
            "pages": self.pages,
            "captures_left_out": self.left_out,
            "classes": self.classes,
            "fetches": self.fetches,
            "plans": {name: entry._asdict() for name, entry in self.comparison.items()},
            "replay": replay and replay._asdict(),
        }

    def tables(self) -> Iterator[TextTable]:
        yield self._input_table()
        yield self._class_table()
        yield self._fetch_table()
        yield self._plan_table()

    def _input_table(self) -> TextTable:
        table, pages = TextTable("pages", "~what", ">count"), self.pages
        table.add("planned", pages["planned"])
        table.add("visited twice or more", pages["visited_again"])
        table.add("changed between visits", pages["changed"])
        rest = {
            "gone at their last visit: not fetched": pages["gone"],
            "without score: valued as the least": pages["without_score"],
            **{f"left out: {LEFT_OUT[name]}": n for name, n in self.left_out.items()},
        }
        for what, count in rest.items():
            if count:
                table.add(what, count)
        return table

    def _class_table(self) -> TextTable:
        table = TextTable(
            "classes, fifths of pages by value", "class", ">pages", ">visited again",
            ">days between changes", ">fetched", ">fetches a day", ">fresh",
        )  # fmt: skip
        for entry in self.classes:
            rate = entry["changes_per_day"]
            table.add(
                str(entry["class"]), entry["pages"], entry["visited_again"],
                f"{1 / rate:,.1f}" if rate > 0 else "-", entry["fetched"],
                f"{entry['fetches_per_day']:,.1f}", f"{entry['freshness']:.1%}",
            )  # fmt: skip
        return table

    def _fetch_table(self) -> TextTable:
        options, fetches = self.options, self.fetches
        table = TextTable("fetches", "~what", ">count")
        table.add("a day, by the budget", f"{options.budget:,.1f}")
        if fetches["per_day"] < _USED * options.budget:
            table.add("a day, that are of use", f"{fetches['per_day']:,.1f}")
        table.add("pages that are fetched", fetches["pages_fetched"])
        if fetches["pages_never_fetched"]:
            why = "because they change too often" if options.budget else "as the budget is 0"
            table.add(f"pages not fetched, {why}", fetches["pages_never_fetched"])
        table.add(f"fetches within {_days(options.horizon)}", fetches["within_horizon"])
        table.add("pages fetched within them", fetches["pages_within_horizon"])
        table.add(f"pages due within {_days(options.due)}", self.due)
        return table

    def _plan_table(self) -> TextTable:
        table = TextTable(
            "plans of the same budget", "~fetch", ">fresh", ">by value",
            *([">changes caught", ">by value"] if self.replay else []),
        )  # fmt: skip
        for name, entry in self.comparison.items():
            cells = [f"{entry.freshness:.1%}", f"{entry.of_value:.1%}"]
            if replay := self.replay:
                cells += [f"{replay.caught[name]:,.1f}", f"{replay.of_value[name]:.1%}"]
            table.add(_PLANS[name], *cells)
        return table

    def remarks(self) -> Iterator[str]:
        """What a reader has to know, a sentence each."""
        if not self.pages["visited_again"]:
            yield (
                "No page was visited twice, so no change could be seen: all rates of changes are"
                " the default, half of all pages within 50 days. Name a second crawl of the site."
            )
        if self.replay:
            yield (
                "Changes caught: of those seen between the last two visits of"
                f" {count_of(self.replay.pages, 'page')} ({self.replay.changed:,} changed),"
                " which the plans"
                " did not know."
            )
        if not self.options.budget:
            yield "The budget is 0: nothing is fetched."
        elif not self.due:
            yield f"No page is due within {_days(self.options.due)}: there is no precedence file."


def report_of(
    visits: Visits,
    plan: FetchPlan,
    options: PlanOptions,
    begin: datetime,
    comparison: dict[str, PlanFreshness],
    replay: Replay | None,
) -> PlanReport:
    due = int(np.count_nonzero((plan.due.fetches > 0) & (plan.due.first < options.due)))
    fetches = {
        "per_day": float(plan.fetches.sum()),
        "pages_fetched": int((plan.fetches > 0).sum()),
        "pages_never_fetched": int(((plan.fetches == 0) & (plan.values > 0)).sum()),
        "within_horizon": int(plan.due.fetches.sum()),
        "pages_within_horizon": int((plan.due.fetches > 0).sum()),
        "waiting_days": plan.due.waited,
        "due": due,
    }
    pages, classes = _pages(visits), list(_classes(visits, plan))
    parts = (pages, visits.left_out, classes, fetches, comparison, replay, due)
    return PlanReport(options, begin, *parts)


def _pages(visits: Visits) -> dict[str, int]:
    spans = visits.spans
    return {
        "planned": len(visits.ages),
        "gone": int(visits.gone.sum()),
        "without_score": int(np.isnan(visits.scores).sum()),
        "visited_again": int(spans.is_last.sum()),
        "changed": int(np.count_nonzero(np.diff(spans.pages[spans.is_change], prepend=-1))),
    }


def _classes(visits: Visits, plan: FetchPlan) -> Iterator[dict[str, Any]]:
    again = np.zeros(len(plan.values), bool)
    again[visits.spans.pages] = True
    for number in range(1, CLASSES + 1):
        pages = (plan.values > 0) & (plan.classes == number)
        if pages.any():
            yield {
                "class": number,
                "pages": int(pages.sum()),
                "visited_again": int((pages & again).sum()),
                "changes_per_day": float(np.median(plan.rates.mean[pages])),
                "fetched": int((plan.fetches[pages] > 0).sum()),
                "fetches_per_day": float(plan.fetches[pages].sum()),
                "freshness": float(plan.freshness[pages].mean()),
            }


def _days(days: float) -> str:
    return f"{days:g} day{'' if days == 1 else 's'}"
