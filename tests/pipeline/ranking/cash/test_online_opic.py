"""OPIC as a ranking: against dense linear algebra, reads of one page after another, closed forms
and published values."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from support.graphs import NAMED, chain, csr_of, cycle, graph_of, graphs, star, web_like

from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.lab.chain import chain_of
from crawlrank.pipeline.lab.simulation import Simulation
from crawlrank.pipeline.ranking.cash.opic_cycles import solve
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.solution import Problem, Solution, State

FINE = Stop(tolerance=1e-12)
WEB = web_like(300, seed=4)
TOY = graph_of(4, [(0, 1), (1, 3), (2, 0), (2, 1), (2, 3)])


def ranked(graph: Graph, stop: Stop = FINE, **more: Any) -> Solution:
    return solve(Problem(csr_of(graph), stop, 2, 1 << 40, **more))


def with_virtual_page(graph: Graph) -> Floats:
    """What a page gives to each, column by column, as a dense matrix; the last is the virtual
    page, one more target of every page."""
    n = graph.nodes
    links = np.zeros((n + 1, n + 1))
    links[graph.targets, np.repeat(np.arange(n), graph.outdegrees)] = 1
    links[n, :n] = links[:n, n] = 1
    return np.asarray(links / links.sum(axis=0))


def stationary(matrix: Floats) -> Floats:
    """The vector of sum 1 that a stochastic matrix keeps."""
    n = len(matrix)
    system = np.vstack([matrix - np.eye(n), np.ones(n)])
    solved, *_ = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)
    return np.asarray(solved)


def test_published_values() -> None:
    """The values are from the pages of scrapinghub's Frontera on OPIC: the toy graph with its
    virtual page."""
    scores = ranked(TOY).scores
    published = [0.19801978, 0.29702981, 0.15841572, 0.34653469]  # by a power method to 1e-6
    assert scores / scores.sum() == pytest.approx(published, abs=2e-7)
    assert scores == pytest.approx([1.25, 1.875, 1.0, 2.1875], rel=1e-12)


@pytest.mark.parametrize("graph", [*NAMED.values(), TOY, WEB], ids=[*NAMED, "toy", "web"])
def test_linear_algebra_agrees(graph: Graph) -> None:
    """The virtual page included: as `dummy`, on the same scale."""
    solution = ranked(graph)
    both = np.append(solution.scores, solution.dummy)
    assert both / both.sum() == pytest.approx(stationary(with_virtual_page(graph)), rel=1e-9)


@given(graphs())
def test_certificate_and_eta_bound_the_error(graph: Graph) -> None:
    """After every cycle, from the first on."""
    x = stationary(with_virtual_page(graph))
    want = x[:-1] / x[-1] * graph.nodes
    for cycles in (1, 2, 4):
        solution = ranked(graph, Stop(iterations=cycles))
        last, error = solution.rounds[-1], np.abs(solution.scores - want)
        assert error.sum() <= (last["certificate"] + 1e-13) * solution.scores.sum()
        assert (error <= (last["eta"] + 1e-13) * want).all()
        p, q = solution.scores / solution.scores.sum(), want / want.sum()
        assert np.abs(p - q).sum() <= last["probability_certificate"] + 1e-13


def test_the_certificate_is_near_the_error() -> None:
    x = stationary(with_virtual_page(WEB))
    want = x[:-1] / x[-1] * WEB.nodes
    solution = ranked(WEB, Stop(iterations=6))
    error = np.abs(solution.scores - want).sum() / want.sum()
    assert error < solution.rounds[-1]["certificate"] < 100 * error


@pytest.mark.parametrize("cycles", [1, 2, 5])
def test_cycles_are_reads_of_one_page_after_another(cycles: int) -> None:
    """The reads are those of Adaptive OPIC's simulation, which hands out cash along the links."""
    simulation = Simulation(chain_of(WEB.offsets, WEB.targets))
    last = [simulation.cycle(WEB.nodes).cash for _ in range(cycles)][-1]
    scores = ranked(WEB, Stop(iterations=cycles)).scores
    assert scores / scores.sum() == pytest.approx(last / last.sum(), rel=1e-12)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_closed_forms(n: int) -> None:
    """Each page of a ring has 1 and half of its own score. Leaves of a star have 1, and the centre
    has half of each. Along a chain, what is still to come to 2 halves."""
    assert ranked(cycle(n)).scores == pytest.approx(np.full(n, 2.0), rel=1e-11)
    assert ranked(star(n)).scores == pytest.approx([1 + (n - 1) / 2] + [1.0] * (n - 1), rel=1e-11)
    assert ranked(chain(n)).scores == pytest.approx(2 - 0.5 ** np.arange(n), rel=1e-11)


def test_networkx_agrees_where_the_virtual_page_is_a_node() -> None:
    """PageRank of the graph with the virtual page, without jumps: an eigenvector by another
    method."""
    net = nx.DiGraph()
    net.add_nodes_from(range(WEB.nodes))
    sources = np.repeat(np.arange(WEB.nodes), WEB.outdegrees)
    net.add_edges_from(zip(sources.tolist(), WEB.targets.tolist(), strict=True))
    net.add_edges_from((i, "virtual") for i in range(WEB.nodes))
    net.add_edges_from(("virtual", i) for i in range(WEB.nodes))
    want = nx.pagerank(net, alpha=1.0, tol=1e-14, max_iter=10_000)
    solution = ranked(WEB)
    got = solution.scores / (solution.scores.sum() + solution.dummy)
    assert got == pytest.approx([want[i] for i in range(WEB.nodes)], rel=1e-7)


def test_the_target_of_a_link_farm_has_as_much_as_the_farm_has_pages() -> None:
    """Each of f fans gives it half of its score, and has 1 and an (f + 1)-th of the target's:
    t = 1 + f (1 + t / (f + 1)) / 2, so t = f + 1."""
    good, fans = 40, 1000
    edges = [(i, (i + 1) % good) for i in range(good)] + [(i, 0) for i in range(2, good)]
    farm = range(good + 1, good + 1 + fans)
    edges += [(fan, good) for fan in farm] + [(good, fan) for fan in farm]
    scores = ranked(graph_of(good + 1 + fans, edges)).scores
    assert scores[good] == pytest.approx(fans + 1, rel=1e-10)
    assert scores[good] > 10 * scores[:good].max()


def test_a_graph_without_pages() -> None:
    assert len(ranked(graph_of(0, [])).scores) == 0


@pytest.mark.parametrize("stop", [FINE, Stop(iterations=9)], ids=str)
def test_an_interrupted_ranking_ends_the_same(stop: Stop) -> None:
    states: list[State] = []

    def keep(entry: object, rounds: list[Any], state: Any) -> None:
        states.append(State(state().vector.copy(), state().dummy, list(rounds)))

    whole = ranked(WEB, stop, on_round=keep)
    again = ranked(WEB, stop, state=states[len(states) // 2])
    assert (again.scores == whole.scores).all()
    assert len(again.rounds) == len(whole.rounds) > len(states) // 2 + 1
