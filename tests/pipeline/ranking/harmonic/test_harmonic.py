"""Harmonic centrality: exact distances against networkx, HyperBall against exact ones."""

from __future__ import annotations

import threading
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from support.drawing import examples
from support.graphs import NAMED, chain, csr_of, cycle, graph_of, graphs, star, untimed, web_like

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Floats, Graph, Positions
from crawlrank.pipeline.ranking.harmonic import hyperball, method
from crawlrank.pipeline.ranking.harmonic.distances import (
    LANES,
    MOST_ADDED,
    Searches,
    exact_distances,
)
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.solution import Problem, Solution

MUCH = 1 << 40


def solved(graph: Graph, threads: int = 1, ids: type = np.uint32, **inputs: int) -> Solution:
    return method.solve(Problem(csr_of(graph, ids), Stop(), threads, MUCH, inputs))


def of_networkx(graph: Graph) -> tuple[Floats, Floats, Floats]:
    """Harmonic centrality, reach and closeness by a search from each page."""
    web = nx.DiGraph()
    web.add_nodes_from(range(graph.nodes))
    sources = np.repeat(np.arange(graph.nodes), np.diff(graph.offsets))
    web.add_edges_from(zip(graph.targets.tolist(), sources.tolist(), strict=True))  # backwards
    columns = np.zeros((3, graph.nodes))
    for page in range(graph.nodes):
        found = nx.single_source_shortest_path_length(web, page).items()
        distances = [distance for other, distance in found if other != page]
        total = sum(distances)
        columns[:, page] = sum(1 / d for d in distances), len(distances), 1 / total if total else 0
    return columns[0], columns[1], columns[2]


def require_exact(graph: Graph, solution: Solution) -> None:
    harmonic, reach, closeness = of_networkx(graph)
    assert solution.scores == pytest.approx(harmonic, rel=1e-13)
    assert solution.more["reach"].tolist() == reach.tolist()
    assert solution.more["closeness"] == pytest.approx(closeness, rel=1e-15)


@settings(max_examples=examples(200))
@given(graph=graphs(max_nodes=30))
def test_any_graph(graph: Graph) -> None:
    require_exact(graph, solved(graph))


@pytest.mark.parametrize("name", NAMED)
def test_named_graphs(name: str) -> None:
    require_exact(NAMED[name], solved(NAMED[name]))


@pytest.mark.few(1)
@pytest.mark.parametrize("ids", [np.uint32, pytest.param(np.uint64, marks=pytest.mark.slow)])
def test_more_pages_than_searches_at_once(ids: type) -> None:
    graph = web_like(2 * LANES + 70, seed=5)
    require_exact(graph, solved(graph, ids=ids))


def test_more_pages_at_one_distance_than_a_byte_counts() -> None:
    graph = star(2 * MOST_ADDED + 3)
    solution = solved(graph)
    assert solution.scores[0] == solution.more["reach"][0] == 2 * MOST_ADDED + 2


def test_threads_change_no_bit() -> None:
    graph = web_like(5 * LANES, seed=6)
    one, three = solved(graph), solved(graph, threads=3)
    assert one.scores.tolist() == three.scores.tolist()
    assert untimed(one.rounds) == untimed(three.rounds)


def test_all_threads_end_with_the_first_that_fails() -> None:
    """As they do at Ctrl-C, which the thread that waits for them sees."""
    over, begun, calls = threading.Event(), threading.Event(), list[int]()

    class Failing(Searches):
        def sums(self, roots: Positions) -> tuple[Floats, int]:
            calls.append(int(roots[0]))
            if roots[0] == 0:
                assert begun.wait(600)
                raise KeyboardInterrupt
            begun.set()
            assert over.wait(600)
            return np.zeros((3, len(roots))), 1

    with pytest.raises(KeyboardInterrupt):
        exact_distances(csr_of(cycle(20 * LANES)), 2, over=over, searches=Failing)
    assert len(calls) == 2


