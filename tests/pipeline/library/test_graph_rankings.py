"""Rankings of graphs in memory, against networkx and igraph and for each kind of graph."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples

import crawlrank

if TYPE_CHECKING:
    import igraph

#: the edges of a graph with a dangling node, 5, and a node that nothing links to, 6
EDGES = ([0, 0, 1, 2, 3, 4, 6, 3], [1, 2, 2, 0, 4, 5, 0, 5])
NAMES = ["a", "b", "c", "d", "e", "f", "g"]


def networkx_graph() -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(NAMES)
    graph.add_edges_from((NAMES[s], NAMES[t]) for s, t in zip(*EDGES, strict=True))
    return graph


def table() -> pa.Table:
    sources, targets = ([NAMES[at] for at in ids] for ids in EDGES)
    return pa.table({"source": sources, "target": targets})


def igraph_graph() -> igraph.Graph:
    import igraph  # takes a second

    graph = igraph.Graph(n=7, edges=list(zip(*EDGES, strict=True)), directed=True)
    graph.vs["name"] = NAMES
    return graph


def matrix() -> sp.coo_matrix:
    return sp.coo_matrix((np.ones(len(EDGES[0])), EDGES), shape=(7, 7))


GRAPHS: dict[str, tuple[Any, bool]] = {
    "arrays": (EDGES, False),
    "numpy": (tuple(np.array(ids, np.uint16) for ids in EDGES), False),
    "matrix": (matrix(), False),
    "csr": (matrix().tocsr(), False),
    "sparse array": (sp.csc_array(matrix()), False),
    "table": (table(), True),
    "batch": (table().to_batches()[0], True),
    "large strings": (table().cast(pa.schema([("source", pa.large_string()),
                                              ("target", pa.large_string())])), True),
    "strings": (tuple(np.array([NAMES[at] for at in ids]) for ids in EDGES), True),
    "networkx": (networkx_graph(), True),
    "igraph": (igraph_graph, True),
}  # fmt: skip


@pytest.mark.parametrize("kind", GRAPHS)
def test_every_kind_of_graph_has_the_same_scores(kind: str) -> None:
    made, labelled = GRAPHS[kind]
    graph = made() if callable(made) else made
    result, expected = crawlrank.pagerank(graph), crawlrank.pagerank(EDGES)
    assert result.scores.tobytes() == expected.scores.tobytes()
    assert list(result.labels or range(7)) == (NAMES if labelled else list(range(7)))
    assert result.as_dict()["c" if labelled else 2] == expected[2]
    assert result.table()["node"].to_pylist() == (NAMES if labelled else list(range(7)))


class Frame:
    """A data frame of any library, which only has the protocol of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return table().__arrow_c_stream__(requested_schema)


def test_a_data_frame_is_taken_by_its_protocol() -> None:
    assert crawlrank.pagerank(Frame()).as_dict() == crawlrank.pagerank(table()).as_dict()


#: of the edges a -> b, b -> a, b -> c as some data frames have them
STRINGS = [["a", "b", "b"], ["b", "a", "c"]]
VIEWS = [pa.array(end, pa.string_view()) for end in STRINGS]
CATEGORIES = [
    pa.DictionaryArray.from_arrays(pa.array(numbers, pa.uint32()), VIEWS[1])
    for numbers in ([1, 0, 0], [0, 1, 2])
]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        VIEWS, CATEGORIES, (VIEWS[0], CATEGORIES[1]), (STRINGS[0], VIEWS[1]),
        (pa.array(STRINGS[0]), pa.array(STRINGS[1], pa.large_string())),
        (pa.chunked_array([VIEWS[0][:1], VIEWS[0][1:]]), VIEWS[1]),
    ],
)  # fmt: skip
def test_labels_may_be_strings_of_any_type_of_arrow(source: Any, target: Any) -> None:
    ours = crawlrank.pagerank(pa.table({"source": source, "target": target}))
    expected = crawlrank.pagerank(([0, 1, 1], [1, 0, 2]))
    assert ours.as_dict() == dict(zip("abc", expected.scores, strict=True))


def test_labels_may_be_integers_of_two_types() -> None:
    numbers = {
        "source": pa.array([1, 2], pa.int8()),
        "target": pa.array([1000, 1], pa.int64()),
    }
    assert list(crawlrank.pagerank(pa.table(numbers)).labels or ()) == [1, 2, 1000]
    large = {"source": pa.array([2**63], pa.uint64()), "target": pa.array([5], pa.int32())}
    assert list(crawlrank.pagerank(pa.table(large)).labels or ()) == [5, 2**63]


