"""Experiments that look for the reasons where a claim of the paper does not hold.

Smooth income: on webs by Poisson's law the income of a page comes from more and more sources, in
parts of the cash that are smaller and smaller. Policies are compared on each, after 10 N visits.

Order and length: windows on a web without changes, after SHORT N and LONG N visits, by greedy and
by random reads. Greedy reads a page when its cash is about a threshold, so the distances of its
reads on the clock are nearly equal; random ones differ as the exponential law does.

Webs have a part of the pages of the other experiments, since the effects do not depend on N.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from crawlrank.pipeline.analysis.aopic_lab.experiments import (
    CRAWLS,
    EXACT,
    WARM_UP,
    WINDOWS,
    LabGraphs,
    error_of,
)
from crawlrank.pipeline.ranking.aopic.chain import exact_importance
from crawlrank.pipeline.ranking.aopic.simulation import Simulation

PART, LEAST = 10, 1000  # a tenth of the pages, but not below so many
MEANS = (3.0, 10.0, 30.0, 100.0)
SHORT, LONG = WARM_UP, 10 * WARM_UP


class ReasonRow(NamedTuple):
    """experiment: income by Poisson's law, greedy or random. case: the mean indegree, or the
    visits a page. quantity: a policy, a window, or mean cash; value: percent of error, or cash
    times N."""

    seed: int
    experiment: str
    case: float
    quantity: str
    value: float


def compare_incomes(graphs: LabGraphs, seed: int) -> list[ReasonRow]:
    rows = list[ReasonRow]()
    for mean in MEANS:
        n = _fewer(graphs)
        chain = replace(graphs, nodes=n, poisson=mean, crawl=None).web(seed)[0].chain()
        exact = exact_importance(chain, error=EXACT)
        for policy in ("cycle", "greedy"):
            simulation = Simulation(chain, seed=seed)
            visit = getattr(simulation, policy)
            cash = [visit(n).mean_cash * n for _ in range(CRAWLS)][-1]
            x = (simulation.recorded + simulation.cash) / (simulation.clock + 1)
            rows.append(ReasonRow(seed, "income", mean, policy, error_of(x, exact)))
            rows.append(ReasonRow(seed, "income", mean, f"mean cash, {policy}", cash))
    return rows


def compare_orders(graphs: LabGraphs, seed: int) -> list[ReasonRow]:
    rows = list[ReasonRow]()
    smaller = graphs if graphs.crawl else replace(graphs, nodes=_fewer(graphs))
    chain = smaller.web(seed)[0].chain()
    exact = exact_importance(chain, error=EXACT)
    for policy in ("greedy", "random"):
        simulation = Simulation(chain, seed=seed)
        for visits, more in ((SHORT, SHORT), (LONG, LONG - SHORT)):
            getattr(simulation, policy)(more * chain.nodes)
            log = simulation.log()
            for name, window in WINDOWS.items():
                error = error_of(window(log).importance, exact)
                rows.append(ReasonRow(seed, policy, visits, name, error))
    return rows


def _fewer(graphs: LabGraphs) -> int:
    return max(min(graphs.nodes, LEAST), graphs.nodes // PART)
