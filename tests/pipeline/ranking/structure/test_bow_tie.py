"""The bow tie against its definition, by reachability in networkx, and against closed forms."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.drawing import ID_TYPES, examples
from support.graphs import (
    Edges,
    chain,
    clique,
    csr_of,
    cycle,
    graph_of,
    graphs,
    star,
    web_like,
)
from support.mapped import mapped

from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.ranking.structure.bow_tie import PARTS, BowTie, bow_tie
from crawlrank.pipeline.ranking.structure.components import (
    LINKS,
    STRUCTURE_BYTES,
    strong_components,
    weak_components,
)

#: a core of 0, 1, 2; each other node is of the part of its comment
WHOLE_TIE = [
    *((0, 1), (1, 2), (2, 0)),
    *((3, 4), (4, 3), (4, 0)),  # in: 3 and 4, which reach each other
    *((2, 5), (5, 6), (6, 5)),  # out: 5 and 6
    *((3, 7), (7, 8), (8, 7), (8, 6)),  # tubes: 7 and 8
    (4, 9),  # a tendril from in
    *((10, 11), (11, 5)),  # tendrils to out: 10 and 11
    (10, 12),  # hangs on a tendril
    (13, 14),  # disconnected
]
WHOLE_PARTS = "core core core in in out out tubes tubes tendrils tendrils tendrils tendrils"


def tie_of(csr: Csr, threads: int = 1, links: int = LINKS) -> BowTie:
    return bow_tie(csr, weak_components(csr), strong_components(csr), threads, links)


def names(tie: BowTie) -> list[str]:
    return [PARTS[part] for part in tie.parts.tolist()]


def defined(graph: Graph) -> list[str]:
    """The part of each node, as the definition says: by paths from and to sets of nodes."""
    net = nx.DiGraph()
    net.add_nodes_from(range(graph.nodes))
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    net.add_edges_from(zip(sources.tolist(), graph.targets.tolist(), strict=True))
    core = max(nx.strongly_connected_components(net), key=lambda nodes: (len(nodes), -min(nodes)))
    some = min(core)
    to_core, from_core = nx.ancestors(net, some) - core, nx.descendants(net, some) - core
    rest = net.subgraph(set(net) - core)  # paths without the core
    from_in = set().union(*(nx.descendants(rest, node) for node in to_core))
    to_out = set().union(*(nx.ancestors(rest, node) for node in from_core))
    joined = nx.node_connected_component(net.to_undirected(), some)
    parts = []
    for node in range(graph.nodes):
        if node in core:
            parts.append("core")
        elif node in to_core or node in from_core:
            parts.append("in" if node in to_core else "out")
        elif node in from_in and node in to_out:
            parts.append("tubes")
        else:
            parts.append("tendrils" if node in joined else "disconnected")
    return parts


@pytest.mark.parametrize(
    ("graph", "parts"),
    [
        (graph_of(1, []), "core"),
        (graph_of(3, []), "core disconnected disconnected"),
        (cycle(3), "core core core"),
        (clique(4), "core core core core"),
        (chain(4), "core out out out"),
        (star(4), "core in in in"),
        (graph_of(5, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2)]), "core core out out disconnected"),
        (graph_of(4, [(0, 1), (2, 3), (3, 2)]), "disconnected disconnected core core"),
        # the node of in that links to the core is not the first that the search meets
        (graph_of(5, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4), (4, 2)]), "in in core core core"),
        (graph_of(15, WHOLE_TIE), f"{WHOLE_PARTS} disconnected disconnected"),
    ],
)
def test_closed_forms(graph: Graph, parts: str) -> None:
    assert names(tie_of(csr_of(graph))) == parts.split() == defined(graph)


def test_the_empty_graph_has_empty_parts() -> None:
    tie = tie_of(Csr(np.zeros(1, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint32)))
    assert (len(tie.parts), tie.nodes.tolist(), tie.links.tolist()) == (0, [0] * 6, [[0] * 6] * 6)


@st.composite
def ties(draw: st.DrawFn) -> Graph:
    """More links than `graphs` has within a core of some nodes, and few outside of it, in any
    order of nodes: all parts are common."""
    n = draw(st.integers(4, 16))
    core = draw(st.integers(1, n // 3))
    node = st.integers(core, n - 1)
    edges: Edges = draw(st.sets(st.tuples(node, node), max_size=n))
    inward = draw(st.sets(st.tuples(node, st.just(0)), max_size=3))
    outward = draw(st.sets(st.tuples(st.just(0), node), max_size=3))
    ring = {(i, (i + 1) % core) for i in range(core)}
    names = draw(st.permutations(range(n)))
    pairs = {*edges, *inward, *outward, *ring}
    return graph_of(n, ((names[s], names[t]) for s, t in pairs if s != t))


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(graphs(max_nodes=14) | ties(), st.integers(1, 5), st.sampled_from(ID_TYPES))
@example(graph_of(15, WHOLE_TIE), 2, np.uint32)
def test_the_definition_agrees(graph: Graph, links: int, ids: type) -> None:
    """However few links are followed at once; and all nodes and links are counted."""
    tie = tie_of(csr_of(graph, ids), links=links)
    parts = defined(graph)
    assert names(tie) == parts
    assert tie.nodes.tolist() == [parts.count(part) for part in PARTS]
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    counted = Counter((parts[s], parts[t]) for s, t in zip(sources, graph.targets, strict=True))
    assert tie.links.tolist() == [[counted[one, other] for other in PARTS] for one in PARTS]


@pytest.mark.parametrize("degree", [1.05, 1.3, 3.0])
def test_the_definition_agrees_on_graphs_with_hubs(degree: float) -> None:
    graph = web_like(1_500, seed=4, degree=degree)
    assert names(tie_of(csr_of(graph), threads=2)) == defined(graph)


def test_links_that_no_graph_has() -> None:
    """From the core to in, between disconnected and other nodes, and others are 0 by definition."""
    tie = tie_of(csr_of(web_like(3_000, seed=8, degree=1.3)))
    core, inward, outward, tubes, tendrils, disconnected = range(6)
    never = [(core, inward), (outward, core), (outward, inward), (core, tubes), (tubes, core)]
    never += [(outward, tubes), (tubes, inward), (tendrils, core), (core, tendrils)]
    never += [(disconnected, part) for part in range(5)] + [(p, disconnected) for p in range(5)]
    assert {int(tie.links[pair]) for pair in never} == {0}
    assert (np.delete(tie.nodes, tubes) > 0).all() and tie.links.sum() > 1_000


@pytest.mark.parametrize("middle", [0, 500_000, 999_998])
def test_a_path_of_a_million_nodes_through_a_core(middle: int) -> None:
    n = 1_000_000
    offsets = np.concatenate(([0], np.arange(n)))
    offsets[middle + 1 :] += 1  # a link back makes a core of two
    sources = np.insert(np.arange(n - 1, dtype=np.uint32), middle, middle + 1)
    outdegrees = np.bincount(sources, minlength=n).astype(np.uint32)
    tie = tie_of(Csr(offsets, sources, outdegrees))
    assert tie.nodes.tolist() == [2, middle, n - 2 - middle, 0, 0, 0]
    assert (np.diff(tie.parts[[0, middle, n - 1]]) != 0).sum() == (1 if middle in (0, n - 2) else 2)


@pytest.mark.parametrize("build", [cycle, chain], ids=["cycle", "chain"])
def test_memory_is_as_said(build: Callable[[int], Graph]) -> None:
    """Memory is measured on a cycle, all nodes of which wait for the last, and on a path, which is
    as deep as long."""
    csr = csr_of(build(200_000))
    tie_of(csr_of(build(10)))  # compiles
    tracemalloc.start()
    tie_of(csr)
    most = tracemalloc.get_traced_memory()[1] / csr.nodes
    tracemalloc.stop()
    assert STRUCTURE_BYTES - 2 < most < STRUCTURE_BYTES + 0.5


def test_mapped_links_are_let_go_of_and_give_the_same(tmp_path: Path) -> None:
    held = csr_of(web_like(5_000, seed=9))
    csr, links = mapped(held, tmp_path / "graph")
    weak, strong = weak_components(csr), strong_components(csr)
    links.released.clear()
    one, other = tie_of(held), bow_tie(csr, weak, strong, links=1_000)
    assert np.array_equal(one.parts, other.parts) and np.array_equal(one.links, other.links)
    assert len(links.released) > 13  # on the way back, on the way on, and as links are counted
    assert set(links.released) == {(0, len(links))}