@pytest.mark.parametrize(
    ("source", "target", "what"),
    [
        ([1], ["a"], "labels of the type int64 and string"),
        ([1], [True], "labels of the type int64 and bool"),
        ([1.5], [2.5], "labels of the type double"),
        (pa.array([1], pa.timestamp("s")), [1], r"timestamp\[s\] and int64"),
        (["a"], [None], "labels of the type string and null"),
        (["a", "b"], ["b", None], "a label that is missing"),
    ],
)
def test_what_is_no_label_is_refused(source: Any, target: Any, what: str) -> None:
    with pytest.raises(crawlrank.BadInput, match=what):
        crawlrank.pagerank(pa.table({"source": source, "target": target}))


def test_a_frame_that_arrow_cannot_take_is_refused() -> None:
    class Mixed:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table({"source": ["a", 1]})

    with pytest.raises(crawlrank.BadInput, match="expected columns of one type each"):
        crawlrank.pagerank(Mixed())


def test_a_series_gives_weights_by_its_labels() -> None:
    """Not by position: its order may be another one."""

    class Series:
        __module__ = "pandas.core.series"

        def items(self) -> list[tuple[str, float]]:
            return [("c", 1.0), ("b", 0.0), ("a", 0.0)]

    ours = crawlrank.personalized(table(), Series())  # type: ignore[arg-type]
    assert ours.as_dict() == crawlrank.personalized(table(), {"c": 1.0}).as_dict()


def test_parallel_edges_of_networkx_add_up() -> None:
    graph = nx.MultiDiGraph([("a", "b", {"weight": 2}), ("a", "b"), ("a", "c"), ("b", "a")])
    result = crawlrank.pagerank(graph, weighted=True)
    theirs = nx.pagerank(graph, tol=1e-14, max_iter=1000)
    assert apart(result.probabilities(), theirs) < 1e-8
    assert result.duplicates == 1


def test_numbers_are_labels_in_tables() -> None:
    graph = pa.table({"source": [10**12, 7], "target": [7, 10**12], "weight": [1.0, 0.5]})
    result = crawlrank.pagerank(graph)
    assert result.as_dict() == {7: pytest.approx(1), 10**12: pytest.approx(1)}


def test_more_threads_change_the_last_bits_at_most() -> None:
    graph = random_graph(5)
    one, three = (crawlrank.pagerank(graph, threads=threads) for threads in (1, 3))
    assert one.scores == pytest.approx(three.scores, rel=2 * (one.eta + three.eta))


def random_graph(seed: int, nodes: int = 200, edges: int = 700) -> nx.DiGraph:
    random = np.random.default_rng(seed)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    pairs = random.integers(0, nodes, (edges, 2))
    graph.add_weighted_edges_from(
        (s, t, w) for (s, t), w in zip(pairs.tolist(), random.random(edges) + 0.1, strict=True)
        if s != t
    )  # fmt: skip
    return graph


def apart(probabilities: np.ndarray, expected: dict[Any, float]) -> float:
    return float(np.abs(probabilities - np.array(list(expected.values()))).sum())


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_are_those_of_networkx(seed: int) -> None:
    graph = random_graph(seed)
    ours = crawlrank.pagerank(graph)
    assert ours.converged
    assert ours.probability_error < 1e-8
    theirs = nx.pagerank(graph, tol=1e-14, max_iter=1000, weight=None)
    assert apart(ours.probabilities(), theirs) <= ours.probability_error + 1e-11
    assert ours.scores.sum() + ours.dummy == pytest.approx(201)


@pytest.mark.parametrize("seed", range(3))
def test_weighted_links_are_those_of_networkx(seed: int) -> None:
    graph = random_graph(seed)
    ours = crawlrank.pagerank(graph, weighted=True)
    theirs = nx.pagerank(graph, tol=1e-14, max_iter=1000)
    assert apart(ours.probabilities(), theirs) <= ours.probability_error + 1e-11
    plain = crawlrank.pagerank(graph)
    assert apart(plain.probabilities(), theirs) > 1e-3
    equal = [(s, t, 2.5) for s, t in graph.edges()]
    sources, targets, weights = (np.array(column) for column in zip(*equal, strict=True))
    alike = crawlrank.pagerank((sources, targets, weights), nodes=len(graph))
    assert alike.scores == pytest.approx(plain.scores, rel=2 * (alike.eta + plain.eta))


