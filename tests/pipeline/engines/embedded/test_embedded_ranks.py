"""PageRank on a Csr: against math.fsum, exact rational solves, networkx and closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import (
    NAMED,
    chain,
    csr_of,
    cycle,
    exact_scores,
    graph_of,
    graphs,
    ldbc,
    rational_solution,
    saved,
    solved_scores,
    star,
    untimed,
    web_like,
    write_graph,
)
from support.paths import DATA
from support.systems.cluster import inline

from crawlrank.jobs.kernel.errors import JobFailed
from crawlrank.jobs.kernel.rank.equation import Equation
from crawlrank.jobs.kernel.rank.plain_round import new_score
from crawlrank.pipeline.data.csr import BLOCK
from crawlrank.pipeline.data.graph import Graph, read_graph
from crawlrank.pipeline.engines.text.rounds import rank as rank_by_jobs
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.pagerank.method import solve
from crawlrank.pipeline.ranking.solution import Problem, Solution

MUCH = 1 << 40
WEB, MIDDLE, SMALL = (web_like(nodes, seed=3) for nodes in (2000, 500, 200))


def by_fsum(graph: Graph, rounds: int) -> tuple[list[float], float]:
    """Scores and dummy's after plain rounds of lists and math.fsum, as the jobs make them."""
    scores, dummy = [1.0] * graph.nodes, 1.0
    targets = np.split(graph.targets, graph.offsets[1:-1])
    for _ in range(rounds):
        given: list[list[float]] = [[] for _ in range(graph.nodes)]
        to_dummy = [dummy]
        for score, of in zip(scores, targets, strict=True):
            if not len(of):
                to_dummy.append(score)
            for target in of.tolist():
                given[target].append(score / len(of))
        scores, dummy = [new_score(values) for values in given], new_score(to_dummy)
    return scores, dummy


def swept(graph: Graph, tolerance: float = 1e-9, threads: int = 2, budget: int = MUCH) -> Solution:
    # a ring across threads shrinks by 0.85 a sweep: 1e-13 may take more than the usual 200
    return solve(Problem(csr_of(graph), Stop(tolerance=tolerance, max_rounds=400), threads, budget))


@settings(max_examples=examples(150))
@given(graphs(), st.integers(1, 6), st.integers(1, 3))
def test_plain_rounds_are_those_of_fsum(graph: Graph, rounds: int, threads: int) -> None:
    got = solve(Problem(csr_of(graph), Stop(iterations=rounds), threads, 0))
    assert (got.scores.tolist(), got.dummy) == by_fsum(graph, rounds)


def test_plain_rounds_are_those_of_the_jobs(tmp_path: Path) -> None:
    """They have the same bits, dummy's too, and the same entries but for how their sums were
    rounded."""
    graph = web_like(300, seed=8)
    (tmp_path / "tmp").mkdir()
    jobs = (write_graph(graph, tmp_path / "pr0.txt"), tmp_path / "rounds", inline(tmp_path / "tmp"))
    last, told = rank_by_jobs(*jobs, Stop(iterations=4))
    wanted = read_graph(last)
    got = solve(Problem(csr_of(graph), Stop(iterations=4), 2, 0))
    assert got.scores.tolist() == wanted.scores.tolist()
    assert got.dummy == wanted.dummy
    for mine, theirs in zip(untimed(got.rounds), untimed(told), strict=True):
        assert mine == pytest.approx(theirs, rel=1e-12)


def test_published_probabilities() -> None:
    """LDBC's, converged, with dangling nodes."""
    got = swept(ldbc("pr__dir"), 1e-12).scores
    lines = (DATA / "pagerank" / "pr__dir-output").read_text().splitlines()
    published = {int(node): float(value) for node, value in map(str.split, lines)}
    wanted = [published[node] for node in sorted(published)]
    assert got / got.sum() == pytest.approx(wanted, rel=0, abs=1e-11)


@pytest.mark.parametrize("ids", [np.uint32, np.uint64])
@pytest.mark.parametrize("block", [1, 100, BLOCK])
@pytest.mark.few(1)
def test_blocks_and_widths_change_no_bit(ids: type, block: int) -> None:
    graph = SMALL if block == 1 else WEB
    got = solve(Problem(csr_of(graph, ids), Stop(iterations=5), 2, 0, block=block))
    assert (got.scores.tolist(), got.dummy) == by_fsum(graph, 5)


def errors(graph: Graph, scores: list[float]) -> tuple[Fraction, Fraction, Fraction]:
    """(l1, largest per score, of probabilities), exact."""
    exact, x = rational_solution(graph), list(map(Fraction, scores))
    gaps = [abs(a - b) for a, b in zip(x, exact, strict=True)]
    apart = [abs(a / sum(x) - b / sum(exact)) for a, b in zip(x, exact, strict=True)]
    each = max(gap / b for gap, b in zip(gaps, exact, strict=True))
    return sum(gaps, Fraction()) / sum(x), each, sum(apart, Fraction())


