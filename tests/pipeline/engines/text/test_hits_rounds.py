"""HITS by jobs: the passes of the embedded engine, singular values, clusters, resuming."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import csr_of, graph_of, graphs, web_like, write_graph
from support.systems.cluster import cluster, dataset, inline

from crawlrank.jobs.kernel.errors import BadInput, BadLine, NotConverged
from crawlrank.jobs.kernel.formats.lines import parse_graph_line
from crawlrank.jobs.kernel.rank.equation import write_teleport
from crawlrank.jobs.kernel.rank.hits import HitsLine, format_hits_line, parse_hits_line
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.data.datasets import ORDER, merged
from crawlrank.pipeline.data.graph import Floats, Graph
from crawlrank.pipeline.engines.text.hits_rounds import HitsRounds, spare
from crawlrank.pipeline.ranking.hits.lanczos import CHANCE
from crawlrank.pipeline.ranking.hits.method import solve
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.solution import Problem


def apart(nodes: int, best: int = 8) -> Graph:
    """Most links lead to a few pages, so that the largest singular value is far above the others,
    and few rounds are enough."""
    rng = np.random.default_rng(3)
    ends = (best * rng.random((nodes, 9))).astype(int)
    edges = [(i, int(end)) for i in range(nodes) for end in ends[i] if i % 4]
    edges += [(i, int(nodes * rng.random())) for i in range(nodes)]
    return graph_of(nodes, [(source, target) for source, target in edges if source != target])


WEB, LARGE = apart(60), web_like(300, seed=8)
RELEVANCE = np.arange(300) % 5 / 4
TOY = graph_of(4, [(0, 1), (1, 3), (2, 0), (2, 1), (2, 3)])


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    (tmp_path / "tmp").mkdir()
    return inline(tmp_path / "tmp")


@pytest.fixture
def web(tmp_path: Path) -> Path:
    return write_graph(WEB, tmp_path / "graph")


def file_of(relevance: Floats | None, folder: Path) -> Path | None:
    return None if relevance is None else write_teleport(folder / "relevance.txt", relevance)


def scores_in(ranks: object) -> Floats:
    rows = [parse_graph_line(line.rstrip(b"\n")) for line in merged(str(ranks), ORDER["ranks"])]
    assert (rows[-1].id, rows[-1].score) == (b"dummy", 0.0)
    return np.array([row.score for row in rows[:-1]])


def hubs_beside(ranks: object) -> Floats:
    rows = merged(str(Path(str(ranks)).with_name("hubs")), ORDER["hubs"])
    return np.array([[float(number) for number in row.split(b"\t")[1:]] for row in rows])


def by_svd(graph: Graph, relevance: Floats | None) -> tuple[Floats, Floats]:
    """(authorities, the singular values)."""
    links = np.zeros((graph.nodes, graph.nodes))
    links[np.repeat(np.arange(graph.nodes), graph.outdegrees), graph.targets] = 1
    weights = np.ones(graph.nodes) if relevance is None else relevance
    left, values, _ = np.linalg.svd(links * np.sqrt(weights))
    sums = links.T @ np.abs(left[:, 0])
    return sums / (np.linalg.norm(sums) or 1.0), values


@pytest.mark.parametrize("relevance", [None, RELEVANCE[: WEB.nodes]], ids=["all", "weighed"])
@pytest.mark.parametrize("iterations", [1, 2, 7])
@pytest.mark.few(1)
def test_after_passes_the_bits_of_the_embedded_engine(
    iterations: int, relevance: Floats | None, web: Path, tmp_path: Path, launcher: Launcher
) -> None:
    stop, file = Stop(iterations=iterations), file_of(relevance, tmp_path)
    ranks, rounds = HitsRounds(web, tmp_path / "rounds", launcher, stop, relevance=file).run()
    other = solve(Problem(csr_of(WEB), stop, 2, 1 << 40, {"weights": relevance}))
    assert (scores_in(ranks) == other.scores).all()
    assert (hubs_beside(ranks) == np.stack([other.more["hubs"], other.more["gives"]]).T).all()
    for name in ("nodes", "edges", "dangling", "certificate"):
        assert rounds[-1][name] == other.rounds[-1][name]
    assert rounds[-1]["mass"] == pytest.approx(other.rounds[-1]["mass"], rel=1e-12)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("graph", "tolerance", "weighed"),
    [
        (WEB, 1e-4, False),
        (WEB, 1e-9, True),
        *(
            pytest.param(LARGE, tolerance, weighed, marks=pytest.mark.slow)
            for tolerance in (1e-4, 1e-9)
            for weighed in (False, True)
        ),
    ],
)
def test_the_certificate_bounds_the_distance_from_the_singular_pair(
    graph: Graph, tolerance: float, weighed: bool, tmp_path: Path, launcher: Launcher
) -> None:
    relevance = RELEVANCE[: graph.nodes] if weighed else None
    stop, file = Stop(tolerance=tolerance), file_of(relevance, tmp_path)
    path = write_graph(graph, tmp_path / "graph")
    ranks, rounds = HitsRounds(path, tmp_path / "rounds", launcher, stop, relevance=file).run()
    exact, values = by_svd(graph, relevance)
    assert np.linalg.norm(scores_in(ranks) - exact) <= rounds[-1]["certificate"] <= tolerance
    last = rounds[-1]["hits"]
    assert values[1] ** 2 <= last["known"] < last["theta"]
    assert last["theta"] == pytest.approx(values[0] ** 2, rel=tolerance)


@pytest.mark.slow
@settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(), data=st.data())
def test_any_graph(graph: Graph, data: st.DataObject) -> None:
    """Certified, or refused where the singular values leave no doubt that it must be."""
    relevance = None
    if data.draw(st.booleans()):
        number = st.sampled_from([0.0, 0.5, 1.0])
        drawn = data.draw(st.lists(number, min_size=graph.nodes, max_size=graph.nodes))
        relevance = np.array(drawn)
    exact, values = by_svd(graph, relevance)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = file_of(relevance, folder)
        to = (write_graph(graph, folder / "graph"), folder / "rounds", inline(folder))
        try:
            ranks, rounds = HitsRounds(
                *to, Stop(tolerance=1e-6, max_rounds=60), relevance=file
            ).run()
        except BadInput as error:
            assert "--perturb" in str(error)
            gap = 1 - (values[1] / values[0]) ** 2 if values[0] and graph.nodes > 1 else 0
            assert gap < 1e-5
        except NotConverged:
            assert (values[1] / values[0]) ** 2 > 0.5
        else:
            away = np.linalg.norm(scores_in(ranks) - exact)
            assert away <= rounds[-1]["certificate"] + 1e-14


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop",
    [Stop(iterations=3), pytest.param(Stop(tolerance=1e-5), marks=pytest.mark.slow)],
    ids=str,
)
def test_the_same_bytes_on_any_cluster(stop: Stop, web: Path, tmp_path: Path) -> None:
    results = []
    for number, launcher in enumerate((inline(tmp_path), cluster(tmp_path, 3, seed=3, maps=7))):
        folder = tmp_path / f"work-{number}"
        folder.mkdir()
        ranks, rounds = HitsRounds(web, folder / "rounds", launcher, stop).run()
        results.append((scores_in(ranks).tolist(), hubs_beside(ranks).tolist(), len(rounds)))
    if stop.iterations:
        assert results[0] == results[1]
    else:  # sums that steer the driver are rounded in parts
        assert results[0][0] == pytest.approx(results[1][0], abs=2e-5)


@pytest.mark.parametrize("stop", [Stop(iterations=3), Stop(tolerance=1e-3)], ids=str)
@pytest.mark.few(1)
def test_going_on_after_each_round(
    stop: Stop, web: Path, tmp_path: Path, launcher: Launcher
) -> None:
    """Stopped after each of its rounds, passes and probes, ranking gives the same bytes."""
    saved, folder = list[Round](), tmp_path / "rounds"

    def interrupted(entry: Round, so_far: list[Round]) -> bool:
        saved[:] = so_far
        raise KeyboardInterrupt

    while not stop.reached(saved):
        with pytest.raises(KeyboardInterrupt):
            HitsRounds(web, folder, launcher, stop, saved, interrupted).run()
    ranks, rounds = HitsRounds(web, folder, launcher, stop, saved).run()
    whole, others = HitsRounds(web, tmp_path / "whole", launcher, stop).run()
    assert len(saved) == len(rounds) == len(others) >= 3
    assert dataset(Path(str(ranks))) == dataset(Path(str(whole)))
    assert (hubs_beside(ranks) == hubs_beside(whole)).all()


@pytest.mark.slow
def test_rounds_that_are_not_enough(web: Path, tmp_path: Path, launcher: Launcher) -> None:
    """Also between probes, the scores that are kept are those of the last pass."""
    for most in (2, 7):
        folder, probed = tmp_path / f"rounds-{most}", list[bool]()
        stop = Stop(tolerance=1e-3, max_rounds=most)
        with pytest.raises(NotConverged, match="HITS"):
            HitsRounds(
                web, folder, launcher, stop,
                on_round=lambda entry, _, to=probed: to.append(entry["hits"]["probed"]),
            ).run()  # fmt: skip
        assert probed[-2:] == [most == 7] * 2
        passes = most - sum(probed)
        expected = solve(Problem(csr_of(WEB), Stop(iterations=passes), 2, 1 << 40))
        assert (scores_in(folder / "ranks") == expected.scores).all()


@pytest.mark.slow
def test_rounds_whose_entries_were_saved_go(web: Path, tmp_path: Path, launcher: Launcher) -> None:
    folder = tmp_path / "rounds"
    HitsRounds(web, folder, launcher, Stop(iterations=3)).run()
    assert {path.name for path in folder.iterdir()} == {"round-3", "ranks", "hubs"}
    other = tmp_path / "other"
    HitsRounds(web, other, launcher, Stop(iterations=3), on_round=lambda entry, rounds: False).run()
    kept = {"turned", *(f"round-{number}" for number in range(1, 4)), "ranks", "hubs"}
    assert {path.name for path in other.iterdir()} == kept


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("edges", "what"),
    [
        ([], "no link"),
        ([(0, 1), (0, 2), (3, 4), (3, 5)], "two largest singular values"),
        ([(0, 1), (1, 2)], "two largest singular values"),
    ],
)
def test_graphs_without_one_answer(
    edges: list[tuple[int, int]], what: str, tmp_path: Path, launcher: Launcher
) -> None:
    path = write_graph(graph_of(6, edges), tmp_path / "graph")
    with pytest.raises(BadInput, match=what) as error:
        HitsRounds(path, tmp_path / "rounds", launcher, Stop(tolerance=1e-6)).run()
    assert "--perturb" in str(error.value)


def test_published_values(tmp_path: Path, launcher: Launcher) -> None:
    """The values are those of aduana's documentation."""
    path = write_graph(TOY, tmp_path / "graph")
    ranks, _ = HitsRounds(path, tmp_path / "rounds", launcher, Stop(tolerance=1e-7)).run()
    assert scores_in(ranks) == pytest.approx([0.4597, 0.6280, 0, 0.6280], abs=5e-5)
    assert hubs_beside(ranks)[:, 0] == pytest.approx([0.3251, 0.3251, 0.8881, 0], abs=5e-5)