@pytest.mark.few(1)
@pytest.mark.parametrize("nodes", [2, 3, 100, 3000])
def test_rounding_is_within_its_bound(nodes: int) -> None:
    """A chain has the most distances for its pages."""
    solution = solved(chain(nodes))
    true = Fraction()
    for page in range(1, nodes):
        true += Fraction(1, page)
        error = abs(Fraction(float(solution.scores[page])) - true)
        assert error <= Fraction(float(solution.rounds[-1]["eta"])) * true
    assert solution.rounds[-1]["eta"] < 1e-12
    assert Stop(iterations=50).reached(solution.rounds)


#: graphs whose exact distances take no time
FIVE = {
    "web": web_like(3000, seed=1),
    "thin web": web_like(2000, seed=2, degree=1.5),
    "cycle": cycle(1000),
    "chain": chain(600),
    "star": star(2000),
}
SHARE = 0.9  # of pages: nearly all of those of a cycle are wrong together


def seeds_within(name: str, seeds: int, log2m: int) -> int:
    """For how many seeds pages are as wrong as is stated, at most."""
    csr = csr_of(FIVE[name])
    true = exact_distances(csr, 1)
    within = 0
    for seed in range(seeds):
        found = hyperball.solve(Problem(csr, Stop(), 1, MUCH), log2m, seed)
        eta = found.rounds[-1]["eta"]
        assert eta == 3 * 1.04 / 2 ** (log2m / 2)
        reached = true.harmonic > 0
        assert (found.scores[~reached] == 0).all()
        columns = (found.scores, true.harmonic), (found.more["reach"], true.reach)
        within += all(
            (np.abs(got - exact)[reached] <= eta * exact[reached]).mean() >= SHARE
            for got, exact in columns
        )
    return within


@pytest.mark.few(5)
@pytest.mark.parametrize("log2m", [6, 8])
@pytest.mark.parametrize("name", FIVE)
def test_errors_are_as_stated(name: str, log2m: int) -> None:
    assert seeds_within(name, 4, log2m) == 4


@pytest.mark.slow
@pytest.mark.parametrize("log2m", [6, 8, 10])
@pytest.mark.parametrize("name", FIVE)
def test_errors_are_as_stated_for_99_seeds_of_100(name: str, log2m: int) -> None:
    assert seeds_within(name, 100, log2m) >= 99


def wrong_by_sources(log2m: int, most: int, copies: int, seeds: int) -> list[int]:
    """Of the pages with each number of sources, 0 to most, how many have an error above the stated
    one. No two pages with the same number have a source in common."""
    pages = [(copy, number) for number in range(most + 1) for copy in range(copies)]
    links = [
        (len(pages) + copy * most + source, page)
        for page, (copy, number) in enumerate(pages)
        for source in range(number)
    ]
    csr = csr_of(graph_of(len(pages) + copies * most, links))
    exact = np.repeat(np.arange(most + 1), copies)
    wrong = np.zeros(most + 1, np.int64)
    for seed in range(seeds):
        found = hyperball.solve(Problem(csr, Stop(), 1, MUCH), log2m, seed)
        off = np.abs(found.scores[: len(pages)] - exact) > found.rounds[-1]["eta"] * exact
        wrong += off.reshape(-1, copies).sum(axis=1)
    numbers: list[int] = wrong.tolist()
    return numbers


@pytest.mark.parametrize("log2m", [6, 7, 8])
def test_errors_are_as_stated_for_pages_that_few_others_reach(log2m: int) -> None:
    wrong = wrong_by_sources(log2m, most=40, copies=100, seeds=5)
    assert max(wrong) <= 0.01 * 500
    few = hyperball.few(log2m)  # of which the page is one
    assert wrong[:few] == [0] * few


@pytest.mark.slow
@pytest.mark.parametrize("log2m", [6, 7, 8, 9, 10, 12, 14])
def test_errors_are_as_stated_for_any_number_of_sources(log2m: int) -> None:
    assert max(wrong_by_sources(log2m, most=200, copies=50, seeds=100)) <= 0.01 * 5000


