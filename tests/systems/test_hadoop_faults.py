"""What a real Hadoop does to a job, and what a driver makes of it. `make test-hadoop`, one after
the other: they disturb whatever else runs in the node."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hadoop.control import running, start
from hadoop.node import Node
from hadoop.processes import wait
from support.faults.dying_reader import DyingReader
from support.faults.faulty import Faulty
from support.faults.faulty_archives import FaultyReader
from support.paths import LOOPBACK, ROOT
from support.systems.hadoop_node import hadoop_around  # noqa: F401 - the fixture `hadoop`
from support.waiting import awaited

from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.jobs.kernel.formats.side_lines import side_name
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.mapreduce.launch import end_orphans, launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome, outcome_of
from crawlrank.jobs.mapreduce.runners.applications import AT_WORK
from crawlrank.pipeline.engines.contract import Ranking
from crawlrank.pipeline.engines.text.engine import TextEngine
from crawlrank.pipeline.engines.text.extraction import LOST
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.steps import ArchiveTask

pytestmark = pytest.mark.hadoop
WORDS = [b"bad", *(b"word%d" % n for n in range(7)), *[b"most"] * 60_000]  # one reducer's
PATIENCE = 1200  # seconds, of a busy machine
DRIVER = """
import sys
from pathlib import Path
from test_hadoop_faults import count, rank_star
far, tmp = sys.argv[1], Path(sys.argv[2])
{}
"""
COUNTING_ONCE = 'count(far, tmp, "wait", **{"mapreduce.am.max-attempts": "1"})'
COUNTING, RANKING = 'count(far, tmp, "wait")', "rank_star(far, tmp, [])"
LEAVES = 20_000
DYING = {ExtractLinks: DyingReader}


@pytest.fixture
def far(hadoop: Node) -> Iterator[str]:
    """A folder in HDFS, with lines to count."""
    url = f"hdfs:///faults-{uuid.uuid4().hex}"
    stores.write(f"{url}/words/one.txt", b"".join(word + b" and more\n" for word in WORDS))
    yield url
    stores.remove(url)


def count(far: str, tmp: Path, fault: str = "none", **jobconf: str) -> Outcome:
    """The job, with its driver in this process; intermediate files and signs in `tmp`."""
    args = ["--fault", fault, "--signs", str(tmp)]
    there = launcher(far, tmp, **jobconf)
    outcome = launch(Faulty, [f"{far}/words"], f"{far}/counts", there, args)
    (tmp / "again.json").write_text(json.dumps(there.starting.again))
    return outcome


def launcher(far: str, tmp: Path, **jobconf: str) -> Launcher:
    conf = tmp / "mrjob.conf"
    options = {"python_bin": sys.executable, "jobconf": jobconf}
    conf.write_text(json.dumps({"runners": {"hadoop": options}}))
    return Launcher("hadoop", tmp, ranges=2, data=far, conf=conf)


def require_counts(far: str, outcome: Outcome) -> None:
    """Each word has all its lines, each counted once."""
    lines = [line.rstrip() for line in stores.lines(f"{far}/counts") if not side_name(line)]
    expected = [word + b" %d" % times for word, times in Counter(WORDS).items()]
    assert sorted(lines) == sorted(expected)
    assert outcome.counters == {"lines": len(WORDS)}
    assert outcome.rows == {"main": 9}


def rank_star(far: str, tmp: Path, rounds: list[Round]) -> list[Round]:
    """Two rounds on the graph; what is known of them goes to a file, as a manifest has it."""

    def on_round(_: Round, done: list[Round]) -> None:
        (tmp / "rounds.json").write_text(json.dumps(done))

    engine = TextEngine(tmp, launcher(far, tmp))
    return engine.rank(Ranking(METHODS["pagerank"], Stop(iterations=2)), rounds, on_round)


@contextmanager
def driver_until(
    there: Callable[[], object], what: str, far: str, tmp: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A driver in a process of its own, when it has come so far."""
    paths = os.pathsep.join(str(ROOT / name) for name in ("", "tests", "tests/systems", "scripts"))
    command = [sys.executable, "-c", DRIVER.format(what), far, str(tmp)]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}) as driver:
        try:
            awaited(lambda: there() or driver.poll() is not None, "sign of life", PATIENCE)
            assert driver.poll() is None
            yield driver
        finally:
            driver.kill()