@pytest.mark.parametrize("ratio", [0.2, 0.6, 0.9])
def test_how_far_the_power_method_may_be_wrong(ratio: float) -> None:
    """Bad matrices for it have one large eigenvalue, and all others near the bound. Of random
    starts at most as many are wrong as it says, here 1 in 20."""
    rows, steps, rng, chance = 200, 6, np.random.default_rng(7), 0.05
    eps = spare(steps, rows, chance)
    values = np.full(rows, 1 - eps * ratio)
    values[0] = 1.0
    starts = rng.standard_normal((2000, rows)) ** 2
    estimates = starts @ values ** (2 * steps - 1) / (starts @ values ** (2 * steps - 2))
    assert (estimates < 1 - eps).mean() <= chance


def test_what_steps_prove() -> None:
    assert spare(1, 100) == 1.0
    found = [spare(steps, 10**6) for steps in (20, 50, 200, 1000)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.03
    for steps, eps in zip((20, 50, 200, 1000), found, strict=True):
        first = min(0.824, 0.354 / math.sqrt(eps * (steps - 1)))
        assert first * 1e3 * (1 - eps) ** (steps - 0.5) <= CHANCE * 1.001


@pytest.mark.parametrize("line", [b"", b"1\t2", b"x\t1 1 1\tI:\tO:", b"1\tnan 1 1\tI:\tO:"])
def test_lines_that_are_none(line: bytes) -> None:
    with pytest.raises(BadLine):
        parse_hits_line(line)


def test_a_line() -> None:
    row = HitsLine(b"7", 0.1, 1e-300, -2.5, b"1,2", b"")
    assert parse_hits_line(format_hits_line(row)) == row
    assert (row.links_in, row.links_out) == ([b"1", b"2"], [])
