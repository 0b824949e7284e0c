"""Packed rounds: closed forms, exact solutions, networkx, true certificates, clusters, resuming."""

from __future__ import annotations

import gzip
import math
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import (
    NAMED,
    exact_probabilities,
    exact_scores,
    graph_of,
    graphs,
    scored,
    web_like,
    write_graph,
)
from support.systems.cluster import cluster, dataset, inline

from crawlrank.jobs.kernel.errors import BadInput, JobFailed, NotConverged
from crawlrank.jobs.kernel.formats.reading import sized_parts
from crawlrank.jobs.kernel.rank.equation import Equation
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.pack_graph import PackGraph
from crawlrank.jobs.packed_round import PackedRound
from crawlrank.pipeline.data.graph import Graph, read_graph
from crawlrank.pipeline.engines.text import packed_ranking
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.engines.text.rounds import rank
from crawlrank.pipeline.ranking.certificate import certificate
from crawlrank.pipeline.ranking.options import Round, Stop

WEB = web_like(400, seed=5)


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    (tmp_path / "tmp").mkdir()
    return inline(tmp_path / "tmp")


def ranked(
    graph: Graph, folder: Path, launcher: Launcher, partitions: int, tolerance: float = 1e-9
) -> tuple[Graph, list[Round]]:
    folder.mkdir(exist_ok=True)
    path = write_graph(graph, folder / "graph")
    stop = Stop(tolerance=tolerance)
    found, rounds = PackedRounds(
        path, folder / "rounds", launcher, stop, partitions=partitions
    ).run()
    return read_graph(found), rounds


def check(graph: Graph, ranks: Graph, rounds: list[Round], tolerance: float) -> None:
    """The scores are those of the same graph, and the last round's bounds hold."""
    assert np.array_equal(ranks.ids, graph.ids)
    assert np.array_equal(ranks.offsets, graph.offsets)
    assert np.array_equal(ranks.targets, graph.targets)
    assert ranks.dummy + math.fsum(ranks.scores) == pytest.approx(graph.nodes + 1, rel=1e-12)
    told, exact = rounds[-1], exact_scores(graph)
    assert told["certificate"] <= tolerance
    assert (told["nodes"], told["edges"]) == (graph.nodes, graph.edges)
    assert told["dangling"] == (graph.outdegrees == 0).sum()
    solved = 1e-13  # what the oracle itself may be wrong by
    away = np.abs(ranks.scores - exact)
    assert away.sum() / ranks.scores.sum() <= told["certificate"] + solved
    assert (away / exact).max() <= told["eta"] + solved
    proved = certificate(ranks)
    assert proved.l1 <= told["certificate"] / 0.85 * 1.01
    assert proved.mass_error < 1e-12


# what is computed


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("name", "partitions"),
    [
        pytest.param(name, count, marks=[pytest.mark.slow] * (count != 1 + 2 * (number % 2)))
        for number, name in enumerate(sorted(NAMED))
        for count in (1, 3, 8)
    ],
)
def test_named_graphs(name: str, partitions: int, tmp_path: Path, launcher: Launcher) -> None:
    ranks, rounds = ranked(NAMED[name], tmp_path / "work", launcher, partitions, 1e-12)
    check(NAMED[name], ranks, rounds, 1e-12)
    if name in ("cycle", "clique", "two components"):
        assert ranks.scores == pytest.approx(np.ones(ranks.nodes), rel=1e-14)
    if name == "chain":
        assert ranks.scores == pytest.approx([1 - 0.85 ** (i + 1) for i in range(6)], rel=1e-12)


@settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), partitions=st.integers(1, 5), tolerance=st.sampled_from([1e-3, 1e-11]))
def test_any_graph(graph: Graph, partitions: int, tolerance: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ranks, rounds = ranked(graph, folder, inline(folder), partitions, tolerance)
        check(graph, ranks, rounds, tolerance)


@pytest.mark.few(1)
@pytest.mark.parametrize("partitions", [1, 4])
def test_probabilities_are_networkx_own(
    partitions: int, tmp_path: Path, launcher: Launcher
) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(WEB.nodes))
    sources = np.repeat(np.arange(WEB.nodes), WEB.outdegrees)
    graph.add_edges_from(zip(sources.tolist(), WEB.targets.tolist(), strict=True))
    wanted = nx.pagerank(graph, alpha=0.85, tol=1e-13, max_iter=500)
    ranks, rounds = ranked(WEB, tmp_path / "work", launcher, partitions)
    found = ranks.scores / ranks.scores.sum()
    away = math.fsum(abs(found[node] - p) for node, p in wanted.items())
    assert away <= rounds[-1]["probability_certificate"] + 1e-10
    assert np.abs(found - exact_probabilities(WEB)).sum() <= rounds[-1]["probability_certificate"]
    assert rounds[-1]["partitions"] == partitions
    assert (len(rounds) == 1) == (partitions == 1)  # with nobody to exchange with, one is enough


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("damping", [0.5, 0.9])
def test_networkx_agrees_on_other_dampings(
    damping: float, tmp_path: Path, launcher: Launcher
) -> None:
    """Packed rounds in three partitions, and plain ones."""
    path, equation = write_graph(WEB, tmp_path / "graph"), Equation(damping)
    net = nx.DiGraph()
    net.add_nodes_from(range(WEB.nodes))
    sources = np.repeat(np.arange(WEB.nodes), WEB.outdegrees)
    net.add_edges_from(zip(sources.tolist(), WEB.targets.tolist(), strict=True))
    wanted = nx.pagerank(net, damping, tol=1e-13, max_iter=2000)
    to, stop = (path, tmp_path / "packed", launcher), Stop(tolerance=1e-8)
    packed = PackedRounds(*to, stop, partitions=3, equation=equation).run()
    plain = rank(path, tmp_path / "plain", launcher, Stop(iterations=9), equation=equation)
    for ranks, rounds in (packed, plain):
        scores = read_graph(ranks).scores
        found = scores / scores.sum()
        away = math.fsum(abs(found[node] - p) for node, p in wanted.items())
        assert away <= rounds[-1]["probability_certificate"] + 1e-10
    assert packed[1][-1]["certificate"] <= 1e-8
    assert plain[1][-1]["certificate"] < damping**8 / (1 - damping)


def test_every_round_tells_the_truth(tmp_path: Path, launcher: Launcher) -> None:
    """The scores of each round, written when no more are allowed, against the exact ones."""
    path = write_graph(WEB, tmp_path / "graph")
    exact = exact_scores(WEB)
    for most in (1, 2, 4):
        told: list[Round] = []
        with pytest.raises(NotConverged, match=f"after {most} rounds? .*--max-rounds"):
            PackedRounds(
                path, tmp_path / f"r{most}", launcher, Stop(tolerance=1e-15, max_rounds=most),
                [], lambda entry, _, told=told: told.append(entry), partitions=4,
            ).run()  # fmt: skip
        assert len(told) == most
        ranks = read_graph(tmp_path / f"r{most}" / "ranks")
        away = np.abs(ranks.scores - exact)
        assert away.sum() / ranks.scores.sum() <= told[-1]["certificate"]
        assert (away / exact).max() <= told[-1]["eta"]


@pytest.mark.slow
def test_ids_with_gaps_and_scores_of_a_round_before(tmp_path: Path, launcher: Launcher) -> None:
    begun = scored(WEB, np.linspace(0.5, 1.5, WEB.nodes))
    ids = np.cumsum(1 + (np.arange(WEB.nodes) ** 5) % 10**13)
    sparse = Graph("sparse", ids, begun.scores, WEB.offsets, WEB.targets, begun.dummy)
    ranks, rounds = ranked(sparse, tmp_path / "work", launcher, 5)
    check(sparse, ranks, rounds, 1e-9)


@pytest.mark.slow
def test_far_fewer_rounds_than_plain_ones(tmp_path: Path, launcher: Launcher) -> None:
    """Hosts in a ring, each a chain of pages that link back and forth: slow without steering."""
    hosts, pages = 40, 25
    edges = []
    for host in range(hosts):
        first = host * pages
        edges += [(first + k, first + k + 1) for k in range(pages - 1)]
        edges += [(first + k + 1, first + k) for k in range(pages - 1)]
        edges.append((first, (first + pages) % (hosts * pages)))
    graph = graph_of(hosts * pages, edges)
    x, plain = np.ones(graph.nodes), 0
    sources = np.repeat(np.arange(graph.nodes), graph.outdegrees)
    while True:
        y = (x / graph.outdegrees)[sources]
        new = 0.15 + 0.85 * np.bincount(graph.targets, y, graph.nodes)
        plain += 1
        away, x = 0.85 * np.abs(new - x).sum() / 0.15 / new.sum(), new
        if away <= 1e-6:
            break
    _, rounds = ranked(graph, tmp_path / "work", launcher, 8, 1e-6)
    assert len(rounds) <= 0.35 * plain


