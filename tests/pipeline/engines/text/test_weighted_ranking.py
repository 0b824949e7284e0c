"""Rounds with weights of pages, plain and packed: linear algebra, certificates, clusters, resuming.

The oracle is numpy's solution of the equation with these weights.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import csr_of, graph_of, graphs, solved_scores, web_like, write_graph
from support.systems.cluster import cluster, dataset, inline

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.rank.equation import RECIPE, Teleport, teleport, write_teleport
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.data.datasets import ORDER, merged
from crawlrank.pipeline.data.graph import Floats, Graph, read_graph
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.engines.text.rounds import rank
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.pagerank.method import solve
from crawlrank.pipeline.ranking.solution import Problem

WEB = web_like(300, seed=8)
SEEDS = teleport(np.where(np.arange(300) % 41 == 3, 1.0 + np.arange(300) % 7, 0.0))
ODD = teleport(np.random.default_rng(5).exponential(size=300))  # as many digits as there can be


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    (tmp_path / "tmp").mkdir()
    return inline(tmp_path / "tmp")


@pytest.fixture
def given_web(tmp_path: Path) -> tuple[Path, Path]:
    """The graph, and the weights."""
    weights = write_teleport(tmp_path / "teleport.txt", SEEDS)
    return write_graph(WEB, tmp_path / "graph"), weights


def check(graph: Graph, weights: Floats, ranks: Graph, last: Round) -> None:
    exact = solved_scores(graph, RECIPE, weights)
    assert ranks.dummy + math.fsum(ranks.scores) == pytest.approx(graph.nodes + 1, rel=1e-12)
    away = np.abs(ranks.scores - exact)
    assert away.sum() / ranks.scores.sum() <= last["certificate"] + 1e-13
    if math.isfinite(last["eta"]):
        assert (away <= (last["eta"] + 1e-12) * exact).all()
    assert (ranks.scores[exact == 0] == 0).all()


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), partitions=st.integers(1, 5), data=st.data())
def test_any_graph_and_any_weights(graph: Graph, partitions: int, data: st.DataObject) -> None:
    drawn = st.lists(
        st.sampled_from([0, 0, 1, 2.5, 1e-3]), min_size=graph.nodes, max_size=graph.nodes
    )
    weights = teleport(np.array(data.draw(drawn.filter(any)), np.float64))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_graph(graph, folder / "graph")
        file = write_teleport(folder / "teleport.txt", weights)
        to = (path, folder / "rounds", inline(folder), Stop(tolerance=1e-10))
        ranks, rounds = PackedRounds(*to, partitions=partitions, teleport=file).run()
        check(graph, weights, read_graph(ranks), rounds[-1])
        assert rounds[-1]["certificate"] <= 1e-10
        assert rounds[-1]["eta"] < 1e-3


@pytest.mark.few(2)
@pytest.mark.parametrize("seeds", [SEEDS, ODD], ids=["seeds", "odd"])
@pytest.mark.parametrize("iterations", [1, 2, 12])
def test_plain_rounds_are_those_of_the_embedded_engine(
    iterations: int, seeds: Floats, given_web: tuple[Path, Path], tmp_path: Path, launcher: Launcher
) -> None:
    graph, _ = given_web
    weights = write_teleport(tmp_path / "these.txt", seeds)
    stop = Stop(iterations=iterations)
    found, rounds = rank(graph, tmp_path / "rounds", launcher, stop, teleport=weights)
    ranks = read_graph(found)
    other = solve(Problem(csr_of(WEB), stop, 2, 1 << 40), RECIPE, seeds)
    assert (ranks.scores == other.scores).all()
    assert ranks.dummy == other.dummy
    for name in ("certificate", "mass", "residual_max", "next_shift"):
        assert rounds[-1][name] == pytest.approx(other.rounds[-1][name], rel=1e-9)
    assert rounds[-1]["eta"] == pytest.approx(other.rounds[-1]["eta"], rel=1e-9)
    check(WEB, seeds, ranks, rounds[-1])


@pytest.mark.few(1)
@pytest.mark.parametrize("stop", [Stop(iterations=3), Stop(tolerance=1e-6)], ids=str)
def test_the_same_bits_on_any_cluster(
    stop: Stop, given_web: tuple[Path, Path], tmp_path: Path
) -> None:
    graph, weights = given_web
    lines = []
    for number, launcher in enumerate((inline(tmp_path), cluster(tmp_path, 3, seed=3, maps=7))):
        folder = tmp_path / f"work-{number}"
        folder.mkdir()
        ranks, _ = rank(graph, folder / "rounds", launcher, stop, teleport=weights)
        lines.append(list(merged(str(ranks), ORDER["ranks"])))
    assert lines[0] == lines[1]


@pytest.mark.few(1)
@pytest.mark.parametrize("partitions", [None, 3])
def test_going_on_after_each_round(
    partitions: int | None, given_web: tuple[Path, Path], tmp_path: Path, launcher: Launcher
) -> None:
    """Stopped after each of its rounds, ranking gives the same bytes as if it were not.

    None: plain rounds.
    """
    graph, weights = given_web
    stop = Stop(tolerance=1e-3) if partitions else Stop(iterations=4)
    saved, folder = list[Round](), tmp_path / "rounds"

    def interrupted(entry: Round, so_far: list[Round]) -> bool:
        saved[:] = so_far
        raise KeyboardInterrupt

    def attempt(into: Path, stopping: bool) -> Path:
        on_round = interrupted if stopping else lambda entry, rounds: True
        to = (graph, into, launcher, stop, saved if into == folder else [], on_round)
        if partitions:
            return Path(PackedRounds(*to, partitions=partitions, teleport=weights).run()[0])
        return Path(rank(*to, teleport=weights)[0])

    while not stop.reached(saved):
        with pytest.raises(KeyboardInterrupt):
            attempt(folder, stopping=True)
    ranks = attempt(folder, stopping=False)
    assert len(saved) >= 2
    assert dataset(ranks) == dataset(attempt(tmp_path / "whole", stopping=False))


@pytest.mark.slow
def test_far_fewer_rounds_than_plain_ones(
    given_web: tuple[Path, Path], tmp_path: Path, launcher: Launcher
) -> None:
    """The ratio is that of weights that are all alike."""
    graph, weights = given_web
    to = (graph, tmp_path / "rounds", launcher, Stop(tolerance=1e-9))
    _, rounds = PackedRounds(*to, partitions=4, teleport=weights).run()
    assert len(rounds) <= 25  # plain ones: ln(1e-9) / ln(0.85) = 127


def test_a_file_of_weights(tmp_path: Path) -> None:
    weights = np.array([0.0, 1.5, 0.0, 0.1, 3.4])
    kept = Teleport(write_teleport(tmp_path / "t", weights))
    ids = np.array([4, 3, 0, 17, 1])
    assert (kept.of_all(ids) == [3.4, 0.1, 0.0, 0.0, 1.5]).all()
    assert [kept.of(b"%d" % number) for number in ids] == [3.4, 0.1, 0.0, 0.0, 1.5]
    assert kept.of(b"dummy") == 1.0


@pytest.mark.parametrize(
    "bad", [[0.0, 0.0], [1.0, -1.0], [1.0, math.nan], [math.inf, 1.0], [1, 1e-300]]
)
def test_weights_that_are_none(bad: list[float]) -> None:
    with pytest.raises(BadInput, match="weight"):
        teleport(np.array(bad))


@pytest.mark.slow
def test_a_page_that_no_reader_reaches_has_nothing(tmp_path: Path, launcher: Launcher) -> None:
    """Two parts without a path between them; readers start in one."""
    graph = graph_of(5, [(0, 1), (1, 0), (2, 3), (3, 4)])
    path = write_graph(graph, tmp_path / "graph")
    file = write_teleport(tmp_path / "teleport.txt", teleport(np.array([1.0, 0, 0, 0, 0])))
    for stop in (Stop(iterations=30), Stop(tolerance=1e-9)):
        found, _ = rank(path, tmp_path / f"{stop.iterations}", launcher, stop, teleport=file)
        scores = read_graph(found).scores
        assert (scores[2:] == 0).all()
        assert (scores[:2] > 0).all()
