"""Plans of pages whose rates of changes few visits tell, against rates that they do not know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.online.freshness.allocation import ChangingPages, allocation, freshness_of
from crawlrank.pipeline.options import PlanOptions
from crawlrank.pipeline.planning.plan import FetchPlan, planned, values_of
from crawlrank.pipeline.planning.visits import Spans, Visits

PAGES, VISITS, BUDGET = 5000, 4, 250.0


def visits_of(rates: Floats, values: Floats, seed: int) -> Visits:
    """Visits of pages of one site, after 10 days each."""
    random = np.random.default_rng(seed)
    spans = len(rates) * (VISITS - 1)
    pages = np.repeat(np.arange(len(rates), dtype=np.int32), VISITS - 1)
    is_change = random.random(spans) < -np.expm1(-10 * rates[pages])
    is_last = np.arange(spans) % (VISITS - 1) == VISITS - 2
    return Visits(
        Path(), "", np.full(len(rates), 10, np.float32), values,
        np.zeros(len(rates), np.int32), np.zeros(len(rates), np.bool_),
        Spans(pages, np.full(spans, 10, np.float32), is_change, is_last), {},
    )  # fmt: skip


def rates_of(static: float) -> Floats:
    """Most pages change once in some weeks, a share of them never."""
    random = np.random.default_rng(7)
    rates = random.gamma(1.0, 0.3, PAGES)
    rates[random.random(PAGES) < static] = 1e-6
    return rates


@pytest.fixture(scope="module")
def values() -> Floats:
    return np.random.default_rng(8).pareto(1.2, PAGES) + 0.15


def fresh(plan: Floats, rates: Floats, values: Floats) -> float:
    each = freshness_of(ChangingPages(rates, values), plan)
    return float(np.average(each, weights=values))


def plan_of(rates: Floats, values: Floats, seed: int = 1) -> FetchPlan:
    return planned(visits_of(rates, values, seed), PlanOptions(budget=BUDGET))


@pytest.mark.parametrize("static", [0.0, 0.3, 0.7, 0.9])
@pytest.mark.slow
def test_a_plan_is_better_than_its_rivals_where_most_pages_never_change(
    static: float, values: Floats
) -> None:
    rates = rates_of(static)
    plan = plan_of(rates, values)
    reached = fresh(plan.fetches, rates, values)
    best = fresh(allocation(ChangingPages(rates, values), BUDGET).rates, rates, values)
    rivals = {
        "value": BUDGET * values / values.sum(),
        "change": BUDGET * plan.rates.mean / plan.rates.mean.sum(),
        "the same": np.full(PAGES, BUDGET / PAGES),
        "mean rate": allocation(ChangingPages(plan.rates.mean, values), BUDGET).rates,
    }
    others = {name: fresh(rival, rates, values) for name, rival in rivals.items()}
    assert max(others.values()) < reached < best


def test_a_page_that_a_ranking_gives_nothing_is_not_gone() -> None:
    scores, gone = np.array([0.0, 2.0, np.nan, 0.5]), np.array([False, False, False, True])
    none = np.zeros(0)
    visits = Visits(Path(), "", none, scores, none, gone, Spans(none, none, none, none), {})
    values = values_of(visits)
    assert values[1] == 2 and values[3] == 0
    assert (values[[0, 2]] > 0).all() and values[[0, 2]].max() < 0.01
