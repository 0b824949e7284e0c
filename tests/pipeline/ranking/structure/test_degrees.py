"""Degrees, reciprocity and the Gini coefficient against closed forms, networkx and definitions."""

from __future__ import annotations

import math
import statistics
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import ID_TYPES
from support.graphs import chain, clique, csr_of, cycle, graph_of, graphs, star, web_like
from support.mapped import mapped

from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.ranking.structure.degrees import (
    Degrees,
    gini,
    indegrees,
    outdegrees,
    reciprocity,
)

EMPTY = Csr(np.zeros(1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint32))


def check(summary: Degrees, counts: list[int]) -> None:
    """What it says of these degrees, by definition."""
    values, shares = summary.distribution
    assert len(values) <= 200
    for value, share in zip(values.tolist(), shares.tolist(), strict=True):
        assert share == sum(count >= value for count in counts) / len(counts)
    assert (values[0], values[-1]) == (min(counts), max(counts))
    assert summary.mean == pytest.approx(statistics.fmean(counts))
    assert summary.median == statistics.median(counts)
    assert (summary.largest, summary.zeros) == (max(counts), counts.count(0))
    best = sorted(counts)[-math.ceil(len(counts) / 100) :]
    assert summary.top_share == (sum(best) / sum(counts) if any(counts) else 0)


@given(graphs(), st.integers(1, 3), st.sampled_from(ID_TYPES))
def test_degrees_of_small_graphs(graph: Graph, piece: int, ids: type) -> None:
    csr = csr_of(graph, ids)
    check(indegrees(csr, piece), np.bincount(graph.targets, minlength=graph.nodes).tolist())
    check(outdegrees(csr), graph.outdegrees.tolist())
    assert csr.outdegrees.tolist() == graph.outdegrees.tolist()  # still in their order


@pytest.mark.slow
def test_degrees_of_a_larger_graph_with_hubs() -> None:
    graph = web_like(20_050, seed=6, degree=40)
    counts = np.bincount(graph.targets, minlength=graph.nodes)
    assert len(np.unique(counts)) > 300  # more than there are points
    check(indegrees(csr_of(graph)), counts.tolist())
    assert indegrees(csr_of(graph)).top_share > 0.1


def test_degrees_of_a_star() -> None:
    """999 leaves: the one page that the top hundredth of 1,000 has links to has all."""
    inward, outward = indegrees(csr_of(star(1_000))), outdegrees(csr_of(star(1_000)))
    assert inward.distribution.values.tolist() == [0, 999]
    assert inward.distribution.shares.tolist() == [1, 0.001]
    assert (inward.mean, inward.median, inward.zeros, inward.top_share) == (0.999, 0, 999, 1)
    assert (outward.mean, outward.median, outward.zeros) == (0.999, 1, 1)
    assert outward.top_share == pytest.approx(10 / 999)


def test_without_nodes_or_links() -> None:
    for csr in (EMPTY, csr_of(graph_of(4, []))):
        for summary in (indegrees(csr), outdegrees(csr)):
            assert (summary.mean, summary.median, summary.largest) == (0, 0, 0)
            assert (summary.zeros, summary.top_share) == (csr.nodes, 0)
        assert reciprocity(csr) == 0


@pytest.mark.parametrize(
    ("graph", "share"),
    [
        (clique(5), 1),
        (cycle(2), 1),
        (cycle(7), 0),
        (star(6), 0),
        (chain(6), 0),
        (graph_of(4, [(0, 1), (1, 0), (2, 3), (3, 0)]), 0.5),
    ],
)
def test_reciprocity_of_named_graphs(graph: Graph, share: float) -> None:
    assert reciprocity(csr_of(graph)) == share


@pytest.mark.slow
@given(graphs(), st.integers(1, 2), st.sampled_from(ID_TYPES))
def test_reciprocity_is_networkxs(graph: Graph, threads: int, ids: type) -> None:
    net = nx.DiGraph()
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    net.add_edges_from(zip(sources.tolist(), graph.targets.tolist(), strict=True))
    want = nx.overall_reciprocity(net) if net.size() else 0
    assert reciprocity(csr_of(graph, ids), threads) == want


def test_mapped_links_are_let_go_of_and_give_the_same(tmp_path: Path) -> None:
    held = csr_of(web_like(5_000, seed=9))
    csr, links = mapped(held, tmp_path / "graph")
    assert reciprocity(csr) == reciprocity(held) > 0
    assert links.released == [(0, len(links))] * 2  # wherever it looked; and the block of all nodes
    for summary in (indegrees, outdegrees):
        one, other = summary(held), summary(csr)
        assert np.array_equal(one.distribution.shares, other.distribution.shares)
        assert (one.median, one.top_share) == (other.median, other.top_share)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.integers(1, 4))
def test_gini_is_half_the_relative_mean_difference(scores: list[float], piece: int) -> None:
    """Another formula: the mean of |x - y| over all pairs, by twice the mean."""
    values = np.array(scores)
    apart = np.abs(values[:, None] - values).mean()
    coefficient = gini(values, piece)
    want = apart / (2 * values.mean()) if values.any() else 0
    assert coefficient == pytest.approx(want, rel=1e-9, abs=1e-12)
    assert values.tolist() == scores  # still in their order


@pytest.mark.parametrize(
    ("scores", "coefficient"),
    [
        ([], 0),
        ([3.0], 0),
        ([0.0, 0.0], 0),
        ([2.0] * 9, 0),
        ([0, 0, 0, 5.0], 0.75),
        ([1, 3.0], 0.25),
    ],
)
def test_gini_of_few_scores(scores: list[float], coefficient: float) -> None:
    assert gini(np.array(scores, float)) == coefficient


def test_gini_of_a_power_law() -> None:
    """The Gini coefficient of a Pareto distribution with the exponent a is 1 / (2a - 1)."""
    quantiles = (np.arange(1_000_000) + 0.5) / 1_000_000
    assert gini((1 - quantiles) ** (-1 / 3)) == pytest.approx(1 / 5, rel=1e-3)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("work", "size"),
    [(partial(indegrees, piece=1 << 12), 4), (outdegrees, 4), (reciprocity, 0)],
    ids=["indegrees", "outdegrees", "reciprocity"],
)
def test_memory_of_degrees_is_as_said(work: Callable[[Csr], Any], size: int) -> None:
    """In bytes a node, and more for a piece."""
    csr = csr_of(cycle(300_000))
    assert size <= traced(lambda: work(csr)) / csr.nodes < size + 1


def test_memory_of_gini_is_as_said() -> None:
    scores = np.random.default_rng(1).random(300_000)
    assert 8 <= traced(lambda: gini(scores, piece=1 << 12)) / len(scores) < 9


def traced(work: Callable[[], Any]) -> int:
    """The most bytes that it holds."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
