"""Certificates: never exceeded, and not idle; against exact rational and dense solves."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import (
    NAMED,
    chain,
    clique,
    cycle,
    exact_scores,
    graph_of,
    graphs,
    rational_solution,
    scored,
    star,
    two_components,
    web_like,
)

from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.ranking.certificate import Certificate, certificate, inflow, residual


def true_errors(graph: Graph) -> tuple[Fraction, Fraction, Fraction]:
    """(l1, largest per score, of probabilities), exact."""
    exact = rational_solution(graph)
    x = [Fraction(value) for value in graph.scores.tolist()]
    gaps = [abs(a - b) for a, b in zip(x, exact, strict=True)]
    apart = [a / sum(x) - b / sum(exact) for a, b in zip(x, exact, strict=True)]
    relative = max(gap / b for gap, b in zip(gaps, exact, strict=True))
    return sum(gaps, Fraction()) / sum(x), relative, sum(map(abs, apart), Fraction())


def assert_holds(bounds: Certificate, errors: tuple[Fraction, Fraction, Fraction]) -> None:
    assert errors[0] <= Fraction(bounds.l1)
    assert errors[1] <= Fraction(bounds.eta)
    assert errors[2] <= Fraction(bounds.probability)


@settings(max_examples=examples(100), deadline=None)
@given(graphs(max_nodes=7), st.data())
def test_no_vector_is_further_off_than_its_certificate(graph: Graph, data: st.DataObject) -> None:
    scores = st.lists(st.floats(0.01, 50), min_size=graph.nodes, max_size=graph.nodes)
    ranks = scored(graph, data.draw(scores))
    assert_holds(certificate(ranks), true_errors(ranks))


@settings(max_examples=examples(100), deadline=None)
@given(graphs(max_nodes=7))
def test_rounding_is_allowed_for(graph: Graph) -> None:
    """The exact solution rounded to doubles is off by rounding only; so are the bounds."""
    ranks = scored(graph, [float(x) for x in rational_solution(graph)])
    bounds = certificate(ranks)
    assert_holds(bounds, true_errors(ranks))
    assert max(bounds.l1, bounds.probability) < 1e-13
    assert bounds.eta < 1e-12


@settings(max_examples=examples(100), deadline=None)
@given(graphs(max_nodes=7), st.data())
def test_residual_is_within_its_slack(graph: Graph, data: st.DataObject) -> None:
    scores = st.lists(st.floats(0.15, 1e6), min_size=graph.nodes, max_size=graph.nodes)
    x = np.array(data.draw(scores))
    r, slack = residual(graph, x)
    true = [Fraction(3, 20) - Fraction(value) for value in x.tolist()]
    for j in range(graph.nodes):
        targets = graph.targets[graph.offsets[j] : graph.offsets[j + 1]].tolist()
        for i in targets:
            true[i] += Fraction(17, 20) * Fraction(float(x[j])) / len(targets)
    for got, doubt, want in zip(r.tolist(), slack.tolist(), true, strict=True):
        assert abs(Fraction(got) - want) <= Fraction(doubt)


def test_closed_forms() -> None:
    """Cycle, clique: 1 everywhere. Star: leaves 0.15, centre 0.15 + 0.85 * 0.15 (n-1).
    Chain: a geometric sum. Two components: both cycles, 1 everywhere."""
    leaf, n = 0.15, 8
    steps = [leaf * sum(0.85**k for k in range(i + 1)) for i in range(6)]
    solved = [
        scored(cycle(7), np.ones(7)),
        scored(clique(5), np.ones(5)),
        scored(two_components(), np.ones(5)),
        scored(star(n), [leaf + 0.85 * leaf * (n - 1)] + [leaf] * (n - 1)),
        scored(chain(6), steps),
        scored(graph_of(3, []), [leaf] * 3),
    ]
    for ranks in solved:
        bounds = certificate(ranks)
        assert max(bounds.l1, bounds.eta, bounds.probability) < 1e-13
        assert bounds.l1 > 0


def test_start_scores_of_a_star() -> None:
    """x = 1: the residual of a leaf is 0.15 - 1, that of the centre 0.15 + 0.85 * 7 - 1."""
    bounds = certificate(scored(star(8), np.ones(8), dummy=1.0))
    assert bounds.eta == pytest.approx(5.1 / 0.15, rel=1e-8)
    assert bounds.l1 == pytest.approx((7 * 0.85 + 5.1) / (0.15 * 8), rel=1e-8)
    mean = (5.1 - 7 * 0.85) / 8
    spread = 7 * abs(-0.85 - mean) + (5.1 - mean)
    assert bounds.probability == pytest.approx(spread / (0.15 * 8), rel=1e-8)
    assert bounds.mass_error == 0


def test_mass_is_counted_with_dummy() -> None:
    assert certificate(scored(cycle(4), np.ones(4), dummy=1.5)).mass_error == pytest.approx(0.1)


@pytest.mark.parametrize("name", NAMED)
def test_the_dense_solve_is_certified(name: str) -> None:
    ranks = scored(NAMED[name], exact_scores(NAMED[name]))
    bounds = certificate(ranks)
    assert max(bounds.l1, bounds.eta, bounds.probability, bounds.mass_error) < 1e-12


def test_a_wrong_treatment_of_dangling_nodes_is_seen() -> None:
    """Scores that lose the dangling nodes' mass, renormalised, are no PageRank of these edges."""
    graph = web_like(200, seed=3)
    ranks = scored(graph, exact_scores(graph) * 1.01)
    assert certificate(ranks).eta > 0.009
    assert certificate(ranks).probability < 1e-12  # probabilities do not see a common factor


def test_many_blocks_sum_as_one() -> None:
    graph = web_like(500, seed=5)
    scores = np.random.default_rng(5).lognormal(0, 3, 500)
    whole, _ = inflow(graph, scores)
    parts, _ = inflow(graph, scores, block=1)
    sources = np.repeat(np.arange(500), graph.outdegrees)
    plain = np.zeros(500)
    np.add.at(plain, graph.targets, (scores / np.maximum(graph.outdegrees, 1))[sources])
    assert np.allclose(parts, plain, rtol=1e-12)
    assert np.array_equal(whole, parts)


def test_a_hub_of_many_small_shares_is_summed_without_drift() -> None:
    """100,000 leaves of score 0.1: naive sums of the shares drift, the split ones do not."""
    graph = star(100_001)
    scores = np.full(100_001, 0.1)
    flow, _ = inflow(graph, scores)
    assert flow[0] == float(100_000 * Fraction(0.1))
