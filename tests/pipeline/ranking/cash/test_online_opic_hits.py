"""OPIC of two kinds of cash: against dense linear algebra, closed forms and cash moved by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.graphs import NAMED, csr_of, cycle, graph_of, graphs, star, web_like

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.ranking.cash.opic_hits_cycles import factors, parts_of, solve
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.solution import Problem, Solution, State

FINE = Stop(tolerance=1e-11)
WEB = web_like(120, seed=4)
TOY = graph_of(4, [(0, 1), (1, 3), (2, 0), (2, 1), (2, 3)])


def ranked(graph: Graph, weights: Floats | None = None, stop: Stop = FINE, **more: Any) -> Solution:
    return solve(Problem(csr_of(graph), stop, 2, 1 << 40, {"weights": weights}, **more))


def payments(graph: Graph, relevance: Floats) -> Floats:
    """What each kind of cash of each page becomes, column by column: a dense matrix of N
    authorities, the virtual page as one, N hubs, the virtual page as one."""
    n = graph.nodes
    matrix = np.zeros((2 * n + 2, 2 * n + 2))
    hub = n + 1
    for page in range(n):
        targets = graph.targets[graph.offsets[page] : graph.offsets[page + 1]]
        for payee in [*targets.tolist(), n]:
            matrix[payee, hub + page] = 1 / (len(targets) + 1)
        parents = np.flatnonzero([page in graph.targets[graph.offsets[j] : graph.offsets[j + 1]]
                                  for j in range(n)])  # fmt: skip
        r, p = relevance[page], len(parents)
        for parent in parents:
            z = 2 * r / p * (2 * p / (p + 1) * (1 - r) + (r - 0.5))
            matrix[hub + parent, page] = min(z, 1 / p)
        matrix[hub + n, page] = 1 - matrix[hub : hub + n, page].sum()
    matrix[hub : hub + n, n] = 1 / n
    matrix[:n, hub + n] = 1 / n
    return matrix


def kept_by(matrix: Floats) -> tuple[Floats, Floats]:
    """The vector that the matrix keeps, as authorities and hubs, with the virtual page last of
    each, on the scale on which that pays each page 1 as an authority."""
    size = len(matrix)
    system = np.vstack([matrix - np.eye(size), np.ones(size)])
    x, *_ = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)
    n = size // 2 - 1
    x *= n / x[-1]
    return x[: n + 1], x[n + 1 :]


def some_relevance(graph: Graph, seed: int = 1) -> Floats:
    return np.random.default_rng(seed).choice([0.0, 0.1, 0.5, 0.8, 1.0], graph.nodes)


@pytest.mark.parametrize("graph", [TOY, WEB, star(8), cycle(5)], ids=["toy", "web", "star", "ring"])
@pytest.mark.parametrize("kind", ["none", "half", "low", "mixed"])
def test_linear_algebra_agrees(graph: Graph, kind: str) -> None:
    n = graph.nodes
    relevance = {"low": np.full(n, 0.2), "mixed": some_relevance(graph)}.get(kind, np.full(n, 0.5))
    solution = ranked(graph, None if kind == "none" else relevance)
    authorities, hubs = kept_by(payments(graph, relevance))
    got = np.append(solution.scores, solution.dummy)
    assert got == pytest.approx(authorities, rel=1e-8)
    assert solution.more["hubs"] == pytest.approx(hubs[:-1], rel=1e-8)


@pytest.mark.parametrize("name", NAMED)
def test_a_score_is_1_and_what_hubs_give(name: str) -> None:
    graph = NAMED[name]
    solution = ranked(graph)
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    given_by = solution.more["hubs"][sources] / (graph.outdegrees[sources] + 1)
    sums = 1 + np.bincount(graph.targets, given_by, graph.nodes)
    assert solution.scores == pytest.approx(sums, rel=1e-9)


@pytest.mark.slow
@given(graphs(max_nodes=8), st.integers(0, 100))
def test_certificate_and_eta_bound_the_error(graph: Graph, seed: int) -> None:
    relevance = some_relevance(graph, seed)
    fully = (relevance == 1) | (relevance == 0.8) & (graph.indegrees > 3)
    assume(graph.edges and not fully[graph.indegrees > 0].all())
    want = kept_by(payments(graph, relevance))[0][:-1]
    for cycles in (1, 3, 6, 20):
        solution = ranked(graph, relevance, Stop(iterations=cycles))
        last, error = solution.rounds[-1], np.abs(solution.scores - want)
        assert error.sum() <= (last["certificate"] + 1e-9) * solution.scores.sum()
        assert (error <= (last["eta"] + 1e-9) * want).all()
        p, q = solution.scores / solution.scores.sum(), want / want.sum()
        assert np.abs(p - q).sum() <= last["probability_certificate"] + 1e-9


def test_the_certificate_says_something() -> None:
    want = kept_by(payments(WEB, np.full(WEB.nodes, 0.5)))[0][:-1]
    solution = ranked(WEB, None, Stop(iterations=12))
    error = np.abs(solution.scores - want).sum() / want.sum()
    assert error < solution.rounds[-1]["certificate"] < 1e4 * error


@pytest.mark.parametrize("cycles", [1, 2, 4])
def test_cycles_move_cash_from_page_to_page(cycles: int) -> None:
    """By the dense matrix, one page after the other, and the virtual page after each."""
    relevance, n = some_relevance(TOY), TOY.nodes
    matrix, hub = payments(TOY, relevance), TOY.nodes + 1
    cash = np.full(2 * n + 2, 0.5 / n)
    cash[n] = cash[-1] = 0.0
    last = np.zeros(n)
    for _ in range(cycles):
        for page in range(n):
            last[page] = cash[page]
            for state in (page, hub + page, n, 2 * n + 1):
                held, cash[state] = cash[state], 0.0
                cash += held * matrix[:, state]
    scores = ranked(TOY, relevance, Stop(iterations=cycles)).scores
    assert scores / scores.sum() == pytest.approx(last / last.sum(), rel=1e-12)


def test_aggregation_undoes_what_was_done_to_groups() -> None:
    """The cash is exact, with authorities, hubs without links and hubs with links scaled."""
    n, idle = WEB.nodes, WEB.outdegrees == 0
    matrix = payments(WEB, np.full(n, 0.5))
    authorities, hubs = kept_by(matrix)
    authority, hub = 2.0 * authorities[:-1], np.where(idle, 0.3, 5.0) * hubs[:-1]
    sums = float(authority.sum()), float(hub[idle].sum()), float(hub[~idle].sum())
    gifts = float(matrix[-1, :n] @ authority), float(matrix[n, n + 1 : -1] @ hub)
    got = np.array(factors(sums, gifts, float(idle.mean())))
    assert got * [2.0, 0.3, 5.0] == pytest.approx(np.full(3, got[0] * 2), rel=1e-9)
    assert got @ sums == pytest.approx(sum(sums))


def test_aggregation_leaves_what_it_cannot_solve() -> None:
    assert factors((0.0, 1.0, 1.0), (0.0, 1.0), 0.5) == (1.0, 1.0, 1.0)
    assert factors((1.0, 0.0, 1.0), (1.0, 1.0), 0.0) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("n", [2, 3, 10])
def test_closed_forms(n: int) -> None:
    """On a ring every page has one parent and one target: both kinds of cash are 1 + half of the
    other. On a star of n - 1 leaves, the centre has a and a leaf h, and both kinds of gifts are:
    a = 1 + (n - 1) h / 2, h = w + a / n, N w = (n - 1) h / 2 + w."""
    assert ranked(cycle(n)).scores == pytest.approx(np.full(n, 2.0), rel=1e-9)
    assert ranked(cycle(n)).more["hubs"] == pytest.approx(np.full(n, 2.0), rel=1e-9)
    unknown = np.array([[1, -(n - 1) / 2, 0], [-1 / n, 1, -1], [0, -(n - 1) / 2, n - 1]])
    a, h, w = np.linalg.solve(unknown, [1, 0, 0])
    solution = ranked(star(n))
    assert solution.scores == pytest.approx([a] + [1.0] * (n - 1), rel=1e-9)
    assert solution.more["hubs"] == pytest.approx([w] + [h] * (n - 1), rel=1e-9)


def test_the_part_of_parents_is_that_of_the_source() -> None:
    """z(0) = 0, z(1) = 1/P, z(1/2) = 1/(P + 1), and never more than there is."""
    parents = np.array([1, 2, 3, 10, 1000])
    assert (parts_of(np.zeros(5), parents) == 0).all()
    assert parts_of(np.ones(5), parents) == pytest.approx(1 / parents)
    assert parts_of(np.full(5, 0.5), parents) == pytest.approx(1 / (parents + 1))
    for relevance in np.linspace(0, 1, 41):
        given_away = parts_of(np.full(5, relevance), parents) * parents
        assert (given_away <= 1 + 1e-15).all()
    assert (parts_of(np.ones(2), np.array([0, 0])) == 0).all()


def test_relevance_0_of_all_makes_all_alike() -> None:
    """No authority pays a hub, so all hub cash ends with the virtual page."""
    solution = ranked(WEB, np.zeros(WEB.nodes))
    authorities, hubs = kept_by(payments(WEB, np.zeros(WEB.nodes)))
    assert [*solution.scores, solution.dummy] == pytest.approx(authorities, abs=1e-9)
    assert solution.more["hubs"] == pytest.approx(hubs[:-1], abs=1e-9)
    assert (solution.scores == 1).all()


def test_a_crawl_with_a_wide_edge_converges() -> None:
    """20 pages with links and 2,000 without; cycles alone bring the residual down by 2% each."""
    n, rng = 2020, np.random.default_rng(3)
    pairs = np.column_stack([rng.integers(20, size=4000), rng.integers(n, size=4000)]).tolist()
    graph = graph_of(n, ((s, t) for s, t in pairs if s != t))
    solution = ranked(graph, None, Stop(tolerance=1e-9, max_rounds=60))
    assert solution.rounds[-1]["certificate"] <= 1e-9
    assert ranked(graph, None, Stop(iterations=60)).rounds[-1]["certificate"] > 1e-3
    sources = np.repeat(np.arange(n), graph.outdegrees)
    hubs, u = solution.more["hubs"], graph.indegrees + 1
    back = np.bincount(sources, (solution.scores / u)[graph.targets], n)
    assert hubs - hubs[-1] == pytest.approx(back - back[-1], rel=1e-6, abs=1e-6)


def test_links_to_a_relevant_page_make_a_better_hub() -> None:
    """Two hubs with two targets each, alike but for the relevance of these."""
    graph = graph_of(6, [(0, 2), (0, 3), (1, 4), (1, 5)])
    solution = ranked(graph, np.array([0.5, 0.5, 0.9, 0.9, 0.1, 0.1]))
    hubs = solution.more["hubs"]
    assert hubs[0] > 1.5 * hubs[1]
    assert solution.scores[2] > solution.scores[4]


def test_a_link_farm_pays_itself_unless_it_is_not_relevant() -> None:
    """30 fans and their target link to each other. Without relevance the target has 31 and a page
    of the ring of 3 links each has 4. With relevance 0 for the farm, no fan is a better hub than a
    page without links; what the target keeps is what the fans have of the virtual page."""
    good, fans = 20, 30
    edges = [(i, (i + k) % good) for i in range(good) for k in (1, 2, 5)]
    farm = range(good + 1, good + 1 + fans)
    edges += [(fan, good) for fan in farm] + [(good, fan) for fan in farm]
    graph = graph_of(good + 1 + fans, edges)
    plain = ranked(graph).scores
    known = ranked(graph, np.where(np.arange(graph.nodes) < good, 0.9, 0.0))
    assert plain[[good, 0]] == pytest.approx([31.0, 4.0], rel=1e-9)
    hubs = known.more["hubs"]
    assert hubs[good + 1] == pytest.approx(hubs.min(), rel=1e-9)
    assert known.scores[good] == pytest.approx(1 + fans * hubs.min() / 2, rel=1e-9)
    assert known.scores[good] < 3 * known.scores[0]


@pytest.mark.parametrize("wrong", [-0.1, 1.1, np.nan, np.inf])
def test_relevance_that_is_none(wrong: float) -> None:
    with pytest.raises(BadInput, match="from 0 to 1"):
        ranked(cycle(3), np.array([0.5, wrong, 0.5]))


def test_pages_that_keep_nothing_back_are_refused() -> None:
    """The virtual page would have no authority cash, against which scores are measured."""
    with pytest.raises(BadInput, match="less relevance"):
        ranked(cycle(3), np.ones(3))
    assert ranked(cycle(3), np.array([1.0, 1.0, 0.9])).rounds[-1]["certificate"] <= 1e-11


def test_graphs_without_links_or_pages() -> None:
    assert (ranked(graph_of(3, [])).scores == 1).all()
    assert len(ranked(graph_of(0, [])).scores) == 0


@pytest.mark.parametrize("stop", [FINE, Stop(iterations=9)], ids=str)
def test_an_interrupted_ranking_ends_the_same(stop: Stop) -> None:
    states: list[State] = []

    def keep(entry: object, rounds: list[Any], state: Any) -> None:
        states.append(State(state().vector.copy(), state().dummy, list(rounds)))

    whole = ranked(WEB, None, stop, on_round=keep)
    again = ranked(WEB, None, stop, state=states[len(states) // 2])
    assert (again.scores == whole.scores).all()
    assert (again.more["hubs"] == whole.more["hubs"]).all()
    assert len(again.rounds) == len(whole.rounds) > len(states) // 2 + 1
