"""page_rank: Heritrix's own scores, published values, closed forms, the same bits everywhere."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest
from support import plain
from support.graphs import NAMED, graph_of, write_graph
from support.inputs.samples import made_captures, made_links, oracle, write
from support.paths import DATA
from support.systems.cluster import cluster, dataset, inline

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import parse_graph_line
from crawlrank.jobs.kernel.rank.plain_round import RoundSums
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.page_rank import PageRank


def iterate(
    graph: Path, tmp: Path, launcher: Launcher, count: int
) -> Iterator[tuple[Path, RoundSums]]:
    """The dataset and the sums of each of `count` rounds."""
    shift = 0.0
    tmp.mkdir(exist_ok=True)
    for number in range(1, count + 1):
        output = tmp / f"pr{number}"
        args = ["--shift", f"{shift:.20f}"]
        outcome = launch(PageRank, [graph], output, launcher, args)
        sums = RoundSums()
        for part in outcome.sums:
            sums.merge(RoundSums(**part))
        assert sums.mass_error < 1e-12  # the sums that Java made
        assert sums.dummies == 1
        graph, shift = output, sums.next_shift()
        yield output, sums


def ranks_after(rounds: int, graph: Path, tmp: Path, launcher: Launcher) -> dict[bytes, float]:
    *_, (last, _) = iterate(graph, tmp, launcher, rounds)
    return scores(dataset(last))


def scores(lines: list[bytes]) -> dict[bytes, float]:
    return {line.split(b"\t")[0]: float(line.split(b"\t")[1]) for line in lines}


def texts(lines: list[bytes]) -> dict[bytes, bytes]:
    """The scores as written: equal texts are equal bits."""
    found = {line.split(b"\t")[0]: line.split(b"\t")[1] for line in lines}
    assert len(found) == len(lines)
    return found


# Heritrix's own job


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_rounds_are_those_of_heritrix_own_job(number: int, tmp_path: Path) -> None:
    graph = write(tmp_path / "pr0.txt", oracle("pr0.txt.gz"))
    found = ranks_after(number, graph, tmp_path / "rounds", cluster(tmp_path, 3, 1))
    wanted = scores(oracle(f"pr{number}.txt.gz"))
    assert len(wanted) == 18_038
    assert found == pytest.approx(wanted, rel=1e-9, abs=0)


@pytest.mark.slow
def test_local_tasks_write_the_bits_of_inline_ones(
    made: dict[int, list[int]], tmp_path: Path
) -> None:
    """The graph in two files, one of them gzip; two tasks at a time."""
    lines = plain.graph_lines(made)
    (tmp_path / "graph").mkdir()
    write(tmp_path / "graph" / "part-0", lines[:50])
    part = b"".join(line + b"\n" for line in lines[50:])
    (tmp_path / "graph" / "part-1.gz").write_bytes(gzip.compress(part))
    local = Launcher("local", tmp_path, processes=2)
    [(there, sums)] = iterate(tmp_path / "graph", tmp_path / "local", local, 1)
    [(here, _)] = iterate(tmp_path / "graph", tmp_path / "inline", inline(tmp_path), 1)
    assert texts(dataset(there)) == texts(dataset(here))
    assert sums.nodes == len(made)


@pytest.mark.slow
def test_probabilities_are_networkx_own(tmp_path: Path) -> None:
    """From Heritrix's tenth round on; the textbook spreads dangling mass evenly."""
    lines = oracle("pr10.txt.gz")
    graph = nx.DiGraph()
    for line in lines[:-1]:
        node, _, targets = parse_graph_line(line)
        graph.add_node(node)
        graph.add_edges_from((node, target) for target in targets if target != b"dummy")
    assert (len(graph), graph.size()) == (18_037, 19_912)
    wanted = nx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=500)
    write(tmp_path / "pr10.txt", lines)
    *_, (last, sums) = iterate(tmp_path / "pr10.txt", tmp_path / "rounds", inline(tmp_path), 6)
    found = scores(dataset(last))
    del found[b"dummy"]
    total = math.fsum(found.values())
    away = math.fsum(abs(score / total - wanted[node]) for node, score in found.items())
    assert len(found) == len(wanted)
    assert away < 1e-8
    assert sums.probability_certificate < 1e-8