def applications(*states: str) -> set[str]:
    command = ["hadoop", "application", "-list", "-appStates", ",".join(states)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in said.splitlines() if line.startswith("application_")}


def test_a_mapper_that_raises_is_told_of_with_its_archive(far: str, tmp_path: Path) -> None:
    archives = [f"{far}/{name}.warc.gz" for name in ("plain", "odd")]
    for archive in archives:
        stores.write(archive, LOOPBACK.read_bytes())
    listed = tmp_path / "archives.txt"
    listed.write_text("".join(f"{json.dumps([archive])}\n" for archive in archives))
    links, side = f"{far}/links", {"captures": f"{far}/captures"}
    with pytest.raises(JobFailed) as raised:
        launch(FaultyReader, [listed], links, launcher(far, tmp_path), ["--listed"], side)
    first, *said = str(raised.value).splitlines()
    assert raised.value.exit_code == 5
    assert first == "the job FaultyReader failed; its last lines:"
    assert said == [f"RuntimeError: {archives[1]}: ValueError: a record that nobody thought of"]
    assert not any(map(stores.exists, (links, *side.values())))


def test_an_archive_whose_task_is_killed_each_time_costs_itself(far: str, tmp_path: Path) -> None:
    """It shares a task with one that is read by itself then; the folders of both are read on."""
    names = [f"{far}/{name}.warc.gz" for name in ("a", "dies", "c")]
    for name in names:
        stores.write(name, LOOPBACK.read_bytes())
    tasks = [ArchiveTask(name.rpartition("/")[2], name, "") for name in names]
    dying = replace(launcher(far, tmp_path), job_class=lambda job: DYING.get(job, job))
    engine = TextEngine(tmp_path, dying)
    reports = {
        report.path: (task, report) for task, report in engine.extract(tasks, ExtractionOptions())
    }
    assert [name for name in names if reports[name][1].error] == [names[1]]
    assert reports[names[1]][1].error == LOST
    assert all(engine.store.exists(f"links/{task.part}") for task, _ in reports.values())
    alone = [
        *TextEngine(tmp_path, launcher(f"{far}/b", tmp_path)).extract(
            tasks[:1], ExtractionOptions()
        )
    ]
    counters = alone[0][1].counters
    assert [reports[name][1].counters for name in (names[0], names[2])] == [counters] * 2
    told = engine.canonicalize(www="strip", folded=False)
    assert told["rows"]["canonical_links"] > 0


def test_a_task_that_is_killed_runs_again(far: str, tmp_path: Path) -> None:
    outcome = count(far, tmp_path, "die")
    assert (tmp_path / "died").exists()
    require_counts(far, outcome)


def test_servers_that_are_killed_and_come_back_cost_no_job(
    hadoop: Node, far: str, tmp_path: Path
) -> None:
    with driver_until((tmp_path / "waits").exists, COUNTING, far, tmp_path) as driver:
        killed = [running(hadoop).servers[name] for name in ("nodemanager", "datanode")]
        for server in killed:
            server.send(signal.SIGKILL)
        assert wait(killed, 10) == []
        assert start(hadoop, 1) == "servers that had died run again"
        (tmp_path / "go").touch()
        assert driver.wait(PATIENCE) == 0
    require_counts(far, outcome_of(f"{far}/counts"))


def test_a_job_lost_with_its_node_is_launched_once_more(
    hadoop: Node, far: str, tmp_path: Path
) -> None:
    """Its application master may not be started anew, as is so when it was lost too often."""
    with driver_until((tmp_path / "waits").exists, COUNTING_ONCE, far, tmp_path) as driver:
        killed = [running(hadoop).servers["nodemanager"]]
        killed[0].send(signal.SIGKILL)
        assert wait(killed, 10) == []
        assert start(hadoop, 1) == "servers that had died run again"
        (tmp_path / "go").touch()
        assert driver.wait(PATIENCE) == 0
    require_counts(far, outcome_of(f"{far}/counts"))
    assert json.loads((tmp_path / "again.json").read_text()) == {"Faulty": 1}