def test_small_balls_are_exact_at_any_distance() -> None:
    """A chain whose pages have one source more each, up to the square root of the registers."""
    pages = hyperball.few(12)
    found = hyperball.solve(Problem(csr_of(chain(pages)), Stop(), 1, MUCH), 12, 0)
    exact = exact_distances(csr_of(chain(pages)), 1)
    assert found.scores == pytest.approx(exact.harmonic, rel=1e-14)
    assert found.more["reach"].tolist() == exact.reach.tolist() == list(range(pages))


@pytest.mark.few(1)
@pytest.mark.parametrize("log2m", [6, 10])
def test_counts_have_no_bias(log2m: int) -> None:
    """The mean over hashes is right to a tenth of the deviation, from one page to many."""
    pages = np.array([1, 10, 100, 1000, 10_000])
    links = [(len(pages) + other, page) for page, n in enumerate(pages) for other in range(n)]
    csr = csr_of(graph_of(len(pages) + int(pages[-1]), links))
    counts = np.zeros((200, len(pages)))
    for seed in range(len(counts)):
        found = hyperball.solve(Problem(csr, Stop(), 1, MUCH), log2m, seed)
        counts[seed] = found.more["reach"][: len(pages)]
    off, deviation = counts / pages - 1, hyperball.deviation(log2m)
    assert (np.abs(off.mean(axis=0)) < 4 * deviation / np.sqrt(len(counts))).all()
    assert (off.std(axis=0) < 1.2 * deviation).all()
    assert off.std(axis=0)[-1] > 0.8 * deviation


def test_threads_and_blocks_change_no_bit_of_an_estimate() -> None:
    csr = csr_of(FIVE["web"])
    one = hyperball.solve(Problem(csr, Stop(), 1, MUCH), 7, 3)
    other = hyperball.solve(Problem(csr, Stop(), 3, MUCH, block=500), 7, 3)
    assert one.scores.tolist() == other.scores.tolist()
    assert [row["mass"] for row in one.rounds] == [row["mass"] for row in other.rounds]
    another = hyperball.solve(Problem(csr, Stop(), 1, MUCH), 7, 4)
    assert one.scores.tolist() != another.scores.tolist()


def test_memory_says_how_many_registers() -> None:
    csr = csr_of(FIVE["web"])

    def log2m(bytes_a_page: int) -> int:
        budget = csr.nodes * (bytes_a_page + hyperball.ROW_BYTES)
        found: int = hyperball.affordable(csr.nodes, budget)
        return found

    assert [log2m(n) for n in (1, 128, 255, 256, 512, 10**6)] == [6, 6, 6, 7, 8, 8]
    wide = csr_of(star(20_000))
    with pytest.raises(BadInput, match="--memory"):
        hyperball.solve(Problem(wide, Stop(), 1, 1 << 20), 14, 0)


def test_rounds_that_are_too_few() -> None:
    """Each round finds paths of one link more. Nothing is known of what is not found."""
    csr, few = csr_of(chain(40)), Stop(max_rounds=5)
    found = hyperball.solve(Problem(csr, few, 1, MUCH), 12, 0)
    assert (len(found.rounds), found.rounds[-1]["eta"]) == (5, np.inf)
    assert not few.reached(found.rounds)
    assert "the error of the scores is not known yet" in str(few.not_converged(found.rounds))
    expected = sum(1 / d for d in range(1, 6))
    assert found.scores[-1] == pytest.approx(expected, rel=0.05)
    whole = hyperball.solve(Problem(csr, Stop(), 1, MUCH), 12, 0)
    assert Stop(iterations=1000).reached(whole.rounds)
    assert whole.rounds[-1]["confidence"] == 0.99


def test_a_graph_without_links() -> None:
    for inputs in ({}, {"log2m": 8}):
        solution = solved(graph_of(3, []), **inputs)
        assert solution.scores.tolist() == [0, 0, 0]
        assert Stop().reached(solution.rounds)