# published values


def ldbc(name: str) -> tuple[dict[int, list[int]], dict[bytes, float]]:
    folder = DATA / "pagerank"
    rows = [
        list(map(int, line.split())) for line in (folder / f"{name}-input").read_text().splitlines()
    ]
    [told] = [path for path in folder.glob(f"{name}-*") if not path.name.endswith("input")]
    pairs = [line.split() for line in told.read_bytes().splitlines()]
    return {node: targets for node, *targets in rows}, {n: float(p) for n, p in pairs}


@pytest.mark.parametrize(
    ("name", "rounds", "tolerance"),
    [
        ("example__example-undirected", 2, 1e-15),
        pytest.param("pr__undir", 26, 1e-9, marks=pytest.mark.slow),
        pytest.param("pr__dir", 65, 1e-8, marks=pytest.mark.slow),
    ],
)
def test_published_probabilities(name: str, rounds: int, tolerance: float, tmp_path: Path) -> None:
    """Without dangling nodes every round is the textbook's, with them only the fixed point is.

    One round more or less of the second misses its values by 3e-7."""
    targets, wanted = ldbc(name)
    graph = write(tmp_path / "pr0.txt", plain.graph_lines(targets))
    found = ranks_after(rounds, graph, tmp_path / "rounds", inline(tmp_path))
    del found[b"dummy"]
    total = sum(found.values())
    assert {node: score / total for node, score in found.items()} == pytest.approx(
        wanted, rel=0, abs=tolerance
    )


# closed forms


@pytest.mark.parametrize("name", ["cycle", "clique", "two components"])
def test_regular_graphs_keep_their_scores(name: str, tmp_path: Path) -> None:
    """Each node gets as much as it gives: 0.15 + 0.85 = 1. Nothing dangles, so neither does dummy
    change: it points to itself."""
    graph = write_graph(NAMED[name], tmp_path / "graph")
    found = ranks_after(5, graph, tmp_path / "rounds", inline(tmp_path))
    assert found == pytest.approx(dict.fromkeys(found, 1.0), rel=1e-15)


def test_a_chain_into_a_dangling_node(tmp_path: Path) -> None:
    """x_0 = 0.15, x_i = 0.15 + 0.85 x_{i-1}: 1 - 0.85^{i+1}, exact after six rounds. Those rounds
    before hold 1 wherever the start has not been pushed out: x_5 = 1 until the sixth."""
    graph = write_graph(NAMED["chain"], tmp_path / "graph")
    rounds = [
        scores(dataset(place)) for place, _ in iterate(graph, tmp_path / "r", inline(tmp_path), 6)
    ]
    assert [found[b"5"] for found in rounds[:5]] == [1.0] * 5
    fixed = {b"%d" % i: 1 - 0.85 ** (i + 1) for i in range(6)}
    del (last := rounds[-1])[b"dummy"]
    assert last == pytest.approx(fixed, rel=1e-14)


def test_a_star_into_a_dangling_hub(tmp_path: Path) -> None:
    """Leaves 0.15 at once. Hub: 0.15 + 0.85 * 7, then 0.15 + 0.85 * 7 * 0.15 for ever. Dummy holds
    what is missing to N + 1 = 9."""
    graph = write_graph(NAMED["star"], tmp_path / "graph")
    for number, (place, _) in enumerate(iterate(graph, tmp_path / "r", inline(tmp_path), 3)):
        hub = 0.15 + 0.85 * 7 * (1 if number == 0 else 0.15)
        wanted = {b"0": hub, b"dummy": 9 - hub - 7 * 0.15}
        wanted |= {b"%d" % leaf: 0.15 for leaf in range(1, 8)}
        assert scores(dataset(place)) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("nodes", [1, 6])
def test_nodes_without_any_link(nodes: int, tmp_path: Path) -> None:
    graph = write_graph(graph_of(nodes, []), tmp_path / "graph")
    found = ranks_after(2, graph, tmp_path / "r", inline(tmp_path))
    wanted = dict.fromkeys((b"%d" % node for node in range(nodes)), 0.15)
    assert found == pytest.approx(wanted | {b"dummy": nodes + 1 - 0.15 * nodes}, rel=1e-14)