def test_the_job_of_a_killed_driver_is_ended_by_the_next(far: str, tmp_path: Path) -> None:
    before = applications("RUNNING")
    with driver_until((tmp_path / "waits").exists, COUNTING, far, tmp_path) as driver:
        driver.kill()
    (left,) = applications("RUNNING") - before
    assert end_orphans(launcher(far, tmp_path)) == 1
    assert left in applications("KILLED")
    assert end_orphans(launcher(far, tmp_path)) == 0
    outcome = count(far, tmp_path)
    (tmp_path / "go").touch()
    require_counts(far, outcome)


def clients(far: str) -> list[str]:
    """Command lines of processes that submit a job which writes the counts."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(path.read_text(errors="replace"))
    return [line for line in lines if f"-output\0{far}/counts" in line]


def test_a_client_that_is_starting_dies_with_its_driver(far: str, tmp_path: Path) -> None:
    """Java takes a second or two to start; by then its driver is dead."""
    at_work = AT_WORK.split(",")
    before = applications(*at_work)
    with driver_until(lambda: clients(far), COUNTING, far, tmp_path) as driver:
        driver.kill()
        driver.wait()
    awaited(lambda: not clients(far), "end of the clients", PATIENCE)
    end_orphans(launcher(far, tmp_path))
    assert applications(*at_work) <= before
    assert not (tmp_path / "waits").exists()


def test_a_dataset_that_is_there_is_not_written_again(far: str, tmp_path: Path) -> None:
    stores.write(f"{far}/counts/_SUCCESS", b"")
    with pytest.raises(BadInput, match=f"{far}/counts: exists already; expected a new folder"):
        count(far, tmp_path)
    assert stores.exists(f"{far}/counts")


def test_a_file_system_in_safe_mode_takes_no_job(far: str, tmp_path: Path) -> None:
    administer("-safemode", "enter")
    try:
        with pytest.raises(JobFailed, match=r"is in safe mode.*\n.*run again when it has"):
            count(far, tmp_path)
    finally:
        administer("-safemode", "leave")
    assert not stores.exists(f"{far}/counts")


def test_a_full_file_system_is_told_of(far: str, tmp_path: Path) -> None:
    """A quota of the folder: what tasks see of it is what they see of full disks."""
    administer("-setSpaceQuota", "1m", far)
    with pytest.raises(JobFailed, match=r"quota of .*\nHDFS has no more room"):
        count(far, tmp_path)
    assert not stores.exists(f"{far}/counts")


def administer(*words: str) -> None:
    subprocess.run(["hadoop", "dfsadmin", *words], check=True, capture_output=True)


def test_a_driver_killed_in_a_round_goes_on_with_that_round(far: str, tmp_path: Path) -> None:
    """On a star: its centre has a line longer than all others together, and most contributions."""
    centre = "0\t1.0\tO:" + ",".join(map(str, range(1, LEAVES + 1)))
    leaves = [f"{leaf}\t1.0\tO:0" for leaf in range(1, LEAVES + 1)]
    text = "".join(f"{line}\n" for line in (centre, *leaves, "dummy\t1.0\tO:dummy"))
    stores.write(f"{far}/graph/part-00000", text.encode())
    stores.write(f"{far}/graph/_SUCCESS", b"")
    before, told = applications("RUNNING"), tmp_path / "rounds.json"

    def in_second() -> bool:
        return told.exists() and bool(applications("RUNNING") - before)

    with driver_until(in_second, RANKING, far, tmp_path) as driver:
        driver.kill()
    done = json.loads(told.read_text())
    assert len(done) == 1
    left = applications("RUNNING") - before  # where the machine is slow, the job may have ended
    assert end_orphans(launcher(far, tmp_path)) <= len(left)
    assert not applications("RUNNING") - before
    rounds = rank_star(far, tmp_path, done)
    assert (len(rounds), rounds[0]) == (2, done[0])
    rows = [line.split(b"\t") for line in stores.lines(f"{far}/ranks") if not side_name(line)]
    scores = {row[0]: float(row[1]) for row in rows}
    assert len(rows) == len(scores) == LEAVES + 2
    first_centre, first_leaf = 0.15 + 0.85 * LEAVES, 0.15 + 0.85 / LEAVES
    assert scores.pop(b"0") == pytest.approx(0.15 + 0.85 * LEAVES * first_leaf, rel=1e-14)
    assert scores.pop(b"dummy") == 1.0
    (leaf,) = set(scores.values())
    assert leaf == pytest.approx(0.15 + 0.85 * first_centre / LEAVES, rel=1e-14)
