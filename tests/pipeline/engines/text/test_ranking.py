"""Rounds of PageRank: how many, when to stop, what is checked on the way, and how to continue."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.inputs.samples import write
from support.plain import graph_lines, scores_after
from support.systems.cluster import dataset, inline

from crawlrank.jobs.kernel.errors import BadInput, JobFailed, NotConverged
from crawlrank.jobs.kernel.formats.lines import DUMMY, parse_graph_line
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.page_rank import PageRank
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.engines.text.rounds import PlainRounds, rank
from crawlrank.pipeline.ranking.options import Stop

# two hubs, a dangling node, a node that nothing links to, a cycle apart
GRAPH = {0: [1, 2], 1: [0, 2, 3], 2: [], 3: [0], 4: [0, 5], 5: [6], 6: [7], 7: [5]}
CYCLE = {node: [(node + 1) % 5] for node in range(5)}


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    return write(tmp_path / "pr0.txt", graph_lines(GRAPH))


@pytest.fixture
def launcher(tmp_path: Path) -> Launcher:
    (tmp_path / "tmp").mkdir()
    return inline(tmp_path / "tmp")


def scores(where: Path) -> dict[int, float]:
    rows = map(parse_graph_line, dataset(where))
    return {int(row.id): row.score for row in rows if row.id != DUMMY}


@pytest.mark.parametrize("stop", [Stop(4), Stop(tolerance=1e-15, max_rounds=4)], ids=str)
def test_a_round_stays_until_one_behind_it_is_saved(
    stop: Stop, graph: Path, tmp_path: Path, launcher: Launcher
) -> None:
    """The entries of the first and the third of four rounds are saved: a kill loses no more than
    the rounds after these."""
    folder, there = tmp_path / "rounds", []

    def saved(entry: Any, rounds: list[Any]) -> bool:
        there.append({path.name for path in folder.glob("round-*")})
        return entry["round"] in (1, 3)

    if stop.iterations is None:
        with pytest.raises(NotConverged):
            PackedRounds(graph, folder, launcher, stop, on_round=saved, partitions=3).run()
    else:
        PlainRounds(graph, folder, launcher, stop, on_round=saved).run()
    assert there == [
        {"round-1"}, {"round-1", "round-2"}, {"round-1", "round-2", "round-3"},
        {"round-3", "round-4"},
    ]  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("number", [1, 3])
def test_what_a_killed_driver_left_of_the_next_round(
    number: int, graph: Path, tmp_path: Path, launcher: Launcher
) -> None:
    """A round that ended before its entry was saved is done again, not refused."""
    folder = tmp_path / "rounds"
    whole, _ = PlainRounds(graph, tmp_path / "whole", launcher, Stop(4)).run()
    _, entries = PlainRounds(graph, folder, launcher, Stop(number), on_round=lambda *_: False).run()
    last, rounds = PlainRounds(graph, folder, launcher, Stop(4), entries[:-1]).run()
    assert [entry["round"] for entry in rounds] == [1, 2, 3, 4]
    assert scores(Path(last)) == scores(Path(whole))


@pytest.mark.parametrize("rounds", [1, 2, 7])
def test_exactly_as_many_rounds_as_wanted(
    graph: Path, tmp_path: Path, launcher: Launcher, rounds: int
) -> None:
    last, told = rank(graph, tmp_path / "rounds", launcher, Stop(rounds, tolerance=0.9))
    assert last == tmp_path / "rounds" / f"round-{rounds}"
    assert [entry["round"] for entry in told] == list(range(1, rounds + 1))
    assert scores(last) == scores_after(rounds, GRAPH)
    assert [path.name for path in last.parent.iterdir()] == [last.name]  # only the last is kept


def test_a_cycle_is_there_from_the_start(tmp_path: Path, launcher: Launcher) -> None:
    path = write(tmp_path / "cycle.txt", graph_lines(CYCLE))
    last, told = rank(path, tmp_path / "rounds", launcher, Stop(tolerance=1e-12))
    assert len(told) == 1
    assert set(scores(last).values()) == {1.0}
    assert told[0]["certificate"] <= 1e-12
    assert told[0]["nodes"] == told[0]["edges"] == 5
    assert told[0]["dangling"] == 0


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-10])
def test_the_tolerance_holds(
    graph: Path, tmp_path: Path, launcher: Launcher, tolerance: float
) -> None:
    last, told = rank(graph, tmp_path / "rounds", launcher, Stop(tolerance=tolerance))
    exact, found = scores_after(400, GRAPH), scores(last)
    error = math.fsum(abs(found[node] - exact[node]) for node in GRAPH)
    assert error / math.fsum(found.values()) <= told[-1]["certificate"] <= tolerance
    assert all(entry["certificate"] > tolerance for entry in told[:-1])
    assert all(abs(found[n] / exact[n] - 1) <= told[-1]["eta"] for n in GRAPH)
    assert told[0]["dangling"] == 1
    assert all(abs(entry["mass"] - len(GRAPH) - 1) < 1e-9 for entry in told)


def test_too_few_rounds_keep_their_scores(graph: Path, tmp_path: Path, launcher: Launcher) -> None:
    saved: list[list[Any]] = []
    stop = Stop(tolerance=1e-9, max_rounds=3)
    with pytest.raises(NotConverged, match=r"after 3 rounds .*--max-rounds"):
        PlainRounds(
            graph, tmp_path / "rounds", launcher, stop, [], lambda _, told: saved.append([*told])
        ).run()
    assert [len(told) for told in saved] == [1, 2, 3]
    assert scores(tmp_path / "rounds" / "round-3") == scores_after(3, GRAPH)


@pytest.mark.slow
def test_going_on_gives_the_same_bytes(graph: Path, tmp_path: Path, launcher: Launcher) -> None:
    whole, all_rounds = rank(graph, tmp_path / "whole", launcher, Stop(9))
    _, some = rank(graph, tmp_path / "parts", launcher, Stop(4))
    last, told = rank(graph, tmp_path / "parts", launcher, Stop(9), some)
    assert dataset(last) == dataset(whole)
    untimed = [{**entry, "seconds": 0} for entry in told]
    assert untimed == [{**entry, "seconds": 0} for entry in all_rounds]


def test_nothing_to_do(graph: Path, tmp_path: Path, launcher: Launcher) -> None:
    last, some = rank(graph, tmp_path / "rounds", launcher, Stop(4))
    before = dataset(last)
    assert rank(graph, tmp_path / "rounds", launcher, Stop(4), some) == (last, some)
    assert dataset(last) == before


def test_a_round_is_in_place_when_it_is_told(
    graph: Path, tmp_path: Path, launcher: Launcher
) -> None:
    def interrupted(entry: Any, _: Any) -> None:
        assert (tmp_path / "rounds" / f"round-{entry['round']}").is_dir()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank(graph, tmp_path / "rounds", launcher, Stop(3), None, interrupted)
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([b"dummy\t1.0\tO:dummy"], "no nodes"),
        ([b"0\t1.0\tO:1", b"1\t1.0\tO:0"], "no line for dummy"),
        ([b"0\t1.0\tO:1", b"1\t7.5\tO:0", b"dummy\t1.0\tO:dummy"], "sum to 9.5"),
        ([b"0\t1.0\tO:3", b"1\t1.0\tO:0", b"dummy\t1.0\tO:dummy"], "no line of its own"),
        ([b"0\t1.0\tO:dummy", b"0\t1.0\tO:dummy", b"dummy\t1.0\tO:dummy"], "2 lines"),
    ],
)
def test_what_is_no_graph(
    tmp_path: Path, launcher: Launcher, lines: list[bytes], found: str
) -> None:
    path = write(tmp_path / "pr0.txt", lines)
    with pytest.raises(BadInput, match=found) as caught:
        rank(path, tmp_path / "rounds", launcher, Stop(2))
    assert caught.value.expected
    assert caught.value.cure or found == "no nodes"


class Leaky(PageRank):
    """A round that loses a part of every score."""

    def _scored(self, line: Any, contributions: list[float]) -> bytes:
        return super()._scored(line, [0.9 * value for value in contributions])


def test_lost_mass_is_noticed(graph: Path, tmp_path: Path, launcher: Launcher) -> None:
    launcher = replace(launcher, job_class=lambda job: Leaky)
    with pytest.raises(JobFailed, match="lost mass"):
        rank(graph, tmp_path / "rounds", launcher, Stop(2))
