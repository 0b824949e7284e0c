"""OPIC against dense solves, a simulation page by page, closed forms and published values."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import (
    NAMED,
    chain,
    clique,
    cycle,
    exact_probabilities,
    exact_scores,
    graph_of,
    graphs,
    published,
    rational_solution,
    star,
    two_components,
    web_like,
)

from crawlrank.jobs.kernel.machine import machine_code
from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.ranking import opic as module
from crawlrank.pipeline.ranking.opic import Checkpoint, OpicResult, opic
from crawlrank.pipeline.ranking.options import OpicOptions, Policy

POLICIES: tuple[Policy, ...] = ("cycle", "random", "greedy")
Floats = npt.NDArray[np.float64]


def targets_of(graph: Graph, page: int) -> list[int]:
    return list(map(int, graph.targets[graph.offsets[page] : graph.offsets[page + 1]]))


def simulate(
    graph: Graph, visits: int, policy: Policy, start: Floats, edge: bool = False
) -> tuple[Floats, Floats]:
    """(C, H) with the virtual page paid out to every page after each visit, as the paper has it."""
    n = graph.nodes
    cash, history = start.copy(), np.zeros(n)
    for visit in range(visits):
        page = visit % n if policy == "cycle" else int(np.argmax(cash))
        held, targets = cash[page], targets_of(graph, page)
        cash[page] = 0
        history[page] += held
        equal = held / (len(targets) + 1) if edge else 0.85 * held / max(len(targets), 1)
        for target in targets:
            cash[target] += equal
        cash += (held - equal * len(targets)) / n
    return cash, history


def assert_certified(result: OpicResult, exact: Floats) -> None:
    """Neither bound is exceeded; the dense solve's own error is some 1e-14."""
    apart = np.abs(result.importance - exact / exact.sum()).sum()
    assert apart <= result.best.certificate + 1e-13
    assert np.abs(result.scores / exact - 1).max() <= result.best.eta + 1e-12


def simulate_sweeps(graph: Graph, least: float, sweeps: int) -> tuple[Floats, Floats, int]:
    """(C, H, visits) where the virtual page keeps what it gets, and pages of less are passed by."""
    cash, history, visits = np.full(graph.nodes, 1 / graph.nodes), np.zeros(graph.nodes), 0
    for page in [*range(graph.nodes)] * sweeps:
        if cash[page] >= least:
            held, targets = cash[page], targets_of(graph, page)
            cash[page], visits = 0, visits + 1
            history[page] += held
            for target in targets:
                cash[target] += 0.85 * held / len(targets)
    return cash, history, visits


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=examples(150), deadline=None)
@given(graphs(), st.data())
def test_no_certificate_is_exceeded(policy: Policy, graph: Graph, data: st.DataObject) -> None:
    visits = data.draw(st.floats(0.1, 30))
    seed = data.draw(st.integers(0, 9))
    result = opic(graph, OpicOptions(policy, 1e-12, visits, seed))
    assert_certified(result, exact_scores(graph))


@pytest.mark.few(8)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(8))
def test_no_certificate_is_exceeded_on_larger_graphs(policy: Policy, seed: int) -> None:
    graph = web_like(120, seed)
    exact = exact_scores(graph)
    for sweeps in (1, 3, 10, 40):
        options = OpicOptions(policy, 0.0, sweeps, seed)
        result = opic(graph, options)
        assert_certified(result, exact)
        assert result.history[-1].visits == sweeps * graph.nodes


@pytest.mark.few(1)
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=examples(60), deadline=None)
@given(graphs(max_nodes=6))
def test_no_certificate_is_exceeded_at_rounding_level(policy: Policy, graph: Graph) -> None:
    """OPIC takes all allowed visits, and scores are exact rationals: what is left is rounding."""
    result = opic(graph, OpicOptions(policy, opic_error=0.0))
    exact = rational_solution(graph)
    scores = [Fraction(x) for x in result.scores.tolist()]
    shares = [Fraction(x) for x in result.importance.tolist()]
    apart = sum(abs(p - x / sum(exact)) for p, x in zip(shares, exact, strict=True))
    assert apart <= Fraction(result.best.certificate)
    bounds = [Fraction(result.best.eta) * x for x in exact]
    assert all(abs(s - x) <= b for s, x, b in zip(scores, exact, bounds, strict=True))
    assert policy != "cycle" or result.best.certificate < 1e-12


@settings(max_examples=examples(100), deadline=None)
@given(graphs())
def test_cycle_reaches_its_error(graph: Graph) -> None:
    result = opic(graph, OpicOptions(opic_error=1e-9))
    assert result.reached
    assert result.best.certificate <= 1e-9
    assert np.abs(result.importance - exact_probabilities(graph)).sum() <= 1e-9
    assert result.importance.sum() == pytest.approx(1)


