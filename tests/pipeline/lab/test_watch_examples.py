"""The examples of `watch` are the graphs that they say they are."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from support.graphs import graph_of, write_graph

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.lab.watch import EXAMPLES, MOST_NODES, Drawn, drawn_file

BY_ID = {example.id: example for example in EXAMPLES}


def links_of(drawn: Drawn) -> set[tuple[int, int]]:
    return {(page, target) for page, targets in enumerate(drawn.targets) for target in targets}


def graph_in(drawn: Drawn) -> Graph:
    return graph_of(len(drawn.names), links_of(drawn))


@pytest.mark.parametrize("name", BY_ID)
def test_examples_are_graphs(name: str) -> None:
    drawn = BY_ID[name]
    assert len(drawn.names) == len(drawn.targets) == len({*drawn.names})
    for page, targets in enumerate(drawn.targets):
        assert list(targets) == sorted({*targets} - {page})
        assert all(0 <= target < len(drawn.names) for target in targets)


def test_the_six_pages_have_the_published_ranks() -> None:
    """The ranks are those of Langville and Meyer, which networkx's tests have, for a damping of
    0.9."""
    graph = graph_in(BY_ID["six"])
    google = np.full((6, 6), 1 / 6)
    for page in range(6):
        targets = graph.targets[graph.offsets[page] : graph.offsets[page + 1]]
        if len(targets):
            google[:, page] = 0.1 / 6
            google[targets, page] += 0.9 / len(targets)
    ranks = np.linalg.matrix_power(google, 200)[:, 0]
    published = [0.03721197, 0.05395735, 0.04150565, 0.37508082, 0.20599833, 0.28624589]
    assert ranks == pytest.approx(published, abs=1e-8)


def test_the_scale_free_graph_is_that_of_networkx() -> None:
    made = nx.scale_free_graph(24, seed=3)
    assert links_of(BY_ID["web"]) == {(a, b) for a, b in made.edges() if a != b}


def test_the_graph_of_hubs_and_authorities_has_the_published_values() -> None:
    """The values are those of aduana's documentation."""
    hubs, authorities = nx.hits(nx.DiGraph(list(links_of(BY_ID["hubs"]))), normalized=True)
    published = np.array([0.4597, 0.6280, 0, 0.6280]), np.array([0.3251, 0.3251, 0.8881, 0])
    for values, known in zip((authorities, hubs), published, strict=True):
        assert [values[page] for page in range(4)] == pytest.approx(known / known.sum(), abs=1e-4)


def test_a_file_of_graph_lines(tmp_path: Path) -> None:
    drawn = drawn_file(write_graph(graph_in(BY_ID["web"]), tmp_path / "pr0.txt"))
    assert links_of(drawn) == links_of(BY_ID["web"])
    assert (list(drawn.names), drawn.title) == ([str(page) for page in range(24)], "pr0.txt")


@pytest.mark.parametrize("nodes", [MOST_NODES, MOST_NODES + 1])
def test_a_graph_too_large_to_draw_is_refused(nodes: int, tmp_path: Path) -> None:
    path = write_graph(graph_of(nodes, [(0, 1)]), tmp_path / "graph")
    if nodes == MOST_NODES:
        assert len(drawn_file(path).names) == nodes
    else:
        with pytest.raises(BadInput, match=r"more than 300 pages.*--around"):
            drawn_file(path)