NAMES = ("certificate", "eta", "probability_certificate")


@settings(max_examples=examples(150))
@given(graphs(max_nodes=7), st.integers(1, 3), st.sampled_from([1e-2, 1e-6, 1e-9, 1e-13]))
def test_certificates_hold(graph: Graph, threads: int, tolerance: float) -> None:
    got = swept(graph, tolerance, threads)
    last = got.rounds[-1]
    assert last["verified"]
    assert last["certificate"] <= tolerance
    for name, error in zip(NAMES, errors(graph, got.scores.tolist()), strict=True):
        assert error <= Fraction(last[name])
    assert got.dummy + math.fsum(got.scores) == pytest.approx(graph.nodes + 1, rel=1e-14)


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(graphs(max_nodes=7), st.integers(1, 3), st.integers(1, 12))
def test_every_sweep_tells_the_truth(graph: Graph, threads: int, sweeps: int) -> None:
    """The coarse bounds of a sweep hold for the scores that it leaves, as the last pass does."""
    told: list[Round] = []

    def remember(entry: Round, rounds: list[Round], state: Any) -> None:
        told.append(dict(entry))

    solve(
        Problem(
            csr_of(graph),
            Stop(tolerance=1e-30, max_rounds=sweeps + 1),
            threads,
            MUCH,
            on_round=remember,
        )
    )
    for allowed in range(1, sweeps + 1):
        got = solve(
            Problem(csr_of(graph), Stop(tolerance=1e-30, max_rounds=allowed), threads, MUCH)
        )
        for name, error in zip(NAMES, errors(graph, got.scores.tolist()), strict=True):
            assert error <= Fraction(told[allowed - 1][name])
            assert error <= Fraction(got.rounds[-1][name])


def networkx_of(graph: Graph) -> nx.DiGraph:
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    net = nx.DiGraph()
    net.add_nodes_from(range(graph.nodes))
    net.add_edges_from(zip(sources.tolist(), graph.targets.tolist(), strict=True))
    return net


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_networkx_agrees(threads: int) -> None:
    want = nx.pagerank(networkx_of(WEB), alpha=0.85, tol=1e-14, max_iter=500)
    got = swept(WEB, 1e-12, threads).scores
    assert got / got.sum() == pytest.approx([want[i] for i in range(WEB.nodes)], rel=1e-8)


TO, AFTER = Stop(tolerance=1e-12), Stop(iterations=150)
#: every pair of two values; all products are slow
PAIRS = {
    (0.5, 0, 0, TO), (0.5, 3, MUCH, AFTER), (0.85, 0, MUCH, AFTER),
    (0.85, 3, 0, TO), (0.9, 0, MUCH, TO), (0.9, 3, 0, AFTER),
}  # fmt: skip


@pytest.mark.parametrize(
    ("damping", "seeds", "budget", "stop"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (case not in PAIRS))
        for case in product((0.5, 0.85, 0.9), (0, 3), (0, MUCH), (TO, AFTER))
    ],
)
def test_networkx_agrees_on_other_dampings_and_teleports(
    damping: float, seeds: int, budget: int, stop: Stop
) -> None:
    """seeds: the reader starts anew at these pages only; 0: at all of them."""
    web = MIDDLE if (damping, seeds, budget, stop) in PAIRS else WEB
    nodes = web.nodes
    weights = np.zeros(nodes)
    weights[: seeds or None] = nodes / (seeds or nodes)
    equation, every = Equation(damping), weights if seeds else None
    got = solve(Problem(csr_of(web), stop, 2, budget), equation, every)
    teleport = {node: float(weight) for node, weight in enumerate(weights) if weight}
    want = nx.pagerank(networkx_of(web), damping, teleport, tol=1e-14, max_iter=2000)
    probabilities = got.scores / got.scores.sum()
    away = math.fsum(abs(probabilities[node] - wanted) for node, wanted in want.items())
    assert away <= got.rounds[-1]["probability_certificate"] + 1e-10
    assert away < 1e-6
    assert got.scores.sum() + got.dummy == pytest.approx(nodes + 1, rel=1e-12)
    eta, exact = got.rounds[-1]["eta"], solved_scores(web, equation, weights)
    assert 0 < eta < 1e-5
    assert (abs(got.scores - exact) <= (eta + 1e-13) * exact).all()
    assert ((got.scores == 0) == (exact == 0)).all()


@pytest.mark.parametrize("budget", [0, MUCH])
@pytest.mark.parametrize("name", NAMED)
def test_named_graphs(name: str, budget: int) -> None:
    got = swept(NAMED[name], 1e-12, 2, budget)
    assert got.scores == pytest.approx(exact_scores(NAMED[name]), rel=1e-11)