@pytest.mark.parametrize("policy", POLICIES)
def test_closed_forms(policy: Policy) -> None:
    """Cycle, clique, two components, no edges: all equal. Star: 0.15 for a leaf, 0.15 + 0.85 of
    all leaves' for the centre. Chain: a geometric sum. All within the certificate."""
    grown = [sum(0.85**k for k in range(i + 1)) for i in range(6)]
    centre = 1 + 0.85 * 7
    forms = [
        (cycle(7), [1.0] * 7),
        (clique(5), [1.0] * 5),
        (two_components(), [1.0] * 5),
        (graph_of(6, []), [1.0] * 6),
        (graph_of(1, []), [1.0]),
        (star(8), [centre] + [1.0] * 7),
        (chain(6), grown),
    ]
    for graph, form in forms:
        result = opic(graph, OpicOptions(policy, opic_error=1e-10))
        apart = np.abs(result.importance - np.array(form) / sum(form)).sum()
        assert apart <= result.best.certificate
        assert result.reached or policy != "cycle"
        assert result.best.certificate < 0.05


@pytest.mark.parametrize("seed", range(3))
def test_cycle_agrees_with_networkx(seed: int) -> None:
    graph = web_like(300, seed)
    named = nx.DiGraph()
    named.add_nodes_from(range(graph.nodes))
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    named.add_edges_from(zip(sources.tolist(), graph.targets.tolist(), strict=True))
    other = nx.pagerank(named, alpha=0.85, tol=1e-12, max_iter=500)
    expected = np.array([other[node] for node in range(graph.nodes)])
    result = opic(graph, OpicOptions(opic_error=1e-11))
    assert np.abs(result.importance - expected).sum() < 1e-9


def test_published_values() -> None:
    """Converged ones are met; those of two iterations are not PageRank yet, by a tenth."""
    graph, values = published("pr__dir")
    result = opic(graph, OpicOptions(opic_error=1e-12))
    assert np.abs(result.importance - values).sum() < 1e-11
    graph, values = published("pr__undir")
    assert np.abs(opic(graph).importance - values).sum() < 1e-5
    for name in ("example__example-directed", "example__example-undirected"):
        graph, values = published(name)
        result = opic(graph, OpicOptions(opic_error=1e-12))
        assert np.abs(result.importance - exact_probabilities(graph)).sum() < 1e-11
        assert 0.09 < np.abs(result.importance - values).sum() < 0.11


@pytest.mark.parametrize("policy", ["cycle", "greedy"])
@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_visits_are_those_of_the_paper(policy: Policy, edge: bool, seed: int) -> None:
    """Cash and records after some visits, against paying the virtual page out at once. Unequal
    cash at the start, so that greedy's choice never hangs on the last bit."""
    graph = web_like(50, seed)
    start = np.random.default_rng(seed).dirichlet(np.ones(50))
    for visits in (1, 7, 50, 400):
        bank = module._Bank(graph, "edge" if edge else "teleport")
        bank.cash[:] = start
        bank.visit(visits if policy == "greedy" else np.arange(visits) % 50)
        cash, history = simulate(graph, visits, policy, start, edge)
        assert np.allclose(bank.cash, cash, atol=1e-13)
        assert np.allclose(bank.recorded, history, atol=1e-12)
        assert bank.cash.sum() == pytest.approx(1)


@settings(max_examples=examples(60), deadline=None)
@given(graphs(max_nodes=9), st.lists(st.integers(0, 3), min_size=9, max_size=9))
def test_greedy_takes_the_first_of_equal_pages(graph: Graph, cash: list[int]) -> None:
    start = np.array(cash[: graph.nodes], float) + 1
    bank = module._Bank(graph, "teleport")
    bank.cash[:] = start
    bank.visit(1)
    assert np.flatnonzero(bank.recorded).tolist() == [int(np.argmax(start))]


@pytest.mark.slow
def test_wide_targets_give_the_same() -> None:
    """From 2^31 nodes targets are int64; the loops take both."""
    graph = web_like(80, seed=1)
    wide = replace(graph, targets=graph.targets.astype(np.int64))
    assert np.array_equal(opic(graph).importance, opic(wide).importance)


