"""HITS against singular value decompositions, networkx, published values and closed forms."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import csr_of, graph_of, graphs, ldbc, untimed, web_like

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.ranking.hits import lanczos
from crawlrank.pipeline.ranking.hits.method import of_probabilities, solve
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.solution import Problem, Solution, State

MUCH = 1 << 40
WEB = web_like(200, seed=4)
TOY = graph_of(4, [(0, 1), (1, 3), (2, 0), (2, 1), (2, 3)])
STARS = graph_of(6, [(0, 1), (0, 2), (3, 4), (3, 5)])  # two equal ones


def ranked(graph: Graph, stop: Stop | None = None, budget: int = MUCH, **more: Any) -> Solution:
    threads, names = more.pop("threads", 2), ("weights", "perturb")
    inputs = {name: more.pop(name) for name in names if name in more}
    stop = stop or Stop(tolerance=1e-9)
    return solve(Problem(csr_of(graph), stop, threads, budget, inputs, **more))


def matrix_of(graph: Graph) -> Floats:
    links = np.zeros((graph.nodes, graph.nodes))
    links[np.repeat(np.arange(graph.nodes), graph.outdegrees), graph.targets] = 1
    return links


def by_svd(graph: Graph, relevance: Floats | float = 1.0, perturb: float = 0.0) -> tuple[Any, ...]:
    """(authorities, hubs, the singular values)."""
    links = matrix_of(graph) + perturb
    left, values, _ = np.linalg.svd(links * np.sqrt(relevance))
    hubs = np.abs(left[:, 0])
    authorities = links.T @ hubs
    return authorities / (np.linalg.norm(authorities) or 1.0), hubs, values


@pytest.mark.few(1)
@pytest.mark.parametrize("stop", [Stop(tolerance=1e-9), Stop(iterations=100)], ids=str)
def test_published_values(stop: Stop) -> None:
    """The values are those of aduana's documentation."""
    got = ranked(TOY, stop)
    assert got.more["hubs"] == pytest.approx([0.3251, 0.3251, 0.8881, 0], abs=5e-5)
    assert got.scores == pytest.approx([0.4597, 0.6280, 0, 0.6280], abs=5e-5)


@pytest.mark.parametrize("budget", [0, MUCH])
@pytest.mark.parametrize("perturb", [0.0, 1e-4])
@pytest.mark.parametrize("seed", range(examples(6)))
@pytest.mark.parametrize("weighed", [False, True])
def test_the_certificate_bounds_the_distance_from_the_singular_pair(
    weighed: bool, seed: int, perturb: float, budget: int
) -> None:
    graph = web_like(150, seed=seed)
    relevance = np.arange(150) % 4 / 3 if weighed else None
    got = ranked(graph, budget=budget, weights=relevance, perturb=perturb)
    a, h, _ = by_svd(graph, 1.0 if relevance is None else relevance, perturb)
    last = got.rounds[-1]
    assert np.linalg.norm(got.scores - a) <= last["certificate"] + 1e-13 <= 1e-9
    assert np.linalg.norm(got.more["hubs"] - h) <= 1e-8
    assert np.abs(got.scores - a).max() <= last["absolute"] + 1e-13
    assert math.isinf(last["eta"])  # an exact score may be 0
    assert np.linalg.norm(got.scores) == pytest.approx(1)


@settings(max_examples=examples(60), deadline=None)
@given(graph=graphs(), tolerance=st.sampled_from([1e-3, 1e-9]))
def test_any_graph(graph: Graph, tolerance: float) -> None:
    """A gap that the certificate rests on is there; without one, HITS says so."""
    a, _, values = by_svd(graph)
    try:
        got = ranked(graph, Stop(tolerance=tolerance))
    except BadInput as error:
        assert "--perturb" in str(error)
        assert not graph.edges or values[1] ** 2 >= 0.95 * values[0] ** 2
        return
    assert values[1] < values[0] * (1 - 1e-12)
    assert np.linalg.norm(got.scores - a) <= got.rounds[-1]["certificate"] + 1e-13
    assert got.rounds[-1]["certificate"] <= tolerance
    off = np.abs(got.scores / got.scores.sum() - a / a.sum()).sum()
    assert off <= got.rounds[-1]["probability_certificate"] + 1e-12