def test_personalized_pagerank_is_that_of_networkx_and_igraph() -> None:
    import igraph

    graph, weights = random_graph(7), {3: 2.0, 40: 1.0, 41: 0.5}
    ours = crawlrank.personalized(graph, weights)
    theirs = nx.pagerank(graph, personalization=weights, tol=1e-14, max_iter=1000, weight=None)
    assert apart(ours.probabilities(), theirs) <= ours.probability_error + 1e-11
    trusted = crawlrank.trustrank(graph, [3, 40])
    same = crawlrank.personalized(graph, np.isin(np.arange(200), [3, 40]).astype(float))
    assert trusted.scores.tobytes() == same.scores.tobytes()
    other = igraph.Graph(n=200, edges=list(graph.edges()), directed=True)
    reset = [float(node in (3, 40)) for node in range(200)]
    expected = other.personalized_pagerank(reset=reset, damping=0.85)
    # igraph passes on dangling scores to all nodes by `reset`, as crawlrank does
    assert np.abs(trusted.probabilities() - expected).sum() < 1e-7


def test_hits_are_those_of_igraph() -> None:
    import igraph

    graph = random_graph(2)
    ours = crawlrank.hits(graph)
    other = igraph.Graph(n=200, edges=list(graph.edges()), directed=True)
    authorities, hubs = np.array(other.authority_score()), np.array(other.hub_score())
    assert ours.scores == pytest.approx(authorities / np.linalg.norm(authorities), abs=1e-8)
    assert ours.more["hubs"] == pytest.approx(hubs / np.linalg.norm(hubs), abs=1e-8)


def test_indegrees_are_exact() -> None:
    graph = random_graph(4)
    ours = crawlrank.degree(graph)
    assert ours.as_dict() == dict(graph.in_degree())
    assert (ours.certificate, ours.eta, ours.converged) == (0, 0, True)


def test_opic_of_a_ring_is_even() -> None:
    ring = ([0, 1, 2], [1, 2, 0])
    for result in (crawlrank.opic(ring), crawlrank.opic_hits(ring)):
        assert result.scores == pytest.approx(np.full(3, 2.0), rel=1e-8)
    fully = crawlrank.opic_hits(ring, relevance={0: 0.25})
    assert fully.converged
    assert fully.scores.std() > 0.01


def test_undirected_edges_lead_both_ways() -> None:
    import igraph

    path = nx.path_graph(4)
    ours = crawlrank.pagerank(path)
    theirs = nx.pagerank(path, tol=1e-14, max_iter=1000)
    assert apart(ours.probabilities(), theirs) < 1e-8
    assert crawlrank.pagerank(igraph.Graph.Ring(5)).scores == pytest.approx(np.ones(5))


def test_loops_and_repeated_edges_are_left_out_and_counted() -> None:
    result = crawlrank.pagerank(([0, 0, 0, 1, 1], [1, 1, 0, 0, 1]))
    assert (result.self_loops, result.duplicates, result.edges) == (2, 1, 2)
    assert result.scores == pytest.approx(np.ones(2))
    summed = crawlrank.pagerank(([0, 0, 0, 1], [1, 1, 2, 0], [1, 2, 1, 0]))
    assert (summed.duplicates, summed.edges) == (1, 2)
    # node 0 gives 3/4 to node 1, and the link of weight 0 is none
    assert summed.scores == pytest.approx([0.15, 0.15 + 0.85 * 0.15 * 0.75, 0.15 + 0.85 * 0.15 / 4])


def test_nodes_without_links_count() -> None:
    result = crawlrank.pagerank(([], []), nodes=3)
    assert result.scores.tolist() == [0.15, 0.15, 0.15]
    assert result.probabilities().tolist() == pytest.approx([1 / 3] * 3)
    assert len(crawlrank.pagerank(sp.csr_matrix((4, 4)))) == 4


def test_rounds_that_are_not_enough_are_told_of() -> None:
    graph = random_graph(1)
    few = crawlrank.pagerank(graph, max_rounds=3)
    assert not few.converged
    exact = crawlrank.pagerank(graph, tolerance=1e-13).scores
    assert (np.abs(few.scores - exact) <= few.eta * exact).all()
    plain = crawlrank.pagerank(graph, iterations=3)
    assert (len(plain.rounds), plain.converged) == (3, False)