# partitions


def test_partitions_follow_from_the_size(tmp_path: Path, launcher: Launcher) -> None:
    path = write_graph(WEB, tmp_path / "graph")
    assert len(packed_ranking.plan_of(path, launcher).labels) == 1
    os.truncate(path, 100_000_000)  # what follows is a hole, and no line
    assert len(packed_ranking.plan_of(path, launcher).labels) == 6


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_partitions_are_about_equal(suffix: str, tmp_path: Path, launcher: Launcher) -> None:
    path = write_graph(WEB, tmp_path / "graph")
    size = path.stat().st_size
    if suffix:
        data, path = path.read_bytes(), tmp_path / "graph.gz"
        path.write_bytes(gzip.compress(data))
        size = path.stat().st_size * packed_ranking.INFLATED
    assert packed_ranking.text_bytes(sized_parts(path)) == size
    plan = packed_ranking.plan_of(path, launcher, 6)
    assert len(plan.labels) == 6
    assert set(plan.points) <= set(plan.group_points)
    cuts = np.searchsorted(WEB.ids, [*plan.points, WEB.nodes])
    shares = np.diff(np.concatenate(([0], WEB.offsets[cuts] + cuts)))
    assert shares.max() < 2 * shares.mean()


def test_many_partitions_are_larger() -> None:
    """Each pair of them exchanges a block."""
    counts = [packed_ranking.usual_partitions(10**power) for power in range(6, 14)]
    assert counts == sorted(counts)
    assert counts[:4] == [1, 1, 6, 62]  # 16 MB each
    assert packed_ranking.usual_partitions(64 * 16_000_000) == 64
    assert packed_ranking.usual_partitions(4 * 64 * 16_000_000) == 2 * 64
    assert counts[-1] == round(10**13 / packed_ranking.LARGEST)


# continuing


@pytest.mark.parametrize("partitions", [1, 4])
@pytest.mark.few(1)
def test_going_on_after_each_round(partitions: int, tmp_path: Path, launcher: Launcher) -> None:
    """Stopped after each of its rounds, ranking gives the same bytes as if it were not."""
    path, folder = write_graph(WEB, tmp_path / "graph"), tmp_path / "rounds"
    stop, saved, launched = Stop(tolerance=1e-9), list[Round](), list[type[Job]]()

    def counted(job: type[Job]) -> type[Job]:
        launched.append(job)
        return job

    def interrupted(entry: Round, so_far: list[Round]) -> None:
        assert (folder / f"round-{entry['round']}").is_dir()
        saved[:] = so_far
        raise KeyboardInterrupt

    launcher = replace(launcher, job_class=counted)
    while not stop.reached(saved):
        with pytest.raises(KeyboardInterrupt):
            PackedRounds(
                path, folder, launcher, stop, saved, interrupted, partitions=partitions
            ).run()
        assert not list((tmp_path / "tmp").iterdir())
    ranks, rounds = PackedRounds(path, folder, launcher, stop, saved, partitions=partitions).run()
    assert launched.count(PackGraph) == 1
    assert [entry["round"] for entry in rounds] == list(range(1, len(rounds) + 1))
    check(WEB, read_graph(ranks), rounds, 1e-9)
    whole, _ = PackedRounds(path, tmp_path / "whole", launcher, stop, partitions=partitions).run()
    assert dataset(Path(ranks)) == dataset(Path(whole))
    assert {p.name for p in folder.iterdir()} == {"structure", f"round-{len(rounds)}", "ranks"}


