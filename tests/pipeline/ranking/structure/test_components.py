"""Components against closed forms, networkx and scipy."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from support.drawing import ID_TYPES
from support.graphs import chain, clique, csr_of, cycle, graph_of, graphs, star, web_like
from support.mapped import mapped

from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.ranking.structure.components import (
    ComponentSizes,
    strong_components,
    weak_components,
)

DEEP = 300_000
EMPTY = Csr(np.zeros(1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint32))


def cliques(*sizes: int, bridges: int = 0) -> Graph:
    """Cliques of these sizes; the first `bridges` + 1 are joined by a link from one to the next."""
    starts = np.cumsum([0, *sizes]).tolist()
    edges = [
        (begin + i, begin + j)
        for begin, size in zip(starts, sizes, strict=False)
        for i in range(size)
        for j in range(size)
        if i != j
    ]
    edges += [(starts[number], starts[number + 1]) for number in range(bridges)]
    return graph_of(starts[-1], edges)


def table(sizes: ComponentSizes) -> dict[int, int]:
    assert sizes.sizes.dtype == sizes.counts.dtype == np.int64
    return dict(zip(sizes.sizes.tolist(), sizes.counts.tolist(), strict=True))


def net_of(graph: Graph) -> nx.DiGraph:
    net = nx.DiGraph()
    net.add_nodes_from(range(graph.nodes))
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    net.add_edges_from(zip(sources.tolist(), graph.targets.tolist(), strict=True))
    return net


def check_weak(csr: Csr, groups: list[set[int]]) -> None:
    weak = weak_components(csr)
    assert weak.roots.tolist() == [
        min(group) for node in range(csr.nodes) for group in groups if node in group
    ]
    assert table(weak.sizes) == Counter(map(len, groups))
    assert weak.sizes.components == len(groups)
    assert weak.sizes.largest == max(map(len, groups))


def check_strong(csr: Csr, groups: list[set[int]], links: int) -> None:
    """The groups, and an order in which links lead on. links: that are followed at once."""
    strong = strong_components(csr, links)
    numbered: dict[int, set[int]] = {}
    for node, number in enumerate(strong.numbers.tolist()):
        numbered.setdefault(number, set()).add(node)
    assert sorted(map(sorted, numbered.values())) == sorted(map(sorted, groups))
    assert sorted(numbered) == list(range(len(groups)))
    assert sorted(strong.order.tolist()) == list(range(csr.nodes))
    assert (np.diff(strong.numbers[strong.order]) >= 0).all()
    targets = np.repeat(np.arange(csr.nodes), np.diff(csr.offsets))
    assert (strong.numbers[csr.sources] <= strong.numbers[targets]).all()
    assert table(strong.sizes) == Counter(map(len, groups))
    best = max(groups, key=lambda group: (len(group), -min(group)))
    assert set(strong.order[strong.core].tolist()) == best


@pytest.mark.parametrize(
    ("graph", "weak", "strong"),
    [
        (graph_of(1, []), {1: 1}, {1: 1}),
        (graph_of(6, []), {1: 6}, {1: 6}),
        (cycle(7), {7: 1}, {7: 1}),
        (star(8), {8: 1}, {1: 8}),
        (chain(6), {6: 1}, {1: 6}),
        (clique(5), {5: 1}, {5: 1}),
        (cliques(3, 4), {3: 1, 4: 1}, {3: 1, 4: 1}),
        (cliques(3, 4, bridges=1), {7: 1}, {3: 1, 4: 1}),
        (cliques(4, 4, 1, bridges=1), {1: 1, 8: 1}, {1: 1, 4: 2}),
    ],
)
def test_closed_forms(graph: Graph, weak: dict[int, int], strong: dict[int, int]) -> None:
    csr = csr_of(graph)
    assert table(weak_components(csr).sizes) == weak
    assert table(strong_components(csr).sizes) == strong


def test_the_empty_graph_has_no_component() -> None:
    weak, strong = weak_components(EMPTY), strong_components(EMPTY)
    for sizes in (weak.sizes, strong.sizes):
        assert (sizes.components, sizes.largest, table(sizes)) == (0, 0, {})
    assert len(weak.roots) == len(strong.order) == len(strong.numbers) == 0
    assert strong.core == slice(0, 0)


@pytest.mark.parametrize("sizes", [(4, 4, 3), (3, 4, 4), (1, 1)])
def test_of_equal_components_the_core_has_the_smallest_node(sizes: tuple[int, ...]) -> None:
    """Also where it comes later in the order, as the first links lead to it."""
    graph = cliques(*sizes)
    whole = [*zip(np.repeat(np.arange(graph.nodes), graph.outdegrees), graph.targets, strict=True)]
    turned = graph_of(graph.nodes, [*whole, (graph.nodes - 1, 0)])
    for given_graph in (graph, turned):
        strong = strong_components(csr_of(given_graph))
        begin = sum(sizes[: sizes.index(max(sizes))])
        core = sorted(strong.order[strong.core].tolist())
        assert core == list(range(begin, begin + max(sizes)))


@given(graphs(max_nodes=14), st.integers(1, 5), st.sampled_from(ID_TYPES))
def test_networkx_agrees(graph: Graph, links: int, ids: type) -> None:
    """However few links are followed at once."""
    csr, net = csr_of(graph, ids), net_of(graph)
    check_weak(csr, list(nx.weakly_connected_components(net)))
    check_strong(csr, list(nx.strongly_connected_components(net)), links)


@pytest.mark.parametrize("degree", [1.1, 2.0, 8.0])
def test_scipy_agrees_on_graphs_with_hubs(degree: float) -> None:
    csr = csr_of(web_like(30_000, seed=3, degree=degree))
    links = np.ones(csr.edges, np.int8), csr.sources.astype(np.int32), csr.offsets
    matrix = csr_matrix(links, (csr.nodes, csr.nodes))
    pairs = {"weak": weak_components(csr).roots, "strong": strong_components(csr).numbers}
    for kind, ours in pairs.items():
        count, theirs = connected_components(matrix, directed=True, connection=kind)
        assert len(np.unique(ours)) == count > 100
        assert len(np.unique(ours.astype(np.int64) * csr.nodes + theirs)) == count


def deep(order: np.ndarray, closed: bool) -> Csr:  # type: ignore[type-arg]
    """A path through the nodes in this order, or a ring."""
    ends = order[:-1], order[1:]
    if closed:
        ends = order, np.roll(order, -1)
    sources, targets = (each.astype(np.int64) for each in ends)
    by_target = np.argsort(targets)
    counts = np.bincount(targets, minlength=len(order))
    offsets = np.concatenate(([0], np.cumsum(counts)))
    outdegrees = np.bincount(sources, minlength=len(order)).astype(np.uint32)
    return Csr(offsets, sources[by_target].astype(np.uint32), outdegrees)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("step", [1, -1, 0])
def test_a_very_long_path(step: int, closed: bool) -> None:
    """Forwards, backwards and at random: no recursion."""
    along = np.arange(DEEP)[:: step or 1]
    if not step:
        along = np.random.default_rng(1).permutation(DEEP)
    csr = deep(along, closed)
    assert table(weak_components(csr).sizes) == {DEEP: 1}
    strong = strong_components(csr)
    assert table(strong.sizes) == ({DEEP: 1} if closed else {1: DEEP})
    if not closed:
        assert np.array_equal(strong.order, along)


def test_mapped_links_are_let_go_of_and_give_the_same(tmp_path: Path) -> None:
    held = csr_of(web_like(5_000, seed=9))
    csr, links = mapped(held, tmp_path / "graph")
    assert np.array_equal(weak_components(held).roots, weak_components(csr).roots)
    assert links.released == [(0, len(links))]
    one, other = strong_components(held, 1_000), strong_components(csr, 1_000)
    assert np.array_equal(one.numbers, other.numbers) and np.array_equal(one.order, other.order)
    assert len(links.released) > 6 and set(links.released) == {(0, len(links))}
