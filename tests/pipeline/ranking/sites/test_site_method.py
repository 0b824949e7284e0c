"""PageRank of sites, against closed forms, networkx and linear algebra."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
from support.graphs import csr_of, graph_of, untimed

from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.sites import SiteGraph, solve
from crawlrank.pipeline.ranking.solution import Problem, Solution, State

FINE = Stop(tolerance=1e-12)
STOPS = pytest.mark.parametrize("stop", [FINE, Stop(iterations=250)], ids=str)
Weights = dict[tuple[int, int], float]


def site_graph(weights: Weights, sizes: Sequence[int]) -> SiteGraph:
    """Sites of these numbers of pages. weights: by source and target."""
    pairs = sorted((target, source) for source, target in weights)
    counts = np.bincount([target for target, _ in pairs], minlength=len(sizes))
    return SiteGraph(
        np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        np.array([source for _, source in pairs], np.int64),
        np.array([weights[source, target] for target, source in pairs], np.float64),
        np.repeat(np.arange(len(sizes)), sizes),
    )


def ranked(sites: SiteGraph, stop: Stop = FINE, **more: object) -> Solution:
    pages = csr_of(graph_of(len(sites.of_pages), []))
    return solve(Problem(pages, stop, 1, 1 << 40, {"sites": sites}, **more))  # type: ignore[arg-type]


def random_web(sites: int, seed: int) -> tuple[Weights, list[int]]:
    """Some sites dangle, some have no links to them; weights up to 1,000."""
    rng = np.random.default_rng(seed)
    weights = {
        (int(s), int(t)): float(rng.integers(1, 1000))
        for s, t in rng.integers(0, sites, (4 * sites, 2))
        if s != t and s % 5
    }
    return weights, rng.integers(1, 30, sites).tolist()


def exact(weights: Weights, sites: int) -> Floats:
    """Scores by a dense solve."""
    matrix = np.zeros((sites, sites))
    for (source, target), weight in weights.items():
        matrix[target, source] = weight
    sums = matrix.sum(axis=0)
    matrix /= np.where(sums > 0, sums, 1)
    solved: Floats = np.linalg.solve(np.eye(sites) - 0.85 * matrix, np.full(sites, 0.15))
    return solved


@STOPS
def test_a_ring_of_sites_has_the_score_1(stop: Stop) -> None:
    """Whatever the weights and the number of pages."""
    ring = {(i, (i + 1) % 7): 10.0**i for i in range(7)}
    solution = ranked(site_graph(ring, [1, 5, 2, 9, 1, 1, 3]), stop)
    assert len(solution.scores) == 22
    assert solution.scores == pytest.approx(np.ones(22), rel=1e-12)
    assert solution.dummy == pytest.approx(1)


@STOPS
def test_a_star_of_sites(stop: Stop) -> None:
    leaves = 9
    star = {(i, 0): 3.0 for i in range(1, leaves + 1)}
    solution = ranked(site_graph(star, [4] + [2] * leaves), stop)
    centre = 0.15 + 0.85 * 0.15 * leaves
    assert solution.scores == pytest.approx([centre] * 4 + [0.15] * 2 * leaves, rel=1e-11)
    assert solution.dummy == pytest.approx(leaves + 2 - centre - 0.15 * leaves)


def test_links_share_a_score_by_their_weights() -> None:
    fork = {(0, 1): 3.0, (0, 2): 1.0}
    scores = ranked(site_graph(fork, [1, 1, 1])).scores
    assert scores == pytest.approx([0.15, 0.15 + 0.1275 * 0.75, 0.15 + 0.1275 * 0.25], rel=1e-12)


@STOPS
@pytest.mark.parametrize("seed", range(3))
def test_networkx_agrees(stop: Stop, seed: int) -> None:
    weights, sizes = random_web(300, seed)
    net = nx.DiGraph()
    net.add_nodes_from(range(300))
    net.add_weighted_edges_from((s, t, w) for (s, t), w in weights.items())
    want = nx.pagerank(net, 0.85, tol=1e-15, max_iter=5000, weight="weight")
    sites = site_graph(weights, sizes)
    got = ranked(sites, stop).scores[np.concatenate(([0], np.cumsum(sizes)[:-1]))]
    assert got / got.sum() == pytest.approx([want[i] for i in range(300)], rel=1e-8)


@pytest.mark.parametrize("rounds", [1, 2, 5, 20, 80, 250])
def test_certificates_are_true(rounds: int) -> None:
    """They bound the scores of pages, of which sites have 1 to 29."""
    weights, sizes = random_web(200, 7)
    want = np.repeat(exact(weights, 200), sizes)
    solution = ranked(site_graph(weights, sizes), Stop(iterations=rounds))
    entry, got = solution.rounds[-1], solution.scores
    error = np.abs(got - want)
    slack = 1e-14  # of the dense solve
    assert (error <= (entry["eta"] + slack) * want).all()
    assert error.sum() <= (entry["certificate"] + slack) * got.sum()
    apart = np.abs(got / got.sum() - want / want.sum()).sum()
    assert apart <= entry["probability_certificate"] + slack
    assert entry["round"] == rounds == len(solution.rounds)


def test_certificates_are_sharp_enough_to_stop() -> None:
    weights, sizes = random_web(2000, 8)
    rounds = ranked(site_graph(weights, sizes), Stop(tolerance=1e-13)).rounds
    assert rounds[-1]["certificate"] <= 1e-13 < rounds[-2]["certificate"]
    assert rounds[-1]["eta"] > 0


def test_a_graph_of_one_site_has_no_edges() -> None:
    solution = ranked(site_graph({}, [3]))
    assert solution.scores.tolist() == [0.15] * 3
    assert solution.rounds[-1]["dangling"] == 1


@pytest.mark.parametrize("stop", [FINE, Stop(iterations=40)], ids=str)
def test_an_interrupted_ranking_ends_the_same(stop: Stop) -> None:
    sites = site_graph(*random_web(300, 9))
    states: list[State] = []

    def keep(entry: Round, rounds: list[Round], state: object) -> None:
        now = state()  # type: ignore[operator]
        states.append(State(now.vector.copy(), now.dummy, list(now.rounds)))

    whole = ranked(sites, stop, on_round=keep)
    again = ranked(sites, stop, state=states[len(states) // 2])
    assert again.scores.tolist() == whole.scores.tolist()
    assert untimed(again.rounds) == untimed(whole.rounds)
