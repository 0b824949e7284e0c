"""Adaptive OPIC's reads against plain simulations, and its importance against linear algebra."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import NAMED, exact_probabilities, graphs, web_like

from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.lab.chain import Chain, chain_of, exact_importance
from crawlrank.pipeline.lab.simulation import Simulation

Floats = npt.NDArray[np.float64]
ONES = np.ones(8)
EDGES = (None, 0.5, 1.0, 3.0)


def chain_in(graph: Graph, edges: float | None = 1.0) -> Chain:
    return chain_of(graph.offsets, graph.targets, edges)


def matrix_of(graph: Graph, edges: float | None, favour: Floats | None = None) -> Floats:
    """N + 1 states, the virtual page last; column j is where j's cash goes."""
    n = graph.nodes
    matrix = np.zeros((n + 1, n + 1))
    weights = np.ones(n) if favour is None else favour
    matrix[:n, n] = weights / weights.sum()
    for page in range(n):
        targets = graph.targets[graph.offsets[page] : graph.offsets[page + 1]]
        if not len(targets):
            matrix[n, page] = 1
        elif edges is None:
            matrix[targets, page], matrix[n, page] = 0.85 / len(targets), 0.15
        else:
            matrix[targets, page] = 1 / (len(targets) + edges)
            matrix[n, page] = edges / (len(targets) + edges)
    return matrix


def fixed_point(matrix: Floats) -> Floats:
    """The stationary vector without the virtual page, scaled to sum 1."""
    n = len(matrix)
    system = np.vstack((matrix - np.eye(n), np.ones(n)))
    stationary = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0][:-1]
    return np.asarray(stationary / stationary.sum())


@dataclass
class Naive:
    """One read after another by the matrix, the virtual page paid out to every page each time."""

    matrix: Floats
    cash: Floats
    favour: Floats
    discovery: float = 1.0
    read: set[int] = field(default_factory=set)

    def visit(self, page: int) -> float:
        held = float(self.cash[page])
        self.cash[page] = 0
        self.read.add(page)
        self.cash += held * self.matrix[:-1, page]
        weights = self.favour.copy()
        unread = [each for each in range(len(weights)) if each not in self.read]
        weights[unread] *= self.discovery
        self.cash += held * self.matrix[-1, page] * weights / weights.sum()
        return held

    def richest(self) -> int:
        """By a heap of all pages."""
        heap = [(-cash, page) for page, cash in enumerate(self.cash.tolist())]
        heapq.heapify(heap)
        return heap[0][1]


@pytest.mark.few(1)
@pytest.mark.parametrize("edges", EDGES)
@settings(max_examples=examples(60), deadline=None)
@given(graphs(), st.integers(0, 5))
def test_importance_is_the_fixed_point(edges: float | None, graph: Graph, seed: int) -> None:
    favour = np.random.default_rng(seed).uniform(0.1, 5, graph.nodes)
    for weights in (None, favour):
        expected = fixed_point(matrix_of(graph, edges, weights))
        assert np.abs(exact_importance(chain_in(graph, edges), weights) - expected).sum() < 1e-10


def test_importance_without_edges_to_the_virtual_page_is_pagerank() -> None:
    graph = web_like(200, seed=3)
    apart = exact_importance(chain_in(graph, None)) - exact_probabilities(graph)
    assert np.abs(apart).sum() < 1e-10


@pytest.mark.few(4)
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("policy", ["random", "greedy", "cycle"])
@pytest.mark.parametrize("weighted", [False, True])
def test_history_tends_to_the_fixed_point(edges: float, policy: str, weighted: bool) -> None:
    """|X - x*|_1 <= 2 |A| / G and the like: like 1/visits, here some constant over the clock."""
    graph = web_like(60, seed=5)
    favour = np.random.default_rng(1).uniform(0.2, 3, 60) if weighted else None
    expected = fixed_point(matrix_of(graph, edges, favour))
    simulation = Simulation(chain_in(graph, edges), favour=favour)
    errors = []
    for visits in (6_000, 60_000):
        getattr(simulation, policy)(visits)
        history = (simulation.recorded + simulation.cash) / (simulation.clock + 1)
        errors.append(np.abs(history - expected).sum())
    assert history.sum() == pytest.approx(1)
    assert errors[0] < 0.05
    assert errors[1] < 0.3 * errors[0]


