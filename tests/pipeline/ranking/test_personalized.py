"""Personalized PageRank and TrustRank, against the equation, networkx and closed forms."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from support.graphs import csr_of, graph_of, web_like

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.pagerank import method as pagerank
from crawlrank.pipeline.ranking.personalized import solve
from crawlrank.pipeline.ranking.solution import Problem, Solution

WEB = web_like(400, seed=5)
FINE = Stop(tolerance=1e-13)


def ranked(graph: Graph, weights: Floats, stop: Stop = FINE) -> Solution:
    return solve(Problem(csr_of(graph), stop, 2, 1 << 40, {"weights": weights}))


@pytest.mark.parametrize("chosen", [1, 7, 400])
def test_the_equation_holds(chosen: int) -> None:
    """The scores are the probabilities of the equation, in which dangling pages start anew by r."""
    weights = np.where(np.arange(WEB.nodes) < chosen, 1.0 + np.arange(WEB.nodes) % 4, 0.0)
    p = ranked(WEB, weights).scores
    p /= p.sum()
    sources = np.repeat(np.arange(WEB.nodes), WEB.outdegrees)
    inflow = np.bincount(WEB.targets, p[sources] / WEB.outdegrees[sources], WEB.nodes)
    living = p[WEB.outdegrees > 0].sum()
    want = 0.85 * inflow + weights / weights.sum() * (1 - 0.85 * living)
    assert p == pytest.approx(want, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e300])
def test_networkx_agrees_whatever_the_weights_sum_to(scale: float) -> None:
    weights = np.arange(WEB.nodes) % 5.0
    net = nx.DiGraph()
    net.add_nodes_from(range(WEB.nodes))
    sources = np.repeat(np.arange(WEB.nodes), WEB.outdegrees)
    net.add_edges_from(zip(sources.tolist(), WEB.targets.tolist(), strict=True))
    teleport = dict(enumerate(weights.tolist()))
    want = nx.pagerank(net, 0.85, teleport, tol=1e-15, max_iter=5000, dangling=teleport)
    got = ranked(WEB, weights * scale).scores
    assert got / got.sum() == pytest.approx([want[i] for i in range(WEB.nodes)], rel=1e-8)


def test_equal_weights_are_pagerank() -> None:
    plain = pagerank.solve(Problem(csr_of(WEB), FINE, 2, 1 << 40)).scores
    assert ranked(WEB, np.full(WEB.nodes, 7.0)).scores == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("stop", [FINE, Stop(iterations=300)], ids=str)
def test_a_ring_behind_a_seed(stop: Stop) -> None:
    """0 -> 1 -> 2 -> 0: from 0 alone, the score falls by the damping at each page."""
    weights = np.array([1.0, 0.0, 0.0])
    scores = ranked(graph_of(3, [(0, 1), (1, 2), (2, 0)]), weights, stop).scores
    first = 0.15 * 3 / (1 - 0.85**3)
    assert scores == pytest.approx([first, 0.85 * first, 0.85**2 * first], rel=1e-10)


@pytest.mark.parametrize("stop", [FINE, Stop(iterations=60)], ids=str)
def test_a_link_farm_gains_pagerank_and_no_trust(stop: Stop) -> None:
    """10,000 pages of a farm link to its target, which links to them and to a good page."""
    good, farm = 50, 10_000
    target = good
    edges = [(i, (i + 1) % good) for i in range(good)] + [(0, 7), (7, 3)]
    fans = range(good + 1, good + 1 + farm)
    edges += [(fan, target) for fan in fans] + [(target, fan) for fan in fans] + [(target, 5)]
    graph = graph_of(good + 1 + farm, edges)
    trusted = np.zeros(graph.nodes)
    trusted[:10] = 1.0
    plain = pagerank.solve(Problem(csr_of(graph), stop, 2, 1 << 40)).scores
    trust = ranked(graph, trusted, stop)
    assert plain[target] > 1000 * plain[:good].max() / 2
    assert (trust.scores[target:] == 0).all()
    assert (trust.scores[:good] > 0).all()
    assert trust.rounds[-1]["eta"] < 1


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ([0.0, 0.0, 0.0], "0 for all pages"),
        ([1.0, -1.0, 0.0], "at least 0"),
        ([1.0, np.nan, 0.0], "finite"),
        ([1.0, np.inf, 0.0], "finite"),
        ([1e-300, 1.0, 0.0], "nearer to each other"),
    ],
)
def test_weights_that_are_none(weights: list[float], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        ranked(graph_of(3, [(0, 1), (1, 2)]), np.array(weights))


def test_an_interrupted_ranking_ends_the_same() -> None:
    weights = np.where(np.arange(WEB.nodes) < 5, 1.0, 0.0)
    states = []

    def keep(entry: object, rounds: object, state: object) -> None:
        states.append(state())  # type: ignore[operator]

    problem = Problem(csr_of(WEB), FINE, 2, 1 << 40, {"weights": weights}, on_round=keep)
    whole = solve(problem)
    half = states[len(states) // 2]
    half = type(half)(half.vector, half.dummy, list(half.rounds[: len(states) // 2 + 1]))
    again = solve(Problem(csr_of(WEB), FINE, 2, 1 << 40, {"weights": weights}, half))
    assert (again.scores == whole.scores).all()