def test_closed_forms() -> None:
    """Cycle: 1 everywhere. Star: leaves 0.15, the centre what they give. Chain: a geometric sum."""
    assert swept(cycle(9)).scores == pytest.approx(np.ones(9), rel=1e-9)
    assert swept(star(8)).scores == pytest.approx([0.15 + 0.85 * 0.15 * 7] + [0.15] * 7, rel=1e-12)
    sums = [0.15 * (1 - 0.85 ** (k + 1)) / 0.15 for k in range(6)]
    assert swept(chain(6)).scores == pytest.approx(sums, rel=1e-9)


def test_a_slow_mode_is_gone_at_once() -> None:
    """Pairs that differ only shrink by 0.85^2 a sweep; two more leaves start them off unequal."""
    pairs = [(2 * k, 2 * k + 1) for k in range(50)] + [(2 * k + 1, 2 * k) for k in range(50)]
    graph = graph_of(101, [*pairs, (100, 0), (100, 10)])
    got = swept(graph, 1e-12, 1)
    assert any(entry["factor"] for entry in got.rounds)
    assert len(got.rounds) < math.log(1e-12) / math.log(0.85**2) / 2
    assert got.scores == pytest.approx(exact_scores(graph), rel=1e-11)


def test_steps_that_alternate_are_not_followed() -> None:
    """Two threads that wait for each other: differences shrink by one ratio, signs change."""
    got = swept(graph_of(3, [(0, 1), (0, 2), (1, 2), (2, 0)]), 1e-9, 2)
    assert not any(entry["factor"] for entry in got.rounds)


def test_threads_agree_within_their_certificates() -> None:
    got = [swept(WEB, threads=threads) for threads in (1, 2, 3)]
    for one in got:
        for other in got:
            assert_near(one, other)


def assert_near(one: Solution, other: Solution) -> None:
    allowed = one.rounds[-1]["certificate"] + other.rounds[-1]["certificate"]
    assert np.abs(one.scores - other.scores).sum() <= allowed * one.scores.sum()


def assert_same(one: Solution, other: Solution) -> None:
    assert one.scores.tolist() == other.scores.tolist()
    assert one.dummy == other.dummy
    assert untimed(one.rounds) == untimed(other.rounds)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("block", [64, BLOCK])
@pytest.mark.parametrize("ids", [np.uint32, pytest.param(np.uint64, marks=pytest.mark.slow)])
@pytest.mark.few(3)
def test_a_number_of_threads_gives_one_result(ids: type, threads: int, block: int) -> None:
    """Also with wider ids. Without memory for compact rows it is another one, as near as the
    certificates say."""

    def solved(ids: type, budget: int) -> Solution:
        stop = Stop(tolerance=1e-9)
        return solve(Problem(csr_of(MIDDLE, ids), stop, threads, budget, block=block))

    compact, streamed = (solved(np.uint32, budget) for budget in (MUCH, 0))
    assert_same(compact, solved(ids, MUCH))
    assert_same(streamed, solved(ids, 0))
    assert_near(compact, streamed)


def test_more_threads_than_rows() -> None:
    graph = graph_of(3, [(0, 1), (1, 0)])
    assert swept(graph, threads=5).scores == pytest.approx([1, 1, 0.15], rel=1e-9)


def test_a_mapped_graph_is_read_and_let_go(tmp_path: Path) -> None:
    mapped = saved(csr_of(WEB), tmp_path / "graph")
    for budget in (0, MUCH):
        want = swept(WEB, budget=budget)
        assert_same(want, solve(Problem(mapped, Stop(tolerance=1e-9), 2, budget)))
    got = solve(Problem(mapped, Stop(iterations=4), 2, 0))
    assert (got.scores.tolist(), got.dummy) == by_fsum(WEB, 4)


def test_entries_are_those_of_the_jobs() -> None:
    """A plain round on a cycle: nothing changes, so all there is is rounding."""
    (entry,) = solve(Problem(csr_of(cycle(5)), Stop(iterations=1), 1, 0)).rounds
    assert entry["nodes"] == entry["edges"] == 5
    assert (entry["round"], entry["dangling"], entry["mass"]) == (1, 0, 6.0)
    assert 0 < entry["certificate"] < 1e-13
    (told, *_) = swept(star(8)).rounds
    assert (told["round"], told["nodes"], told["edges"], told["dangling"]) == (1, 8, 7, 1)
    assert set(entry) - {"next_shift"} <= set(told)


def test_lost_mass_is_noticed() -> None:
    """By outdegrees of more links than there are."""
    csr = csr_of(WEB)
    with pytest.raises(JobFailed, match="lost mass"):
        solve(Problem(replace(csr, outdegrees=2 * csr.outdegrees), Stop(iterations=2), 2, 0))
