"""Arrays as lines and back; partitions, ranges and what steers rounds, each by its definition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import exact_scores, graph_of, web_like

from crawlrank.jobs.kernel.rank.packed_graph import Held, Ranges, abroad, bad_nodes, merged, shares
from crawlrank.jobs.kernel.rank.packing import (
    Where,
    Writer,
    from_text,
    joined,
    pieces,
    read_section,
    to_text,
)
from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.ranking.acceleration import Groups, Products, Steering, factors, gammas

KINDS = [np.uint32, np.int64, np.float32, np.float64]
ARRAYS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.tuples(st.sampled_from(KINDS), st.lists(st.integers(0, 2**32 - 1), max_size=40)),
    min_size=1,
)


@given(made=ARRAYS, piece=st.sampled_from([8, 24, 100, 10**6]))
def test_arrays_come_back(made: dict[str, tuple[type, list[int]]], piece: int) -> None:
    arrays = {name: np.array(values, kind) for name, (kind, values) in made.items()}
    texts = [to_text(part) for part in pieces(arrays, piece)]
    assert texts
    assert all(not set(text) & set(b"\t\n ") for text in texts)
    found = joined(map(from_text, texts))
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
        assert found[name].flags.writeable


def test_sections_are_found_by_their_places(tmp_path: Path) -> None:
    writer, wheres, lines = Writer(piece=800), {}, []
    for label in (b"00000.1", b"00001.7"):
        wheres[label] = places = dict[str, list[int]]()
        for section, count in (("nodes", 1000), ("state", 3)):
            arrays = {"x": np.arange(count) + label[4], "y": np.zeros(0)}
            lines += list(writer.lines(label, section, arrays, places))
    path = tmp_path / "part-00000"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    assert len(lines) == 2 * (10 + 1)
    for label, places in wheres.items():
        found = read_section(Where(str(path), places), "nodes")
        assert np.array_equal(found["x"], np.arange(1000) + label[4])
        assert read_section(Where(str(path), places), "state")["x"].tolist() == [
            label[4] + k for k in range(3)
        ]


def held_of(graph: Graph) -> Held:
    targets = graph.targets.astype(np.int64)
    return Held(graph.ids, graph.scores, graph.outdegrees.astype(np.int64), targets)


@settings(max_examples=examples(30), deadline=None)
@given(
    nodes=st.integers(1, 60),
    seed=st.integers(0, 99),
    points=st.lists(st.integers(1, 60), max_size=5, unique=True),
)
def test_each_line_reaches_its_partition_once(nodes: int, seed: int, points: list[int]) -> None:
    graph = web_like(nodes, seed)
    order = np.random.default_rng(seed).permutation(nodes)
    ranges = Ranges(np.array(sorted(points), np.int64), np.zeros(0, np.int64))
    whole = held_of(graph)
    shuffled = Held(
        whole.ids[order], whole.scores[order], whole.degrees[order],
        np.concatenate([graph.targets[graph.offsets[i] : graph.offsets[i + 1]] for i in order]),
    )  # fmt: skip
    found = {number: merged([share]) for number, share in shares(shuffled, ranges)}
    together = [np.concatenate(column) for column in zip(*found.values(), strict=True)]
    assert all(np.array_equal(one, other) for one, other in zip(together, whole, strict=True))
    for own, share in found.items():
        assert set(ranges.partition_of(share.ids).tolist()) == {own}
        wanted = {(int(ranges.partition_of(np.array([t]))[0]), t) for t in share.targets.tolist()}
        told = {(n, t) for n, ids in abroad(own, share.targets, ranges) for t in ids.tolist()}
        assert told == {(n, t) for n, t in wanted if n != own}
        assert bad_nodes(own, share, [], ranges) == {}


def test_nodes_without_exactly_one_line() -> None:
    ids, targets = np.array([1, 1, 4]), np.array([4, 9, 30])
    held = Held(ids, np.ones(3), np.array([2, 1, 0]), targets)
    ranges = Ranges(np.array([20]), np.zeros(0, np.int64))
    assert bad_nodes(0, held, [np.array([4, 7])], ranges) == {1: 2, 9: 0, 7: 0}


# what steers


def flows_of(graph: Graph, x: np.ndarray, groups: np.ndarray) -> Groups:
    count = groups.max() + 1
    found = np.zeros((count, count))
    for node in range(graph.nodes):
        for target in graph.targets[graph.offsets[node] : graph.offsets[node + 1]]:
            found[groups[node], groups[target]] += x[node] / graph.outdegrees[node]
    return Groups(found, np.bincount(groups, x))


def test_factors_of_groups_that_are_each_off_by_one_factor() -> None:
    """Exact scores, each group taken too high or too low: aggregation alone puts it right."""
    graph = web_like(80, seed=3)
    groups = np.arange(80) // 20
    wrong = np.array([0.5, 1.0, 2.0, 1.5])
    flows = flows_of(graph, exact_scores(graph) * wrong[groups], groups)
    assert factors(flows, np.full(4, 20.0)) == pytest.approx(1 / wrong, rel=1e-10)


def test_a_group_without_scores_keeps_its_factor() -> None:
    graph = graph_of(4, [(0, 1), (1, 0)])
    found = factors(
        flows_of(graph, np.array([1.0, 1, 0, 0]), np.array([0, 0, 1, 1])), np.full(2, 2)
    )
    assert found == pytest.approx([1.0, 1.0])


def test_mixing_solves_a_linear_map_of_two_modes() -> None:
    """h = x* + M (z - x*) with two slow modes: after three changes the mixed vector is exact."""
    modes, exact = np.diag([0.9, -0.7]), np.array([3.0, 5.0])
    vectors = [np.array([1.0, 1.0]), np.array([2.0, 1.5]), np.array([2.5, 6.0])]
    led = [exact + modes @ (z - exact) for z in vectors]
    changes = [h - z for h, z in zip(led, vectors, strict=True)]
    differences = [changes[2] - changes[1], changes[1] - changes[0]]
    gram = np.array([[one @ other for other in differences] for one in differences])
    right = np.array([one @ changes[2] for one in differences])
    first, second = gammas(Products(gram, right), 2)
    mixed = led[2] - first * (led[2] - led[1]) - second * (led[1] - led[0])
    assert mixed == pytest.approx(exact, rel=1e-8)
    assert gammas(Products(gram, right), 0) == []
    assert gammas(Products(np.zeros((2, 2)), right), 2) == []


def told(residual: float, steering: Steering, known: int) -> int:
    """How many rounds are mixed after one that knows the differences of `known` earlier ones."""
    products = Products(np.eye(known), np.full(known, 0.1))
    groups = Groups(np.zeros((2, 2)), np.full(2, 0.3))
    return len(steering.next(residual, products, groups)[0])


def test_what_was_is_forgotten_when_it_misled() -> None:
    steering = Steering(np.ones(2))
    assert [told(*r) for r in ((9.0, steering, 0), (5.0, steering, 1), (4.0, steering, 2))] == [
        0, 1, 2,
    ]  # fmt: skip
    again = Steering(np.ones(2)).restored(steering.saved())
    assert told(7.9, again, 2) == 2
    assert told(8.1, steering, 2) == 0
    assert told(8.0, steering, 2) == 1