# the same bits on every cluster

MANY_PARTS = pytest.param(64, 5, marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def made() -> dict[int, list[int]]:
    """A graph of made links: one host with most nodes, hubs, dangling and lonely nodes."""
    links = plain.canonical_links(made_links(1200))
    spellings = plain.uris(made_links(1200), made_captures())
    return plain.graph(links, plain.ids(links, spellings, "all"))


def check_bits(made: dict[int, list[int]], tmp: Path, launcher: Launcher) -> None:
    """Three rounds against exact fractions, rounded once; the graph in two files."""
    lines = plain.graph_lines(made)
    (tmp / "graph").mkdir()
    write(tmp / "graph" / "part-0", lines[1::3])
    write(tmp / "graph" / "part-1", lines[0::3] + lines[2::3])
    for number, (place, sums) in enumerate(iterate(tmp / "graph", tmp / "r", launcher, 3), 1):
        wanted = plain.scores_after(number, made)
        found = texts(dataset(place))
        dummy = float(found.pop(b"dummy"))
        assert found == {b"%d" % node: repr(x).encode() for node, x in wanted.items()}
        assert dummy + math.fsum(wanted.values()) == pytest.approx(len(made) + 1, rel=1e-14)
        assert sums.new_l1 == pytest.approx(math.fsum(wanted.values()), rel=1e-14)
        assert (sums.nodes, sums.edges) == (len(made), sum(map(len, made.values())))


@pytest.mark.parametrize("ranges", [1, 8])
def test_bits_inline(ranges: int, made: dict[int, list[int]], tmp_path: Path) -> None:
    check_bits(made, tmp_path, inline(tmp_path, ranges))


@pytest.mark.few(1)
@pytest.mark.parametrize(("reducers", "maps"), [(1, 5), (3, 1), (4, 17), MANY_PARTS])
def test_bits_on_a_cluster(
    reducers: int, maps: int, made: dict[int, list[int]], tmp_path: Path
) -> None:
    check_bits(made, tmp_path, cluster(tmp_path, reducers, seed=reducers, maps=maps))


def test_bits_when_memory_is_full_at_once(made: dict[int, list[int]], tmp_path: Path) -> None:
    check_bits(made, tmp_path, cluster(tmp_path, 3, seed=9, combined=3))


# what is no graph

D = b"dummy\t1.0\tO:dummy"


@pytest.mark.parametrize(
    ("lines", "number", "found"),
    [
        ([b"0\t1.0\tO:1", D], 1, "id 1: is pointed to, but has no line of its own"),
        ([b"0\t1.0\tO:dummy"], 1, "id dummy: is pointed to, but has no line of its own"),
        ([b"0\t1.0\tO:1", b"1\t1.0\tO:0", b"1\t1.0\tO:0", D], 3, "id 1: has 2 lines"),
        ([b"0\t1.0\tO:dummy", D, D], 3, "id dummy: has 2 lines"),
    ],
)
@pytest.mark.parametrize("reducers", [1, 3])
def test_lines_that_make_no_graph(
    lines: list[bytes], number: int, found: str, reducers: int, tmp_path: Path
) -> None:
    graph = write(tmp_path / "graph.txt", lines)
    with pytest.raises(BadInput) as refused:
        launch(PageRank, [graph], tmp_path / "out", cluster(tmp_path, reducers))
    assert (refused.value.where, refused.value.found) == (f"{graph}, line {number}", found)
    assert "gen-graph" in refused.value.cure
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        (b"0 1.0", "'0 1.0'"),
        (b"0\t1.0\tO:1,1", "a target of id 0 twice"),
        (b"0\t1.0\tO:0", "id 0 as a target of itself"),
        (b"0\t1e999\tO:1", "score inf of id 0"),
        (b"", "an empty line"),
    ],
)
def test_a_bad_line_is_named_with_its_place(bad: bytes, found: str, tmp_path: Path) -> None:
    graph = write(tmp_path / "graph.txt", [b"1\t1.0\tO:dummy", bad, D])
    with pytest.raises(BadInput) as refused:
        launch(PageRank, [graph], tmp_path / "out", inline(tmp_path))
    assert (refused.value.where, refused.value.found) == (f"{graph}, line 2", found)
