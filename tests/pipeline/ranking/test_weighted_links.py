"""Links that weigh by host, against networkx, linear algebra and closed forms."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from support.graphs import csr_of, graph_of, untimed, web_like

from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.ranking import personalized
from crawlrank.pipeline.ranking.inputs import LinkWeights, parsed_link_weights
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.pagerank import method as pagerank
from crawlrank.pipeline.ranking.pagerank.terms import WeightedLinks
from crawlrank.pipeline.ranking.solution import Problem, Solution, State

WEB = web_like(400, seed=5)
HOSTS = (np.arange(WEB.nodes) // 7 % 20).astype(np.int32)  # of several runs of pages each
FINE = Stop(tolerance=1e-12)
WEIGHTS = [(1.0, 3.0), (0.3, 0.1), (0.0, 1.0), (2.0, 0.0), (1e-6, 1e6)]


def ranked(
    graph: Graph, links: WeightedLinks | None, weights: Floats | None = None, stop: Stop = FINE,
    **more: object,
) -> Solution:  # fmt: skip
    method = pagerank if weights is None else personalized
    inputs = {"weights": weights, "links": links}
    problem = Problem(csr_of(graph), stop, 2, 1 << 40, inputs, **more)  # type: ignore[arg-type]
    return method.solve(problem)


def edge_weights(links: WeightedLinks, graph: Graph = WEB) -> list[tuple[int, int, float]]:
    """The edges that weigh something."""
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees).tolist()
    edges = []
    for source, target in zip(sources, graph.targets.tolist(), strict=True):
        same = links.hosts[source] == links.hosts[target]
        edges.append((source, target, links.internal if same else links.external))
    return [edge for edge in edges if edge[2]]


def by_networkx(links: WeightedLinks, teleport: Floats | None) -> list[float]:
    net = nx.DiGraph()
    net.add_nodes_from(range(WEB.nodes))
    net.add_weighted_edges_from(edge_weights(links))
    start = None if teleport is None else dict(enumerate(teleport.tolist()))
    p = nx.pagerank(net, 0.85, start, tol=1e-15, max_iter=5000, dangling=start)
    return [p[node] for node in range(WEB.nodes)]


def exact(links: WeightedLinks, teleport: Floats | None = None) -> Floats:
    """Scores by a dense solve."""
    nodes = len(links.hosts)
    matrix = np.zeros((nodes, nodes))
    for source, target, weight in edge_weights(links):
        matrix[target, source] = weight
    sums = matrix.sum(axis=0)
    matrix /= np.where(sums > 0, sums, 1)
    base = np.ones(nodes) if teleport is None else teleport / teleport.mean()
    solved: Floats = np.linalg.solve(np.eye(nodes) - 0.85 * matrix, 0.15 * base)
    return solved


@pytest.mark.few(2)
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("stop", [FINE, Stop(iterations=250)], ids=str)
@pytest.mark.parametrize("chosen", [None, 7, 400])
def test_networkx_agrees(weights: tuple[float, float], stop: Stop, chosen: int | None) -> None:
    """Pages all whose links weigh 0 dangle, as they have no edges there."""
    teleport = None
    if chosen:
        teleport = np.where(np.arange(WEB.nodes) < chosen, 1.0 + np.arange(WEB.nodes) % 4, 0.0)
    links = WeightedLinks(*weights, HOSTS)
    scores = ranked(WEB, links, teleport, stop).scores
    want = by_networkx(links, teleport)
    assert scores / scores.sum() == pytest.approx(want, rel=1e-8, abs=1e-16)


@pytest.mark.parametrize("internal", [1.0, 1 / 3, 7e5])
@pytest.mark.parametrize("chosen", [None, 5])
def test_equal_weights_are_the_ranking_without_any(internal: float, chosen: int | None) -> None:
    teleport = None if chosen is None else np.where(np.arange(WEB.nodes) < chosen, 1.0, 0.0)
    links = WeightedLinks(internal, internal, HOSTS)
    weighed, plain = ranked(WEB, links, teleport), ranked(WEB, None, teleport)
    assert weighed.scores == pytest.approx(plain.scores, rel=1e-11)
    assert weighed.dummy == pytest.approx(plain.dummy)


def test_a_fork() -> None:
    """0 links to 1 of its host, and to 2 of another one: three parts of four go to 2."""
    links = WeightedLinks(0.5, 1.5, np.array([0, 0, 1], np.int32))
    solution = ranked(graph_of(3, [(0, 1), (0, 2)]), links)
    want = [0.15, 0.15 + 0.85 * 0.15 / 4, 0.15 + 0.85 * 0.15 * 3 / 4]
    assert solution.scores == pytest.approx(want, rel=1e-12)
    assert solution.more["outweights"].tolist() == [2.0, 0.0, 0.0]
    assert solution.dummy == pytest.approx(4 - sum(want))


def test_without_links_within_hosts_these_dangle() -> None:
    ring = graph_of(4, [(0, 1), (1, 0), (2, 3), (3, 2)])
    links = WeightedLinks(0.0, 1.0, np.array([0, 0, 1, 1], np.int32))
    solution = ranked(ring, links)
    assert solution.scores.tolist() == [0.15] * 4
    assert solution.rounds[-1]["dangling"] == 4


@pytest.mark.parametrize("rounds", [1, 2, 5, 20, 80, 250])
@pytest.mark.parametrize("chosen", [None, 9])
def test_certificates_are_true(rounds: int, chosen: int | None) -> None:
    teleport = None if chosen is None else np.where(np.arange(WEB.nodes) < chosen, 1.0, 0.0)
    links = WeightedLinks(0.2, 1.7, HOSTS)
    want = exact(links, teleport)
    solution = ranked(WEB, links, teleport, Stop(iterations=rounds))
    entry, got = solution.rounds[-1], solution.scores
    slack = 1e-14  # of the dense solve
    assert np.abs(got - want).sum() <= (entry["certificate"] + slack) * got.sum()
    if np.isfinite(entry["eta"]):
        assert (np.abs(got - want) <= (entry["eta"] + slack) * want).all()
    assert chosen or entry["eta"] < np.inf


def test_a_tolerance_is_kept() -> None:
    links = WeightedLinks(0.2, 1.7, HOSTS)
    solution = ranked(WEB, links, None, Stop(tolerance=1e-6))
    error = np.abs(solution.scores - exact(links)).sum() / solution.scores.sum()
    assert error <= solution.rounds[-1]["certificate"] <= 1e-6
    assert len(solution.rounds) < 120


@pytest.mark.parametrize("stop", [FINE, Stop(iterations=40)], ids=str)
def test_an_interrupted_ranking_ends_the_same(stop: Stop) -> None:
    links = WeightedLinks(0.2, 1.7, HOSTS)
    states: list[State] = []

    def keep(entry: Round, rounds: list[Round], state: object) -> None:
        now = state()  # type: ignore[operator]
        states.append(State(now.vector.copy(), now.dummy, list(now.rounds)))

    whole = ranked(WEB, links, None, stop, on_round=keep)
    again = ranked(WEB, links, None, stop, state=states[len(states) // 2])
    assert again.scores.tolist() == whole.scores.tolist()
    assert untimed(again.rounds) == untimed(whole.rounds)


def test_options_name_each_weight_once() -> None:
    assert parsed_link_weights("external=2.5,internal=0") == LinkWeights(0.0, 2.5)
    assert parsed_link_weights("internal=0.1") == LinkWeights(0.1, 1.0)
    assert parsed_link_weights(str(LinkWeights(0.1, 1 / 3))) == LinkWeights(0.1, 1 / 3)


@pytest.mark.parametrize(
    "text",
    [
        *("", "1,2", "internal", "internal=", "internal=1,internal=2", "inside=1", "internal=x"),
        *("internal=-1", "internal=nan", "internal=inf", "internal=1e-7", "internal=1e7"),
        *("internal=0,external=0", "internal=1,", "internal=1;external=2"),
    ],
)
def test_other_options_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parsed_link_weights(text)
