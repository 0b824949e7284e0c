"""Rankings against networkx and igraph, on published graphs and on that of a real crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from support.crawls import ok
from support.graphs import csr_of, ldbc
from support.inputs.samples import needs_reference
from support.paths import REFERENCE

from crawlrank.pipeline.data.graph import Floats, Graph, read_graph
from crawlrank.pipeline.ranking import personalized
from crawlrank.pipeline.ranking.hits import method as hits
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.pagerank import method as pagerank
from crawlrank.pipeline.ranking.pagerank.terms import WeightedLinks
from crawlrank.pipeline.ranking.solution import Problem

FINE = Stop(tolerance=1e-11, max_rounds=1000)
LDBC = ("pr__dir", "pr__undir", "example__example-directed", "example__example-undirected")
REAL = pytest.param("ics-uci", marks=[pytest.mark.slow, needs_reference])
NEAR = 1e-8


@pytest.fixture(scope="module")
def graphs_by_name(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Graph]:
    return {}


@pytest.fixture
def graph(request: Any, graphs_by_name: dict[str, Graph], tmp_path: Path) -> Graph:
    name = request.param
    if name not in graphs_by_name:
        graphs_by_name[name] = crawled(tmp_path) if name == "ics-uci" else ldbc(name)
    return graphs_by_name[name]


def crawled(tmp_path: Path) -> Graph:
    archives = sorted((REFERENCE / "archives" / "ics-uci").iterdir())
    ok("run", *archives, "--work", tmp_path / "work", "--quiet", "--no-validate")
    ok("export", "--format", "text", "--work", tmp_path / "work", "--out", tmp_path / "text")
    return read_graph(tmp_path / "text" / "pr0.txt")


def edges_of(graph: Graph) -> list[tuple[int, int]]:
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    return list(zip(sources.tolist(), graph.targets.tolist(), strict=True))


def networkx_of(graph: Graph, weights: Floats | None = None) -> nx.DiGraph:
    net = nx.DiGraph()
    net.add_nodes_from(range(graph.nodes))
    weighed = np.ones(len(graph.targets)) if weights is None else weights
    edges = zip(edges_of(graph), weighed.tolist(), strict=True)
    net.add_weighted_edges_from((source, target, weight) for (source, target), weight in edges)
    return net


def in_order(numbers: dict[int, float]) -> Floats:
    return np.array([numbers[node] for node in range(len(numbers))])


def by_igraph(graph: Graph, start: Floats, weights: Floats | None = None) -> Floats:
    """Dangling pages link to one more node, which keeps what it gets: the recipe's dummy."""
    import igraph  # takes a second

    dangling = np.flatnonzero(graph.outdegrees == 0).tolist()
    dummy = graph.nodes
    edges = [*edges_of(graph), *((node, dummy) for node in dangling), (dummy, dummy)]
    given = (np.ones(len(graph.targets)) if weights is None else weights).tolist()
    net = igraph.Graph(graph.nodes + 1, edges, directed=True)
    reset, given = [*start.tolist(), 0.0], given + [1.0] * (len(dangling) + 1)
    return np.array(net.personalized_pagerank(reset=reset, weights=given))[:dummy]


def same(got: Floats, want: Floats) -> None:
    """Scores as parts of all are the same."""
    assert np.abs(got / got.sum() - want / want.sum()).sum() <= NEAR


@pytest.mark.parametrize("graph", [*LDBC, REAL], indirect=True)
def test_personalized(graph: Graph) -> None:
    start = np.where(np.arange(graph.nodes) % 7 == 0, 1.0 + np.arange(graph.nodes) % 3, 0.0)
    got = personalized.solve(Problem(csr_of(graph), FINE, 2, 1 << 40, {"weights": start})).scores
    teleport = dict(enumerate(start.tolist()))
    net = networkx_of(graph)
    theirs = nx.pagerank(net, 0.85, teleport, tol=1e-14, max_iter=1000, dangling=teleport)
    same(got, in_order(theirs))
    same(got, by_igraph(graph, start))


@pytest.mark.parametrize("teleporting", [False, True])
@pytest.mark.parametrize("graph", [*LDBC, REAL], indirect=True)
def test_weights_of_links(graph: Graph, teleporting: bool) -> None:
    hosts = (np.arange(graph.nodes) // 3 % 5).astype(np.int32)
    links = WeightedLinks(0.5, 2.0, hosts)
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    weights = np.where(hosts[sources] == hosts[graph.targets], 0.5, 2.0)
    start = 1.0 + np.arange(graph.nodes) % 3 if teleporting else np.ones(graph.nodes)
    problem = Problem(csr_of(graph), FINE, 2, 1 << 40, {"weights": start, "links": links})
    got = (personalized if teleporting else pagerank).solve(problem).scores
    teleport = dict(enumerate(start.tolist()))
    net = networkx_of(graph, weights)
    theirs = nx.pagerank(net, 0.85, teleport, tol=1e-14, max_iter=1000, dangling=teleport)
    same(got, in_order(theirs))
    same(got, by_igraph(graph, start, weights))


@pytest.mark.parametrize("graph", [*LDBC, REAL], indirect=True)
def test_hits(graph: Graph) -> None:
    import igraph

    got = hits.solve(Problem(csr_of(graph), FINE, 2, 1 << 40))
    hubs, authorities = nx.hits(networkx_of(graph), tol=1e-13, max_iter=10_000)
    same(got.scores, np.abs(in_order(authorities)))
    same(got.more["hubs"], np.abs(in_order(hubs)))
    net = igraph.Graph(graph.nodes, edges_of(graph), directed=True)
    same(got.scores, np.array(net.authority_score()))
    same(got.more["hubs"], np.array(net.hub_score()))
