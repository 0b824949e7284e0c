"""Scores that span hundreds of orders of magnitude, against rounds that math.fsum makes: each exact
sum of the loops needs more doubles than do not overlap in few."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from support.graphs import csr_of, graph_of

from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.ranking.hits import method as hits
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.personalized import solve
from crawlrank.pipeline.ranking.solution import Problem

MUCH = 1 << 40


class Case(NamedTuple):
    graph: Graph
    weights: Floats
    rounds: int


def list_pages() -> Case:
    """A chain of list pages, each of which links to 20 items; from the first: scores fall by 21
    times a list page."""
    pages, items = 100, 20
    links = [(page, page + 1) for page in range(pages)]
    for page in range(pages + 1):
        links += [(page, pages + 1 + page * items + item) for item in range(items)]
    nodes = (pages + 1) * (items + 1)
    return Case(graph_of(nodes, links), np.eye(1, nodes)[0], 100)


def star() -> Case:
    """A page that links to 1,000 without links: a dangling sum of doubles of any magnitude."""
    weights = np.concatenate(([0.0], 10.0 ** np.linspace(-190, 0, 1000)))
    return Case(graph_of(1001, [(0, page) for page in range(1, 1001)]), weights, 20)


def sources_of(graph: Graph) -> list[list[int]]:
    sources: list[list[int]] = [[] for _ in range(graph.nodes)]
    links = zip(np.repeat(np.arange(graph.nodes), graph.outdegrees), graph.targets, strict=True)
    for source, target in links:
        sources[target].append(int(source))
    return sources


def by_rounds(case: Case, damping: float = 0.85) -> list[float]:
    graph, (sources, nodes) = case.graph, (sources_of(case.graph), case.graph.nodes)
    teleport = case.weights * (nodes / math.fsum(case.weights))
    degrees, scores = graph.outdegrees.tolist(), teleport.tolist()
    for _ in range(case.rounds):
        given = [x / degree if degree else 0.0 for x, degree in zip(scores, degrees, strict=True)]
        scores = [
            0.15 * teleport[i] + damping * math.fsum(given[j] for j in sources[i])
            for i in range(nodes)
        ]
    return scores


@pytest.mark.parametrize("case", [list_pages, star])
def test_rounds_are_those_of_fsum(case: Callable[[], Case]) -> None:
    made = case()
    problem = Problem(
        csr_of(made.graph), Stop(iterations=made.rounds), 2, MUCH, {"weights": made.weights}
    )
    solution = solve(problem)
    assert solution.scores == pytest.approx(by_rounds(made), rel=1e-13, abs=0)
    assert solution.scores.sum() + solution.dummy == pytest.approx(made.graph.nodes + 1, rel=1e-12)


def test_passes_of_hits_are_those_of_fsum() -> None:
    """Pairs of a hub and its page, whose score in each pass is multiplied by its relevance."""
    pairs, passes = 750, 120
    graph = graph_of(2 * pairs, [(hub, pairs + hub) for hub in range(pairs)])
    relevance = np.concatenate((np.zeros(pairs), np.linspace(0.1, 1, pairs)))
    got = hits.solve(
        Problem(csr_of(graph), Stop(iterations=passes), 2, MUCH, {"weights": relevance})
    ).scores
    sources = sources_of(graph)
    a = np.ones(graph.nodes)
    for _ in range(passes):
        h = _unit([*(relevance[pairs:] * a[pairs:]), *([0.0] * pairs)])
        a = _unit([math.fsum(h[j] for j in starts) for starts in sources])
    assert got == pytest.approx(a, rel=1e-12, abs=0)
    assert min(a[a > 0]) < 1e-100


def _unit(values: list[float]) -> Floats:
    length = math.sqrt(math.fsum(value * value for value in values))
    return np.array(values) / length