def test_random_is_seeded() -> None:
    graph = web_like(80, seed=1)
    runs = [opic(graph, OpicOptions("random", max_visits=10, seed=s)).importance for s in (5, 5, 6)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("policy,least", [("cycle", 1e-6), ("random", 0.2), ("greedy", 0.1)])
def test_certificates_are_not_idle(policy: Policy, least: float) -> None:
    """They fall as the module says: geometrically, or like 1/visits."""
    graph = web_like(300, seed=2)
    result = opic(graph, OpicOptions(policy, max_visits=100))
    assert result.best.certificate <= least
    if policy != "cycle":
        early, late = result.history[24], result.history[99]
        assert 2.5 < early.certificate / late.certificate < 6


def test_eta_goes_on_falling_after_the_certificate_is_reached() -> None:
    graph = web_like(2000, seed=4)
    result = opic(graph)
    assert result.reached
    assert result.best.eta <= 1e-6


def test_a_stalled_eta_stops_the_run() -> None:
    def run(*etas: float) -> bool:
        return module._settled([Checkpoint(1, 0, eta, 0, 0) for eta in etas], 1e-6)

    assert run(1e-6)
    assert not run(1e-5)
    assert not run(1, 0.95, 0.94, 0.93, 0.89)
    assert run(1, 0.95, 0.94, 0.93, 0.91)


def test_what_was_not_reached_is_reported_and_the_best_kept() -> None:
    graph = web_like(100, seed=7)
    result = opic(graph, OpicOptions("random", max_visits=12.34, seed=1))
    assert not result.reached
    assert [c.visits for c in result.history] == [*range(100, 1300, 100), 1234]
    assert result.best.certificate == min(c.certificate for c in result.history)


def test_cycle_makes_whole_sweeps_and_at_least_one() -> None:
    graph = web_like(100, seed=7)
    for allowed, made in ((0.01, 100), (1, 100), (3.99, 300)):
        result = opic(graph, OpicOptions(opic_error=0.0, max_visits=allowed))
        assert result.history[-1].visits == made


def test_two_hundred_visits_a_page_are_the_limit() -> None:
    assert opic(web_like(40, 1), OpicOptions("random", 0.0)).history[-1].visits == 200 * 40


def test_the_paper_estimate_is_one_over_all_records() -> None:
    graph = web_like(60, seed=3)
    _, history, _ = simulate_sweeps(graph, 0.0, 3)
    result = opic(graph, OpicOptions(opic_error=0.0, max_visits=3))
    assert result.history[-1].paper == pytest.approx(1 / history.sum())


@pytest.mark.parametrize("seed", range(4))
def test_cycle_passes_by_pages_that_hold_too_little(seed: int) -> None:
    graph = web_like(50, seed)
    for sweeps, least in ((1, 0.0), (3, 0.0), (2, 0.01), (6, 0.001)):
        bank = module._Bank(graph, "teleport")
        visits = sum(bank.sweep(least) for _ in range(sweeps))
        cash, history, simulated = simulate_sweeps(graph, least, sweeps)
        assert visits == simulated
        assert np.allclose(bank.cash, cash, atol=1e-15)
        assert np.allclose(bank.recorded, history, atol=1e-15)
    assert visits < 6 * graph.nodes


def test_cycle_reads_pages_of_less_cash_where_the_certificate_needs_it() -> None:
    """What the last page gives to half of the others is too little for each of them, and too much
    for the sum of errors."""
    graph = graph_of(401, [(400, target) for target in range(200)])
    result = opic(graph, OpicOptions(opic_error=0.01))
    assert [checkpoint.visits for checkpoint in result.history] == [401, 401, 601]
    assert result.history[1].eta <= 0.01 < result.history[1].certificate
    assert result.reached and result.best.visits == 601


def test_the_virtual_page_as_an_edge_has_its_own_fixed_point() -> None:
    """The stationary vector of the graph with one more page, to and from all others."""
    graph = web_like(60, seed=3)
    n = graph.nodes
    matrix = np.zeros((n + 1, n + 1))
    matrix[:n, n] = 1 / n
    for page in range(n):
        matrix[[*targets_of(graph, page), n], page] = 1 / (len(targets_of(graph, page)) + 1)
    system = np.vstack((matrix - np.eye(n + 1), np.ones(n + 1)))
    stationary = np.linalg.lstsq(system, np.append(np.zeros(n + 1), 1.0), rcond=None)[0][:n]
    result = opic(graph, OpicOptions(virtual_page="edge"))
    assert np.allclose(result.importance, stationary / stationary.sum(), atol=1e-12)
    assert math.isinf(result.best.certificate) and not result.reached
    assert result.history[-1].visits == 200 * n


def test_seconds_of_checkpoints_add_up() -> None:
    seconds = [checkpoint.seconds for checkpoint in opic(NAMED["star"]).history]
    assert seconds == sorted(seconds)


def test_without_a_place_for_machine_code_it_still_compiles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import numba

    plain = numba.njit

    def no_cache(*functions: object, **options: object) -> object:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return plain(*functions, **options)

    monkeypatch.setattr(numba, "njit", no_cache)
    twice = machine_code.by_numba(_twice)
    assert isinstance(twice, numba.core.dispatcher.Dispatcher) and twice(4) == 8


def _twice(number: int) -> int:
    return 2 * number