@pytest.mark.slow
def test_what_is_gone_is_made_again(tmp_path: Path, launcher: Launcher) -> None:
    path, folder = write_graph(WEB, tmp_path / "graph"), tmp_path / "rounds"
    with pytest.raises(NotConverged) as stopped:
        PackedRounds(path, folder, launcher, Stop(tolerance=1e-9, max_rounds=3), partitions=3).run()
    assert "3 rounds" in str(stopped.value)
    (folder / "structure" / "_plan.json").unlink()
    entries = [{"round": n, "certificate": 1.0, "residual_l1": 1.0} for n in (1, 2, 3)]
    ranks, rounds = PackedRounds(
        path, folder, launcher, Stop(tolerance=1e-9), entries, partitions=3
    ).run()
    assert rounds[0]["round"] == 1
    assert rounds[0] != entries[0]
    check(WEB, read_graph(ranks), rounds, 1e-9)


# what is no graph, and what gets lost

D = "dummy\t1.0\tO:dummy"


@pytest.mark.parametrize(
    ("lines", "number", "found"),
    [
        (["0\t1.0\tO:1", D], 1, "id 1: is pointed to, but has no line of its own"),
        (["0\t1.0\tO:5", "3\t1.0\tO:0", D], 1, "id 5: is pointed to, but has no line of its own"),
        (["0\t1.0\tO:dummy"], 1, "id dummy: is pointed to, but has no line of its own"),
        (["0\t1.0\tO:1", "1\t1.0\tO:0", "1\t1.0\tO:0", D], 3, "id 1: has 2 lines"),
        (["0\t1.0\tO:dummy", D, D], 3, "id dummy: has 2 lines"),
        (["0\t1.0\tO:dummy", "0 1.0", D], 2, "'0 1.0'"),
        (["0\t1.0\tO:dummy", "1\t1.0\tO:0,0", D], 2, "a target of id 1 twice"),
    ],
)
@pytest.mark.parametrize("partitions", [1, 3])
def test_lines_that_make_no_graph(
    lines: list[str], number: int, found: str, partitions: int, tmp_path: Path
) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text("\n".join(lines) + "\n")
    with pytest.raises(BadInput) as refused:
        PackedRounds(
            graph, tmp_path / "rounds", cluster(tmp_path, 3), Stop(), partitions=partitions
        ).run()
    assert (refused.value.where, refused.value.found) == (f"{graph}, line {number}", found)
    assert not (tmp_path / "rounds").exists() or not list((tmp_path / "rounds").iterdir())


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([D], "no nodes"),
        (["0\t1.0\tO:1", "1\t1.0\tO:0"], "no line for dummy"),
        (["0\t1.0\tO:1", "1\t7.5\tO:0", D], "sum to 9.5"),
    ],
)
def test_sums_that_make_no_graph(
    lines: list[str], found: str, tmp_path: Path, launcher: Launcher
) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text("\n".join(lines) + "\n")
    with pytest.raises(BadInput, match=found) as refused:
        PackedRounds(graph, tmp_path / "rounds", launcher, Stop(), partitions=2).run()
    assert refused.value.where == str(graph)
    assert refused.value.expected


class Forgetful(PackedRound):
    """Loses a partition."""

    def reduce_key(self, key: bytes, values: Any) -> Any:
        return iter(()) if key.startswith(b"00001") else super().reduce_key(key, values)


def test_a_lost_partition_is_noticed(tmp_path: Path, launcher: Launcher) -> None:
    launcher = replace(launcher, job_class=lambda job: Forgetful if job is PackedRound else job)
    path = write_graph(WEB, tmp_path / "graph")
    with pytest.raises(JobFailed, match="lost partitions in a round: 2 of 3"):
        PackedRounds(path, tmp_path / "rounds", launcher, Stop(), partitions=3).run()


def test_parts_of_a_dataset_are_lines(tmp_path: Path, launcher: Launcher) -> None:
    """No line of structure or state ends with a tab or has more than three fields."""
    path, folder = write_graph(WEB, tmp_path / "graph"), tmp_path / "rounds"
    with pytest.raises(NotConverged):
        PackedRounds(
            path, folder, launcher, Stop(tolerance=1e-15, max_rounds=2), partitions=3
        ).run()
    for name in ("structure", "round-2"):
        lines = dataset(folder / name)
        assert lines
        assert all(line.count(b"\t") == 2 and line.strip() == line for line in lines)
