"""Pages with equal lists of sources as one row of PageRank's sweeps: what is found, and that scores
and bounds are those of the pages one by one."""

from __future__ import annotations

import random
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import csr_of, graph_of, solved_scores

from crawlrank.jobs.kernel.rank.equation import Equation
from crawlrank.pipeline.data.csr import Ids, team_of
from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.pagerank.method import solve
from crawlrank.pipeline.ranking.pagerank.twins import Lists, _alike, lists_of
from crawlrank.pipeline.ranking.solution import Problem

MUCH = 1 << 40
Edges = list[tuple[int, int]]


def lists(nodes: int, edges: Edges, threads: int = 1, ids: type = np.uint32) -> Lists:
    csr = csr_of(graph_of(nodes, edges), ids)
    with team_of(csr, threads) as team:
        return lists_of(team, int(np.count_nonzero(csr.outdegrees)))


def rows(found: Lists) -> list[list[int]]:
    """The nodes of each row, by the first of them; of graphs where every node has edges out."""
    return sorted(np.flatnonzero(found.row_of == row).tolist() for row in range(len(found.first)))


def menu(pages: range) -> Edges:
    """Pages that all link to each other."""
    return list(permutations(pages, 2))


def test_pages_of_a_menu_are_one_row() -> None:
    """0 to 4 link to each other; 5 links to all, and 0 to it."""
    found = lists(6, [*menu(range(5)), *((5, page) for page in range(5)), (0, 5)])
    assert rows(found) == [[0, 1, 2, 3, 4], [5]]
    assert dict(zip(found.first.tolist(), found.closed.tolist(), strict=True)) == {0: 1, 5: 0}
    assert found.split.tolist() == [0]  # the source of 5, a page of its row
    assert sum(len(part.positions) for part in found.parts) == 2 + 96


def test_pages_with_equal_sources_are_one_row() -> None:
    """5 and 6 link to 0 to 3, which link to 5, and 5 alone links to 4 and 6."""
    lists_out = [(5, page) for page in range(5)] + [(6, page) for page in range(4)]
    found = lists(7, [*lists_out, *((page, 5) for page in range(5)), (5, 6)])
    assert rows(found) == [[0, 1, 2, 3], [4, 6], [5]]
    assert not found.closed.any()
    assert sorted(found.sizes.tolist()) == [1, 2, 4]


def test_pages_that_miss_one_source_are_rows_of_their_own() -> None:
    """0 and 1 link to each other, and 2 to 0 alone."""
    found = lists(4, [(1, 0), (2, 0), (0, 1), (3, 2), (0, 3), (2, 3)])
    assert rows(found) == [[0], [1], [2], [3]]


@pytest.mark.parametrize(
    ("lists_of_two", "alike"),
    [
        (([2, 3], [2, 3]), (True, False)),
        (([2, 3], [2, 4]), (False, False)),
        (([2, 3], [2]), (False, False)),
        (([1, 3], [0, 3]), (False, True)),
        (([1, 3], [0, 4]), (False, False)),
        (([1, 3], [2, 3]), (False, False)),
        (([1], [0]), (False, True)),
    ],
)
def test_lists_are_compared_where_their_hashes_are_alike(
    lists_of_two: tuple[list[int], list[int]], alike: tuple[bool, bool]
) -> None:
    """Lists of the nodes 0 and 1: whether they are equal, and equal but for themselves."""
    offsets = np.cumsum([0, *map(len, lists_of_two)])
    sources: Ids = np.array([*lists_of_two[0], *lists_of_two[1]], np.uint32)
    for closed, wanted in zip((False, True), alike, strict=True):
        assert _alike((offsets, sources), np.uint64(0), np.uint64(1), closed) == wanted
        assert _alike((offsets, sources), np.uint64(1), np.uint64(0), closed) == wanted