@pytest.mark.few(8)
@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("discovery", [1.0, 4.0])
@pytest.mark.parametrize("favoured", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("greedy", [False, True])
def test_reads_are_those_of_a_naive_simulation(
    edges: float | None, discovery: float, favoured: bool, seed: int, greedy: bool
) -> None:
    """Unequal cash at the start, so that greedy's choice never hangs on the last bit."""
    rng, graph = np.random.default_rng(seed), web_like(50, seed)
    cash, favour = rng.dirichlet(np.ones(50)), rng.uniform(0.2, 3, 50)
    if not favoured:
        favour = np.ones(50)
    naive = Naive(matrix_of(graph, edges, favour), cash.copy(), favour, discovery)
    simulation = Simulation(
        chain_in(graph, edges), cash, favour if favoured else None, discovery, seed
    )
    for visits in (1, 30, 300):
        expected, held = [], []
        reads = simulation.greedy(visits) if greedy else simulation.random(visits)
        for page in reads.pages.tolist():
            expected.append(naive.richest() if greedy else page)
            held.append(naive.visit(page))
        assert reads.pages.tolist() == expected
        assert np.allclose(reads.cash, held, atol=1e-13)
        assert np.allclose(simulation.cash, naive.cash, atol=1e-13)
        assert np.flatnonzero(~simulation.unread).tolist() == sorted(naive.read)
    log = simulation.log()
    assert np.allclose(np.diff(log.reads.clock), log.reads.cash[1:])
    assert log.now == log.reads.clock[-1] == pytest.approx(simulation.recorded.sum())


@settings(max_examples=examples(80), deadline=None)
@given(graphs(), st.sampled_from(EDGES), st.floats(1, 50), st.booleans(), st.data())
def test_all_cash_stays(
    graph: Graph, edges: float | None, discovery: float, favoured: bool, data: st.DataObject
) -> None:
    weights = st.lists(st.floats(0.01, 100), min_size=graph.nodes, max_size=graph.nodes)
    favour = np.array(data.draw(weights)) if favoured else None
    simulation = Simulation(chain_in(graph, edges), favour=favour, discovery=discovery)
    policies = st.lists(st.sampled_from(["random", "greedy", "cycle"]), max_size=5)
    for policy in data.draw(policies):
        getattr(simulation, policy)(data.draw(st.integers(0, 40)))
        assert simulation.cash.sum() == pytest.approx(1)
        assert simulation.cash.min() > -1e-12


@pytest.mark.parametrize("discovery", [1.0, 3.0])
@pytest.mark.parametrize("name", NAMED)
def test_replaying_the_order_of_cycle_is_cycle(name: str, discovery: float) -> None:
    chain = chain_in(NAMED[name])
    cycled, replayed = (Simulation(chain, discovery=discovery) for _ in range(2))
    for visits in (3, 50):
        cycled.cycle(visits)
    for first, end in ((0, 3), (3, 53)):
        replayed.replay(np.arange(first, end) % chain.nodes)
    one, other = cycled.log(), replayed.log()
    assert one.reads.pages.tolist() == [k % chain.nodes for k in range(53)]
    for ours, others in zip(one.reads, other.reads, strict=True):
        assert ours.tobytes() == others.tobytes()
    assert cycled.cash.tobytes() == replayed.cash.tobytes()
    assert cycled.recorded.tobytes() == replayed.recorded.tobytes()


def test_random_is_seeded() -> None:
    chain = chain_in(web_like(40, seed=1))
    orders = [Simulation(chain, seed=seed).random(100).pages.tolist() for seed in (5, 5, 6)]
    assert orders[0] == orders[1] != orders[2]


def test_discovery_reads_unread_pages_earlier() -> None:
    """There are 270 pages that begin with almost nothing."""
    chain = chain_in(web_like(300, seed=2))
    start = np.append(np.ones(30), np.full(270, 1e-6))
    left = []
    for discovery in (1.0, 20.0):
        simulation = Simulation(chain, cash=start, discovery=discovery)
        simulation.greedy(300)
        left.append(int(simulation.unread.sum()))
    assert left[1] < left[0]


def test_a_graph_that_changes_and_grows() -> None:
    """The history since the change alone tends to the new fixed point."""
    before, after = web_like(40, seed=1), web_like(50, seed=9)
    simulation = Simulation(chain_in(before))
    simulation.greedy(400)
    importance = np.linspace(1, 2, 40)
    simulation.replace(chain_in(after), importance)
    assert simulation.cash.sum() == pytest.approx(1)
    log = simulation.log()
    assert log.born.tolist() == [-1.0] * 40 + [log.now] * 10
    assert log.prior[40:].tolist() == pytest.approx([1.5] * 10)
    simulation.replace(chain_in(web_like(60, seed=9)), np.append(np.ones(40), np.full(10, 7.0)))
    assert simulation.log().prior[50:].tolist() == pytest.approx([7.0] * 10)
    recorded, clock = simulation.recorded.copy(), simulation.clock
    simulation.cycle(60 * 300)
    gained = (simulation.recorded - recorded) / (simulation.clock - clock)
    expected = fixed_point(matrix_of(web_like(60, seed=9), 1.0))
    assert np.abs(gained - expected).sum() < 0.02


@pytest.mark.parametrize("greedy", [False, True])
def test_discovery_and_favour_in_a_graph_that_grows(greedy: bool) -> None:
    """New pages are unread, and their favour is the mean."""
    before, after = web_like(40, seed=3), web_like(55, seed=4)
    rng = np.random.default_rng(7)
    cash, favour = rng.dirichlet(np.ones(40)), rng.uniform(0.2, 3, 40)
    naive = Naive(matrix_of(before, 1.0, favour), cash.copy(), favour, 5.0)
    simulation = Simulation(chain_in(before), cash, favour, 5.0)
    for _ in range(2):
        reads = simulation.greedy(30) if greedy else simulation.random(30)
        for page, held in zip(reads.pages.tolist(), reads.cash.tolist(), strict=True):
            assert not greedy or page == naive.richest()
            assert held == pytest.approx(naive.visit(page), abs=1e-13)
        simulation.replace(chain_in(after), np.ones(simulation.chain.nodes))
        more = np.zeros(55 - len(naive.cash))
        naive.favour = np.append(naive.favour, more + naive.favour.mean())
        naive.cash = np.append(naive.cash, more)
        naive.matrix = matrix_of(after, 1.0, naive.favour)
    assert np.allclose(simulation.cash, naive.cash, atol=1e-13)
