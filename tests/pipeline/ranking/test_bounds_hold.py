"""Every bound that a ranking by PageRank reports, against solutions of twice the precision.

Graphs and weights are of the kinds on which bounds have been false: chains, stars, cliques with a
page without links, weights of one page or of many magnitudes, dampings near 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import chain, csr_of, star, web_like
from support.rankings.bound_cases import Case, cases, clique_with_end

from crawlrank.jobs.kernel.rank import packed_loops
from crawlrank.jobs.kernel.rank.equation import Equation
from crawlrank.jobs.kernel.rank.plain_round import DOUBT, UNIT, RoundSums, RoundTally, new_score
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.bounds import bounds_of
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.pagerank import kernels
from crawlrank.pipeline.ranking.pagerank import method as pagerank
from crawlrank.pipeline.ranking.pagerank.method import SUMS, divide, plain
from crawlrank.pipeline.ranking.pagerank.terms import WeightedLinks
from crawlrank.pipeline.ranking.solution import Problem

MUCH = 1 << 40
Long = np.longdouble


class Links(NamedTuple):
    sources: Any
    targets: Any
    shares: Any  # of what its source has, in long doubles


def links_of(case: Case, internal: float = 1.0, external: float = 1.0) -> Links:
    graph, hosts = case.graph, case.hosts
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    weight = np.ones(len(sources), Long)
    if (internal, external) != (1.0, 1.0):
        same = hosts[sources] == hosts[graph.targets]  # type: ignore[index]
        weight = np.where(same, Long(internal), Long(external))
    whole = np.zeros(graph.nodes, Long)
    np.add.at(whole, sources, weight)
    kept = whole[sources] > 0
    sources, targets, weight = sources[kept], graph.targets[kept], weight[kept]
    return Links(sources, targets, weight / whole[sources])


def exact(case: Case, links: Links) -> Any:
    """x = (1 - d) w + d A x in long doubles: the solution of doubles, refined until it stays."""
    d, n = Long(repr(case.damping)), case.graph.nodes
    base = (1 - d) * case.weights.astype(Long)
    matrix = np.eye(n)
    np.add.at(matrix, (links.targets, links.sources), -(d * links.shares).astype(float))
    inverse = np.linalg.inv(matrix)
    x = np.zeros(n, Long)
    for _ in range(30):
        image = base.copy()
        np.add.at(image, links.targets, d * links.shares * x[links.sources])
        x += inverse @ (image - x).astype(float)
    return np.maximum(x, 0)


def require_bounds(case: Case, links: Links, scores: Floats, entry: Round, slack: float) -> None:
    """slack: of the long doubles, and of bounds that are met exactly."""
    true, x = exact(case, links), scores.astype(Long)
    error = np.abs(x - true)
    assert error.sum() <= entry["certificate"] * x.sum() * (1 + slack)
    p, p_true = x / x.sum(), true / true.sum()
    assert np.abs(p - p_true).sum() <= entry["probability_certificate"] * (1 + slack) + slack / 100
    if np.isfinite(entry["eta"]):
        assert (error <= entry["eta"] * true * (1 + slack) + slack / 1e10 * true.max()).all()


def entry_of(sums: RoundSums) -> Round:
    names = ("certificate", "eta", "probability_certificate")
    return {name: getattr(sums, name) for name in names}


def by_tally(case: Case, rounds: int) -> tuple[Floats, Round]:
    """The rounds of the jobs, from their text: each sum by fsum, in two tallies."""
    equation, links = Equation(case.damping), links_of(case)
    x, dummy, shift = case.weights.copy(), 1.0, 0.0
    degrees = case.graph.outdegrees

    def score(contributions: list[float], weight: float) -> float:
        return new_score(contributions, equation, weight)

    for _ in range(rounds):
        incoming: list[list[float]] = [[] for _ in range(case.graph.nodes)]
        for source, target in zip(links.sources.tolist(), links.targets.tolist(), strict=True):
            incoming[target].append(float(x[source]) / int(degrees[source]))
        new = np.array([*map(score, incoming, case.weights.tolist())])
        next_dummy = new_score([dummy, *x[degrees == 0].tolist()], equation)
        sums = RoundSums()
        for half in range(2):
            tally = RoundTally(shift, equation)
            for i in range(half, len(x), 2):
                tally.add(float(x[i]), float(new[i]), int(degrees[i]), float(case.weights[i]))
            if half:
                tally.add_dummy(dummy, next_dummy)
            sums.merge(tally.sums())
        x, dummy, shift = new, next_dummy, sums.next_shift()
    return x, entry_of(sums)


def by_packed(case: Case, rounds: int) -> tuple[Floats, Round]:
    """The rounds of packed jobs, with one partition: rows of linking nodes come first."""
    graph, equation = case.graph, Equation(case.damping)
    order = np.argsort(graph.outdegrees == 0, kind="stable")
    csr, row_of = csr_of(graph), np.argsort(order)
    counts = np.diff(csr.offsets)[order].astype(np.uint32)
    starts = csr.offsets[:-1][order]
    flat = [row_of[csr.sources[a : a + c]] for a, c in zip(starts, counts, strict=True)]
    sources = np.concatenate([*flat, np.zeros(0)]).astype(np.uint32)
    linking = int((graph.outdegrees > 0).sum())
    degrees, weights = graph.outdegrees[order][:linking], case.weights[order]
    x, nothing = weights[:linking].copy(), np.zeros(graph.nodes)
    doubt = DOUBT + (max([*counts.tolist(), 1]) * UNIT) ** 2
    for _ in range(rounds):
        new, base = np.empty(graph.nodes), equation.base * weights
        found = packed_loops.image(
            counts, sources, x / degrees, x, nothing.copy(), nothing.copy(),
            base, equation.damping, doubt, 0.0, new,
        )  # fmt: skip
        named = dict(zip(SUMS, found, strict=True))
        sums = RoundSums(nodes=graph.nodes, damping=case.damping, **named)
        x = new[:linking].copy()
    return new[row_of], entry_of(sums)


def by_method(case: Case, stop: Stop, links: WeightedLinks | None = None) -> tuple[Floats, Round]:
    problem = Problem(csr_of(case.graph), stop, 2, MUCH, {"links": links})
    even = (case.weights == case.weights[0]).all()
    weights = None if even and case.weights[0] == 1 else case.weights
    solution = pagerank.solve(problem, Equation(case.damping), weights)
    return solution.scores, solution.rounds[-1]


WAYS: dict[str, Callable[[Case, int], tuple[Floats, Round]]] = {
    "rounds": lambda case, rounds: by_method(case, Stop(iterations=rounds)),
    "sweeps": lambda case, rounds: by_method(case, Stop(tolerance=1e-14, max_rounds=rounds)),
    "tally": by_tally,
    "packed": by_packed,
}
CLIQUE = Case(clique_with_end(200), 200 * np.eye(1, 200)[0], 0.85)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=examples(400))
@given(case=cases(), rounds=st.sampled_from([1, 2, 3, 10, 40, 150]))
@example(CLIQUE, 10)
@example(Case(chain(300), np.ones(300), 0.999), 150)
@example(Case(star(50), 50 * np.eye(1, 50, 7)[0], 0.5), 3)
def test_no_bound_is_violated(way: str, case: Case, rounds: int) -> None:
    scores, entry = WAYS[way](case, rounds)
    require_bounds(case, links_of(case), scores, entry, 1e-12)


@settings(max_examples=examples(500))
@given(
    case=cases(),
    rounds=st.sampled_from([1, 2, 10, 40, 150]),
    weights=st.sampled_from([(1.0, 3.0), (0.0, 1.0), (2.0, 0.0), (1e-6, 1e6), (0.1, 0.3)]),
)
@pytest.mark.slow
def test_no_bound_is_violated_with_weights_of_links(
    case: Case, rounds: int, weights: tuple[float, float]
) -> None:
    links = WeightedLinks(*weights, case.hosts)
    scores, entry = by_method(case, Stop(iterations=rounds), links)
    require_bounds(case, links_of(case, *weights), scores, entry, 1e-12)


def test_a_round_tells_what_its_vectors_are() -> None:
    """Each sum of a round of loops, by numpy, of a graph with weights of one magnitude and none."""
    rng = np.random.default_rng(1)
    graph = web_like(200, seed=2)
    weights = np.where(rng.random(graph.nodes) < 0.5, 0.0, rng.uniform(0.5, 2, graph.nodes))
    weights /= weights.mean()
    old, base, shift = rng.uniform(0.1, 3, graph.nodes), 0.15 * weights, 0.01
    csr, new, y = csr_of(graph), old.copy(), np.empty(graph.nodes)
    divide(old, csr.outdegrees, y, 0, graph.nodes)
    of_graph = (csr.offsets, csr.sources, csr.outdegrees, base, 0.85, y, new, shift / 0.15)
    told = dict(zip(SUMS, plain(*of_graph, 0, graph.nodes), strict=True))
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    inflow = np.bincount(graph.targets, old[sources] / graph.outdegrees[sources], graph.nodes)
    assert new == pytest.approx(base + 0.85 * inflow, rel=1e-13)
    r = new - old
    assert told == pytest.approx(
        {
            "old_l1": old.sum(),
            "new_l1": new.sum(),
            "residual_sum": r.sum(),
            "residual_l1": np.abs(r).sum(),
            "residual_max": np.abs(r).max(),
            "relative_max": np.inf,
            "share_max": (np.abs(r) / old).max(),
            "least": old.min(),
            "shifted_l1": np.abs(r - shift * weights).sum(),
            "dangling_new": new[graph.outdegrees == 0].sum(),
        },
        rel=1e-12,
    )


def test_residuals_deviate_from_a_multiple_of_the_weights() -> None:
    r, weights = np.array([1.0, -2.0, 4.0, 8.0]), np.array([0.5, 0.0, 3.0, 0.5])
    assert kernels.deviation(r, weights, 2.0, 0, 4) == 0 + 2 + 2 + 7
    assert kernels.deviation(r, weights, 2.0, 1, 3) == 2 + 2
    assert kernels.deviation(r, np.ones(1), 2.0, 0, 4) == 1 + 4 + 2 + 6


@given(st.floats(0, 1e300) | st.just(math.inf))
def test_a_bound_in_the_unit_of_scores_does_not_tell_how_it_was_summed(sum_: float) -> None:
    """Sums of the sums of tasks differ in their last digits: the bound has three."""
    _, bound = bounds_of({"eta": math.inf, "absolute": sum_})
    assert sum_ <= bound <= sum_ * 1.01
    assert bound == float(f"{bound:.2e}")