FEW_STARTS = st.dictionaries(st.integers(0, 11), st.sampled_from([1.0, 5.0, 1e6]), min_size=1)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
    st.none() | FEW_STARTS,
    st.integers(1, 6),
    st.booleans(),
)
def test_bounds_hold_after_any_number_of_rounds(
    pairs: list[tuple[int, int]], starts: dict[int, float] | None, rounds: int, plain: bool
) -> None:
    """Also where all start at few nodes, and the first vector is far from the scores."""
    links = tuple(np.array(pairs, np.int64).reshape(-1, 2).T)
    options: dict[str, Any] = {"iterations": rounds} if plain else {"max_rounds": rounds}
    if starts is None:
        ours = crawlrank.pagerank(links, nodes=12, **options)
    else:
        ours = crawlrank.personalized(links, starts, nodes=12, **options)
    matrix = np.zeros((12, 12))
    for source, target in {pair for pair in pairs if pair[0] != pair[1]}:
        matrix[target, source] = 1
    shares = matrix / np.maximum(matrix.sum(axis=0), 1)
    start = np.array([(starts or {}).get(node, 0.0 if starts else 1.0) for node in range(12)])
    exact = np.linalg.solve(np.eye(12) - 0.85 * shares, 0.15 * 12 * start / start.sum())
    errors = np.abs(ours.scores - exact)
    slack = 1e-12 * exact.sum()
    assert errors.max() <= ours.absolute + slack
    assert errors.sum() <= ours.certificate * ours.scores.sum() + slack
    assert (errors <= ours.eta * exact + slack).all() or ours.eta == np.inf
    assert ours.dummy >= 0


def test_results_say_what_they_are() -> None:
    result = crawlrank.pagerank(table())
    assert result.best(2) == sorted(result.as_dict().items(), key=lambda pair: -pair[1])[:2]
    assert repr(result).startswith("<pagerank of 7 nodes and 8 edges, certificate ")
    assert result.table().column_names == ["node", "score"]
    assert crawlrank.hits(random_graph(2)).table().column_names == ["node", "score", "hubs"]
    with pytest.raises(crawlrank.BadInput, match="no node 'z'"):
        result["z"]
    assert crawlrank.pagerank(EDGES, tolerance=np.float32(1e-6)).converged
    for label in ("a", 1.5, -1):
        with pytest.raises(crawlrank.BadInput, match="no node "):
            crawlrank.pagerank(EDGES)[label]


