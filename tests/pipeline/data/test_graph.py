"""Graph files: what is read, and what is refused with file and line."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import NAMED, graph_of, graphs, lines_of, scored, write_graph

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Graph, read_graph

DUMMY = "dummy\t1.0\tO:dummy"


def same(a: Graph, b: Graph) -> bool:
    columns = ("ids", "scores", "offsets", "targets")
    return a.dummy == b.dummy and all(np.array_equal(getattr(a, c), getattr(b, c)) for c in columns)


@pytest.mark.parametrize("name", NAMED)
def test_a_named_graph_comes_back(name: str, tmp_path: Path) -> None:
    assert same(read_graph(write_graph(NAMED[name], tmp_path / "g.txt")), NAMED[name])


@settings(
    max_examples=examples(50),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(graphs(), st.randoms())
def test_the_order_of_lines_and_parts_is_no_matter(
    tmp_path: Path, graph: Graph, rng: random.Random
) -> None:
    graph = scored(graph, np.arange(graph.nodes) + 0.5, dummy=1.25)
    lines = lines_of(graph)
    rng.shuffle(lines)
    cut = rng.randrange(len(lines) + 1)
    folder = tmp_path / "parts"
    folder.mkdir(exist_ok=True)
    (folder / "part-0").write_text("".join(f"{line}\n" for line in lines[:cut]))
    with gzip.open(folder / "part-1.gz", "wt") as part:
        part.write("".join(f"{line}\n" for line in lines[cut:]))
    assert same(read_graph(folder), graph)
    assert same(read_graph(str(folder / "part-*")), graph)


def test_ids_need_not_be_contiguous(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text(f"900\t2.5\tO:7\n{DUMMY}\n7\t1.0\tO:40, 900\n40\t1.0\tO:dummy\n")
    graph = read_graph(path)
    assert graph.ids.tolist() == [7, 40, 900]
    assert graph.scores.tolist() == [1.0, 1.0, 2.5]
    assert graph.offsets.tolist() == [0, 2, 2, 3]
    assert graph.targets.tolist() == [1, 2, 0]
    assert graph.targets.dtype == np.int32
    assert graph.outdegrees.tolist() == [2, 0, 1]
    assert graph.indegrees.tolist() == [1, 1, 1]
    assert (graph.nodes, graph.edges, graph.name) == (3, 3, str(path))


def test_targets_out_of_order_are_sorted(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text(f"0\t1.0\tO:dummy\n1\t1.0\tO:2,0\n2\t1.0\tO:1,0\n{DUMMY}\n")
    assert same(read_graph(path), graph_of(3, [(1, 0), (1, 2), (2, 0), (2, 1)]))


@pytest.mark.slow
def test_a_known_graph_of_more_than_one_block_of_edges(tmp_path: Path) -> None:
    """Every node points to the next 1,000; ids are ten times the position."""
    n, d = 1100, 1000
    path = tmp_path / "g.txt"
    with path.open("w") as lines:
        for i in range(n):
            named = ",".join(str(10 * ((i + k) % n)) for k in range(1, d + 1))
            lines.write(f"{10 * i}\t1.0\tO:{named}\n")
        lines.write(DUMMY + "\n")
    graph = read_graph(path)
    assert graph.edges == n * d
    assert set(graph.indegrees.tolist()) == {d}
    missing = set(range(n)) - set(graph.targets[graph.offsets[5] : graph.offsets[6]].tolist())
    assert missing == {*range(6), *range(1006, n)}


BAD = {
    "unknown target": (["0\t1.0\tO:5", DUMMY], ", line 1", "target 5 of id 0"),
    "id twice": (
        ["0\t1.0\tO:dummy", "1\t1.0\tO:0", "0\t1.0\tO:1", DUMMY],
        ", line 3",
        "a second time",
    ),
    "no dummy": (["0\t1.0\tO:dummy"], "g.txt", "no dummy line"),
    "second dummy": (["0\t1.0\tO:dummy", DUMMY, DUMMY], ", line 3", "a second dummy line"),
    "only dummy": ([DUMMY], "g.txt", "no node, only dummy"),
    "dummy beside": (["0\t1.0\tO:1,dummy", "1\t1.0\tO:0", DUMMY], ", line 1", "dummy beside"),
    "dummy points on": (["0\t1.0\tO:dummy", "dummy\t1.0\tO:0"], ", line 2", "dummy with targets"),
    "self-loop": (
        ["0\t1.0\tO:0,1", "1\t1.0\tO:0", DUMMY],
        ", line 1",
        "a target of itself",
    ),
    "edge twice": (["0\t1.0\tO:1,1", "1\t1.0\tO:0", DUMMY], ", line 1", "a target of id 0 twice"),
    "negative": (["0\t-1.0\tO:dummy", DUMMY], ", line 1", "score '-1.0' of id '0'"),
    "infinite": (["0\t1e999\tO:dummy", DUMMY], ", line 1", "score inf of id 0"),
    "not a number": (["0\tnan\tO:dummy", DUMMY], ", line 1", "score 'nan'"),
    "leading zero": (["00\t1.0\tO:dummy", DUMMY], ", line 1", "id 00"),
    "19 digits": (["9" * 19 + "\t1.0\tO:dummy", DUMMY], ", line 1", "id 9999"),
    "empty line": (["0\t1.0\tO:dummy", "", DUMMY], ", line 2", "an empty line"),
    "no targets": (["0\t1.0\tO:", DUMMY], ", line 1", "target ''"),
    "other format": (["0 1", DUMMY], ", line 1", "0 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_graph_is_refused_with_its_place(case: str, tmp_path: Path) -> None:
    lines, place, found = BAD[case]
    path = tmp_path / "g.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(BadInput) as refused:
        read_graph(path)
    assert refused.value.where.endswith(place)
    assert found in refused.value.found
    assert refused.value.expected


def test_the_cure_is_to_run_gen_graph(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("0\t1.0\tO:dummy\n")
    with pytest.raises(BadInput, match="gen-graph"):
        read_graph(path)


def test_an_empty_file_is_no_graph(tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_text("")
    with pytest.raises(BadInput, match="no dummy line"):
        read_graph(path)