@pytest.mark.parametrize("budget", [0, MUCH])
@pytest.mark.parametrize(
    "relevance", [None, np.r_[np.ones(60), 0.0, np.full(60, 0.5), np.ones(200)]]
)
def test_pages_outside_the_best_community_have_the_score_0(
    relevance: Floats | None, budget: int
) -> None:
    """Communities are those of hubs that share an authority, which a page without relevance is
    not: page 60 joins nothing, and has a score of its own where its hubs have."""
    edges = [(3, 60), (64, 60)] if relevance is not None else [(3, 60)]
    for part, start in ((web_like(60, seed=4), 0), (web_like(60, seed=5), 61), (WEB, 121)):
        sources = np.repeat(np.arange(part.nodes), part.outdegrees)
        edges += np.column_stack((sources + start, part.targets + start)).tolist()
    graph = graph_of(321, edges)
    got = ranked(graph, budget=budget, weights=relevance)
    a, _, _ = by_svd(graph, 1.0 if relevance is None else relevance)
    assert np.abs(got.scores - a).max() <= got.rounds[-1]["absolute"] + 1e-13
    outside = a < 1e-12
    assert 50 < outside.sum() < 200
    assert (got.scores[outside] == 0).all()
    assert (got.scores[~outside] > 0).all()


@pytest.mark.parametrize("nodes", [2, 100, 10_000])
@pytest.mark.parametrize("error", [1e-9, 1e-3, 0.3])
def test_the_bound_of_probabilities_holds_for_errors_of_all_pages(nodes: int, error: float) -> None:
    """The error is spread over all pages, of which half have nearly nothing: its sum is the largest
    for its length."""
    half = np.arange(nodes) % 2
    exact = half / np.linalg.norm(half)
    found = exact + error / math.sqrt(nodes) * np.where(half, -1, 1)
    found /= np.linalg.norm(found)
    length = float(np.linalg.norm(found - exact))
    off = np.abs(found / found.sum() - exact / exact.sum()).sum()
    bound = of_probabilities(length, nodes, float(found.sum()))
    assert off <= bound <= 4 * off
    assert off > length or nodes == 2  # so that a bound of the length is none of the sum


@pytest.mark.parametrize("seed", range(examples(30)))
def test_the_second_eigenvalue_is_below_its_bound(seed: int) -> None:
    """The matrices have chosen eigenvalues, whatever vector is taken away."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.standard_normal((60, 60)))
    values = np.sort(rng.uniform(0, 1, 60))[::-1] ** 3
    matrix = basis * values @ basis.T
    u = basis[:, 0] + (seed % 3) * 1e-3 * basis[:, 5]
    u /= np.linalg.norm(u)
    pair = lanczos.measured(lambda vector: matrix @ vector, u)
    low, high = lanczos.second(lambda vector: matrix @ vector, pair, 0.0)
    assert low <= values[1] * (1 + 1e-4)
    assert values[1] <= high


def test_networkx_agrees() -> None:
    for graph in (WEB, ldbc("pr__dir")):
        net = nx.DiGraph()
        net.add_nodes_from(range(graph.nodes))
        net.add_edges_from(np.argwhere(matrix_of(graph)).tolist())
        hubs, authorities = nx.hits(net, tol=1e-12, max_iter=10_000)
        got = ranked(graph, Stop(tolerance=1e-10))
        for mine, theirs in ((got.scores, authorities), (got.more["hubs"], hubs)):
            want = [theirs[node] for node in range(graph.nodes)]
            assert mine / mine.sum() == pytest.approx(want, abs=1e-8)


@pytest.mark.parametrize("stop", [Stop(tolerance=1e-9), Stop(iterations=3)], ids=str)
@pytest.mark.parametrize("way", ["in", "out"])
def test_a_star(way: str, stop: Stop) -> None:
    edges = [(0, k) if way == "out" else (k, 0) for k in range(1, 10)]
    got = ranked(graph_of(10, edges), stop)
    one, many = [1.0] + [0.0] * 9, [0.0] + [1 / 3] * 9
    assert got.scores == pytest.approx(many if way == "out" else one, abs=1e-12)
    assert got.more["hubs"] == pytest.approx(one if way == "out" else many, abs=1e-12)


def test_passes_are_those_of_exact_sums() -> None:
    """Python's own: math.fsum, in any order."""
    links, a = matrix_of(WEB), np.ones(WEB.nodes)
    sources = [np.flatnonzero(links[:, node]) for node in range(WEB.nodes)]
    targets = [np.flatnonzero(links[node]) for node in range(WEB.nodes)]
    relevance = np.arange(WEB.nodes) % 5 / 4
    for _ in range(4):
        for ends, weights in ((targets, relevance), (sources, np.ones(WEB.nodes))):
            a = weights * a
            a = np.array([math.fsum(a[end][::-1].tolist()) for end in ends])
            a /= math.sqrt(math.fsum((a * a).tolist()))
    for threads in (1, 2, 3):
        got = ranked(WEB, Stop(iterations=4), weights=relevance, threads=threads)
        assert (got.scores == a).all()