NAN = float("nan")
FAULTS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "an id below 0": (
        ([0, -1], [1, 0]),
        {},
        r"graph, sources\[1\]: -1; expected an id of at least",
    ),
    "ids that are floats": (([0.5], [1]), {}, "values of the type float64; expected integers"),
    "lengths": (([0, 1], [1]), {}, r"shapes \(2,\), \(1,\); expected"),
    "one array": (([0, 1],), {}, "1 arrays; expected two"),
    "too few nodes": (([0, 5], [1, 2]), {"nodes": 5}, r"sources\[1\]: 5; expected an id below"),
    "a huge id": (([0], [10**12]), {}, "the id 1000000000000 in a graph of 1 edge"),
    "no node": (([], []), {"nodes": 0}, "nodes: 0; expected a whole number of at least 1"),
    "no number of nodes": (([], []), {"nodes": "x"}, "nodes: 'x'; expected a whole number"),
    "nodes that are not a number": (([], []), {"nodes": float("nan")}, "nodes: nan; expected"),
    "fewer than no nodes": (([], []), {"nodes": -1}, "nodes: -1; expected"),
    "nothing": (([], []), {}, "no node"),
    "a weight that is none": (([0], [1], [NAN]), {}, r"weights\[0\]: nan; expected a finite"),
    "a weight below 0": (([0, 1], [1, 0], [1, -2]), {}, r"weights\[1\]: -2; expected"),
    "a weight of few digits": (
        ([0, 0], [1, 2], [1, 5e-324]),
        {},
        r"weights\[1\]: .*e-324; expected",
    ),
    "an infinite weight": (([0], [1], [np.inf]), {}, r"weights\[0\]: inf"),
    "no weights": (([0], [1]), {"weighted": True}, "two arrays, weighted; expected weights"),
    "a matrix that is not square": (sp.csr_matrix((2, 3)), {}, "2x3; expected a square"),
    "a matrix with NaN": (sp.csr_matrix([[0, NAN], [0, 0]]), {}, r"weights\[0\]: nan"),
    "other columns": (pa.table({"from": [1], "to": [2]}), {}, "from, to; expected a column source"),
    "a missing label": (pa.table({"source": ["a", None], "target": ["b", "c"]}), {}, "missing"),
    "labels that are floats": (pa.table({"source": [0.5], "target": [1.0]}), {}, "double"),
    "nodes of a matrix": (sp.csr_matrix((2, 2)), {"nodes": 3}, "Leave nodes out"),
    "another object": ({"a": ["b"]}, {}, "type dict; expected a scipy.sparse"),
    "tolerance": (EDGES, {"tolerance": 0}, "tolerance: 0; expected a number above 0"),
    "a tolerance in words": (
        EDGES,
        {"tolerance": "1"},
        "tolerance: '1'; expected a number above 0",
    ),
    "no rounds": (EDGES, {"max_rounds": 0}, "max_rounds: 0; expected a whole number"),
    "iterations in words": (EDGES, {"iterations": "ten"}, "iterations: 'ten'; expected a whole"),
    "iterations without end": (EDGES, {"iterations": np.inf}, "iterations: inf; expected a whole"),
    "iterations": (EDGES, {"iterations": 1.5}, "iterations: 1.5; expected a whole number"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_graphs_are_refused(fault: str) -> None:
    graph, options, message = FAULTS[fault]
    with pytest.raises(crawlrank.BadInput, match=message) as error:
        crawlrank.pagerank(graph, **options)
    assert error.value.exit_code == 3


def test_bad_weights_of_nodes_are_refused() -> None:
    for weights, message in (
        ({"x": 1}, r"weights\['x'\]: no node of the graph"),
        ({0: NAN}, "weights, node 0: nan"),
        ({0: -1}, "weights, node 0: -1"),
        ([1, 2], r"shape \(2,\); expected \(7,\)"),
        ({}, "0 for all nodes"),
        ({0: "x"}, r"weights\[0\]: 'x'; expected a finite number"),
        ({0: [1, 2]}, r"weights\[0\]: \[1, 2\]; expected one number"),
        (["x"] * 7, "weights: .*'x'.*; expected a finite number"),
    ):
        with pytest.raises(crawlrank.BadInput, match=message):
            crawlrank.personalized(EDGES, weights)
    with pytest.raises(crawlrank.BadInput, match="links with weights; expected links without"):
        crawlrank.hits((*EDGES, np.ones(8)))
    with pytest.raises(crawlrank.BadInput, match="relevance of 2"):
        crawlrank.hits(EDGES, relevance={0: 2})


def test_a_machine_without_memory_is_a_shortage() -> None:
    class Full(dict[int, float]):
        def items(self) -> Any:
            raise MemoryError

    with pytest.raises(crawlrank.Shortage, match="out of memory"):
        crawlrank.personalized(EDGES, Full())


def test_harmonic_centrality_is_that_of_networkx_and_igraph() -> None:
    graph = random_graph(4)
    ours = crawlrank.harmonic(graph)
    theirs = nx.harmonic_centrality(graph)
    assert ours.scores == pytest.approx([theirs[node] for node in graph], rel=1e-12)
    assert (ours.converged, ours.method) == (True, "harmonic")
    import igraph  # takes a second

    other = igraph.Graph(n=200, edges=list(graph.edges), directed=True)
    means = other.harmonic_centrality(mode="in", normalized=False)
    assert ours.scores == pytest.approx(means, rel=1e-12)
    assert ours.more["reach"].max() <= 199
    assert set(ours.table().column_names) == {"node", "score", "reach", "closeness"}


def test_harmonic_centrality_may_be_estimated() -> None:
    graph = random_graph(4)
    exact, estimated = crawlrank.harmonic(graph), crawlrank.harmonic(graph, log2m=12, seed=2)
    assert estimated.scores == pytest.approx(exact.scores, rel=estimated.eta)
    assert estimated.scores.tolist() != crawlrank.harmonic(graph, log2m=12).scores.tolist()
    assert estimated.converged
    for options, message in (
        ({"log2m": 5}, "log2m: 5; expected a whole number from 6 to 14"),
        ({"seed": 2**70}, f"seed: {2**70}; expected a whole number from 0 to"),
        ({"seed": "a"}, "seed: 'a'; expected a whole number from 0 to"),
    ):
        with pytest.raises(crawlrank.BadInput, match=message):
            crawlrank.harmonic(graph, **options)  # type: ignore[arg-type]
    assert not crawlrank.harmonic(graph, log2m=8, max_rounds=2).converged


def test_a_whole_number_of_nodes_may_be_a_float() -> None:
    assert crawlrank.pagerank(([0, 1], [1, 0]), nodes=2.0).nodes == 2  # type: ignore[arg-type]


@pytest.mark.parametrize("node", ["a", ("a", 1)])
def test_labels_of_several_types_make_no_table(node: object) -> None:
    result = crawlrank.pagerank(nx.DiGraph([(node, 1), (1, 2)]))
    assert set(result.as_dict()) == {node, 1, 2}
    with pytest.raises(crawlrank.BadInput, match=r"Arrow makes no column.*as_dict"):
        result.table()


def test_vertices_of_one_name_are_refused() -> None:
    import igraph

    graph = igraph.Graph([(0, 1), (1, 2)], directed=True)
    graph.vs["name"] = ["x", "x", "y"]
    with pytest.raises(crawlrank.BadInput, match="several vertices of the name 'x'"):
        crawlrank.pagerank(graph)


LEAST = 2.3e-308
SHARED = ([0, 0, 1, 2], [1, 2, 0, 0])


@pytest.mark.parametrize("weight", [1e308, LEAST])
def test_weights_of_any_size_share_alike(weight: float) -> None:
    """No sum of them is infinite, and no score is divided by nothing."""
    for weights in ([weight] * 4, [weight, weight, 1, 1], [1, 1, weight, weight]):
        assert crawlrank.pagerank((*SHARED, weights)).scores == pytest.approx(
            crawlrank.pagerank((*SHARED, [1, 1, 1, 1])).scores, rel=1e-14
        )
    with pytest.raises(crawlrank.BadInput, match=r"1e-200 beside 1e\+200 of the same node"):
        crawlrank.pagerank((*SHARED, [1e200, 1e-200, 1, 1]))


@pytest.mark.parametrize("repeated", [False, True])
def test_many_small_weights_beside_a_large_one(repeated: bool) -> None:
    """Their sum is rounded once, so that the bound of each score holds."""
    count, small = 10_000, 2.0**-54
    targets = [1] * (count + 1) + [2] if repeated else [*range(1, count + 2)]
    weights = [1.0] + [small] * count + [1.0] * repeated
    result = crawlrank.pagerank(([0] * len(targets), targets, weights), tolerance=1e-13)
    given = 1 + count * Fraction(small) if repeated else Fraction(1)
    total = sum(map(Fraction, weights))
    exact = Fraction(15, 100) + Fraction(85, 100) * Fraction(15, 100) * given / total
    assert abs(Fraction(float(result.scores[1])) - exact) <= Fraction(result.eta) * exact


def star(hub: int, size: int, tail: int) -> tuple[list[tuple[int, int]], int]:
    """Links of `size` pages to one, and a tail; and the next number."""
    edges = [(hub + 1 + n, hub) for n in range(size)]
    last, new = hub + 1, hub + size + 1
    for n in range(tail):
        edges.append((last, new) if n % 2 == 0 else (new, last))
        last, new = new, new + 1
    return edges, new


@pytest.mark.parametrize(("size", "tails"), [(20, (4, 3)), (30, (3, 4)), (20, (3, 4))])
def test_hits_of_two_communities_of_nearly_equal_weight(size: int, tails: tuple[int, int]) -> None:
    first, begin = star(0, size, tails[0])
    second, _ = star(begin, size, tails[1])
    result = crawlrank.hits(tuple(zip(*(first + second), strict=True)))
    matrix = np.zeros((len(result), len(result)))
    for source, target in first + second:
        matrix[source, target] = 1
    exact = np.abs(np.linalg.svd(matrix)[2][0])
    assert 0 < result.certificate < 1e-6
    assert np.linalg.norm(result.scores - exact) <= result.certificate


@pytest.mark.parametrize(("links", "nodes"), [(([], []), 3), (([], []), 1), (([0], [0]), 2)])
def test_hits_of_a_perturbed_matrix_without_links(links: object, nodes: int) -> None:
    scores = crawlrank.hits(links, nodes=nodes, perturb=1e-6).scores
    assert scores == pytest.approx([nodes**-0.5] * nodes)
    with pytest.raises(crawlrank.BadInput, match=r"a number from 0 to 1e\+100"):
        crawlrank.hits(links, nodes=nodes, perturb=1e200)
    with pytest.raises(crawlrank.BadInput, match="perturb: 'x'; expected a number"):
        crawlrank.hits(links, nodes=nodes, perturb="x")  # type: ignore[arg-type]


def test_hits_to_a_large_tolerance() -> None:
    assert crawlrank.hits(([10, 5, 6], [1, 0, 0]), tolerance=10).scores[0] == pytest.approx(1)