@pytest.mark.parametrize("ids", [np.uint32, pytest.param(np.uint64, marks=pytest.mark.slow)])
@pytest.mark.parametrize("threads", [1, 3])
def test_positions_are_slots(ids: type, threads: int) -> None:
    """Sums over the lists of slots are sums over sources, for numbers that tell each node apart."""
    pages = 40
    edges = [*menu(range(10)), *((a, b) for a in range(10, 15) for b in range(pages) if a != b)]
    edges += [(page, 15 + page % 5) for page in range(20, pages)]
    edges += [(page, 39) for page in range(15, 20)]
    graph = graph_of(pages, sorted(set(edges)))
    found, csr = lists(pages, sorted(set(edges)), threads, ids), csr_of(graph, ids)
    assert len(found.split) == 19  # 20 to 38 have equal sources, and 15 to 19 have a part of them
    of_node = np.where(csr.outdegrees > 0, 2.0 ** -np.arange(pages), 0.0)
    slots = np.bincount(
        found.slots[:-1][found.row_of[csr.outdegrees > 0]],
        weights=of_node[csr.outdegrees > 0], minlength=int(found.slots[-1]),
    )  # fmt: skip
    slots[found.of_split] = of_node[found.split]
    both = np.concatenate((slots, slots))
    for part in found.parts:
        for row in range(part.begin, part.end):
            begin, end = part.ends[row - part.begin : row - part.begin + 2]
            got = both[part.positions[begin:end]].sum()
            node = int(found.first[row])
            members = np.flatnonzero((found.row_of == row) & (csr.outdegrees > 0))
            others = members[members != node] if found.closed[row] else []
            listed = csr.sources[csr.offsets[node] : csr.offsets[node + 1]]
            assert got == of_node[listed].sum() - of_node[others].sum()


def test_a_menu_has_the_scores_of_its_closed_form() -> None:
    """n pages that link to each other, and to one without links: x = 0.15 + 0.85 (n - 1) x / n."""
    pages = 30
    edges = [*menu(range(pages)), *((page, pages) for page in range(pages))]
    problem = Problem(csr_of(graph_of(pages + 1, sorted(edges))), Stop(tolerance=1e-12), 1, MUCH)
    score = 0.15 / (1 - 0.85 * (pages - 1) / pages)
    got = solve(problem)
    assert got.scores == pytest.approx([score] * pages + [0.15 + 0.85 * score], rel=1e-11)
    assert len(got.rounds) < 5  # one row, which is solved exactly


@st.composite
def sites(draw: st.DrawFn) -> Graph:
    """Menus, all or some pages of a site that point to all pages of another one or to some of them,
    pages without links, in shuffled ids."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    starts = np.concatenate(([0], np.cumsum(sizes))).tolist()
    pages = [range(a, b) for a, b in pairwise(starts)]
    edges: set[tuple[int, int]] = set()
    for site in pages:
        if draw(st.booleans()):
            edges |= set(menu(site))
        for other in draw(st.lists(st.sampled_from(pages), max_size=3)):
            whole = draw(st.booleans())
            targets = other if whole else draw(st.lists(st.sampled_from(other), max_size=3))
            sources = site if draw(st.booleans()) else draw(st.lists(st.sampled_from(site)))
            edges |= {(source, target) for source in sources for target in targets}
    last = starts[-1] + draw(st.integers(0, 2))
    ids = list(range(last))
    if draw(st.booleans()):
        random.Random(draw(st.integers(0, 99))).shuffle(ids)
    named = sorted({(ids[a], ids[b]) for a, b in edges if a != b})
    return graph_of(last, named) if named else graph_of(last + 2, [(last, last + 1)])


@settings(max_examples=examples(120))
@given(sites(), st.integers(1, 3), st.sampled_from([0.5, 0.85, 0.99]), st.integers(0, 3))
def test_scores_are_those_of_single_pages(
    graph: Graph, threads: int, damping: float, seeds: int
) -> None:
    """seeds: readers start at these pages only; 0: at all."""
    weights: Floats = np.ones(graph.nodes)
    if seeds:
        weights = np.where(np.arange(graph.nodes) % 3 < seeds, 1.0 + np.arange(graph.nodes), 0.0)
        weights *= graph.nodes / weights.sum()
    problem = Problem(csr_of(graph), Stop(tolerance=1e-12, max_rounds=5000), threads, MUCH)
    got = solve(problem, Equation(damping), weights if seeds else None)
    exact = solved_scores(graph, Equation(damping), weights)
    assert got.rounds[-1]["verified"]
    assert abs(got.scores - exact).sum() <= (2e-12 / (1 - damping)) * exact.sum()
    assert ((got.scores == 0) == (exact == 0)).all()