@pytest.mark.parametrize("stop", [Stop(tolerance=1e-12), Stop(iterations=5)], ids=str)
def test_going_on_gives_the_same_bits(stop: Stop) -> None:
    """The cycles are short, because there is memory for few steps."""
    budget = 16 * lanczos.LEAST_STEPS * WEB.nodes
    whole = ranked(WEB, stop, budget)
    states: list[State] = []

    def keep(entry: Round, rounds: list[Round], state: Any) -> None:
        now: State = state()
        states.append(State(now.vector.copy(), now.dummy, list(rounds)))

    ranked(WEB, stop, budget, on_round=keep)
    assert len(states) > 2
    for state in states[:-1]:
        again = ranked(WEB, stop, budget, state=state)
        assert (again.scores == whole.scores).all()
        assert (again.more["gives"] == whole.more["gives"]).all()
        for one, other in zip(untimed(again.rounds), untimed(whole.rounds), strict=True):
            assert one == pytest.approx(other, rel=1e-9)


def test_a_finished_state_is_enough() -> None:
    states: list[State] = []
    whole = ranked(WEB, Stop(iterations=3), on_round=lambda e, r, s: states.append(s()))
    again = ranked(WEB, Stop(iterations=3), state=states[-1])
    assert (again.scores == whole.scores).all()
    assert (again.more["hubs"] == whole.more["hubs"]).all()


def test_equal_singular_values_are_told_and_cured() -> None:
    with pytest.raises(BadInput, match="two largest singular values that are equal") as refused:
        ranked(STARS)
    assert "--perturb" in refused.value.cure
    got = ranked(STARS, perturb=1e-3)
    assert got.scores == pytest.approx(by_svd(STARS, perturb=1e-3)[0], abs=1e-9)
    assert got.scores[1] == pytest.approx(got.scores[4], abs=1e-9)


@pytest.mark.parametrize("stop", [Stop(tolerance=1e-9), Stop(iterations=2)], ids=str)
def test_no_links_that_count(stop: Stop) -> None:
    only_to_1 = np.array([1.0, 0, 1.0, 1.0])
    for graph, weights in ((graph_of(3, []), None), (graph_of(4, [(0, 1), (2, 1)]), only_to_1)):
        with pytest.raises(BadInput, match="no link to a page that counts"):
            ranked(graph, stop, weights=weights)


@pytest.mark.parametrize("bad", [[-1.0, 1, 1, 1], [2.0, 0, 0, 0], [math.nan] * 4, [0.0] * 4])
def test_relevance_that_is_none(bad: list[float]) -> None:
    with pytest.raises(BadInput, match="weights"):
        ranked(TOY, weights=np.array(bad))


@pytest.mark.parametrize("bad", [-1e-6, math.inf, math.nan])
def test_a_perturbation_that_is_none(bad: float) -> None:
    with pytest.raises(BadInput, match="--perturb"):
        ranked(TOY, perturb=bad)


def test_a_tolerance_below_the_rounding_ends() -> None:
    stop = Stop(tolerance=1e-17)
    got = ranked(WEB, stop)
    assert 1e-17 < got.rounds[-1]["certificate"] < 1e-11
    assert len(got.rounds) < 10
    assert "no more rounds make them better" in str(stop.not_converged(got.rounds))
    assert "--max-rounds" in str(Stop(max_rounds=1).not_converged(got.rounds))


def test_more_rounds_are_no_cure_where_the_last_ones_were_none() -> None:
    falling = [{"certificate": 0.85**number} for number in range(400)]
    ended = [{"certificate": max(0.85**number, 1e-14)} for number in range(1000)]
    for rounds, cure in ((falling, "allow more"), (ended, "the last 500 made them hardly better")):
        stop = Stop(tolerance=1e-40, max_rounds=len(rounds))
        assert cure in str(stop.not_converged(rounds))
