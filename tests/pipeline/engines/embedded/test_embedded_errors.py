"""The embedded engine when something is in its way: each row through the real command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.crawls import (
    COMMAND,
    INLINE,
    Said,
    checked,
    crawlrank,
    environment,
    ok,
    process,
    write_warc,
)
from support.faults.disks import grow, tiny_disk
from support.faults.stopping import interrupt, stopped
from support.paths import LOOPBACK
from support.runs import copy_of, finished
from support.work_folders import await_end, files_of, hold, tree_of

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.precedence.export import export_precedence
from crawlrank.pipeline.precedence.options import PrecedenceOptions

ROUNDS = ("--iterations", "3", "--no-validate", "--jobs", "2")
RANKED = re.compile(r"^page-rank: round (\d+)", re.MULTILINE)


def undisturbed() -> Path:
    return finished(LOOPBACK, *ROUNDS)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "size",
    ["24k", "64k", *(pytest.param(s, marks=pytest.mark.slow) for s in ("12k", "40k", "80k"))],
)
def test_a_full_disk(size: str, tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", size) as disk:
        work = disk / "work"
        said = process("run", LOOPBACK, "--work", work, *ROUNDS, "-v")
        assert said.code == 3
        *_, last = said.err.splitlines()
        assert last.startswith(f"crawlrank: {work}")
        assert last.endswith(": the disk is full. Make room, or write elsewhere.")
        assert not list(work.glob(".crawlrank-*"))
        begun = re.findall("^(.*): begins$", said.err, re.MULTILINE)
        grow(disk, "9m")
        again = process("run", LOOPBACK, "--work", work, *ROUNDS)
        assert again.code == 0
        for step in begun[:-1]:
            assert f"{step}: unchanged, kept" in again.err
        assert files_of(work) == files_of(undisturbed())


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_disk_that_fills_while_lines_are_sorted(tmp_path: Path) -> None:
    """What writes the lines fails while the sort still has some: both end, with one error."""
    scores = tmp_path / "scores.txt"
    rows = (f"{n}.0\thttp://a/{n}\ta)/{n}\n" for n in range(20_000, 0, -1))
    scores.write_text("".join(rows))
    with (
        tiny_disk(tmp_path / "disk", "100k") as disk,
        pytest.raises(OSError, match="No space left"),
    ):
        export_precedence(scores, None, disk / "precedence.txt", tmp_path, PrecedenceOptions())


@pytest.mark.parametrize(
    ("limit", "found"),
    [("memory", "Out of Memory"), ("disk", "failed to offload")],
)
def test_a_sort_without_room(limit: str, found: str, tmp_path: Path) -> None:
    with (
        pytest.raises(BadInput, match=found) as error,
        database(tmp_path, budget=0, threads=1) as (db, _),
    ):
        if limit == "memory":
            db.execute("SET temp_directory = ''")
        else:
            db.execute("SET max_temp_directory_size = '1MB'")
        rows = "SELECT range::VARCHAR || repeat('x', 99) AS x FROM range(3000000)"
        db.execute(f"CREATE TABLE t AS {rows} ORDER BY x")
    assert error.value.where == str(tmp_path)
    assert "Make room there, or give more --memory" in str(error.value)
    assert not list(tmp_path.iterdir())


def test_what_memory_does_not_cure(tmp_path: Path) -> None:
    with (
        pytest.raises(BadInput, match="Conversion Error") as error,
        database(tmp_path, budget=0, threads=1) as (db, _),
    ):
        db.execute("SELECT 'x'::INTEGER")
    assert "--memory" not in str(error.value)


def test_a_read_only_work_folder(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", "64k", "ro") as disk:
        for work in (disk, disk / "work"):
            said = crawlrank("run", LOOPBACK, "--work", work)
            assert said.code == 3
            assert f"{work}: cannot be used as a work folder (Read-only file system)" in said.err


def test_a_finished_folder_that_became_read_only(tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", "9m") as disk:
        copy_of(undisturbed(), disk / "work")
        grow(disk, "9m,ro")
        said = crawlrank("run", LOOPBACK, "--work", disk / "work", *ROUNDS)
        assert said.code == 3
        assert f"{disk / 'work'}: cannot be used as a work folder (Read-only" in said.err


def test_two_runs_at_once(tmp_path: Path) -> None:
    work = tmp_path / "work"
    with hold(work) as other:
        said = crawlrank("run", LOOPBACK, "--work", work, *ROUNDS)
        other.kill()
    assert said.code == 3
    assert f"is at work in this folder (process {other.pid})" in said.err
    assert [path.name for path in work.iterdir()] == [".lock"]


@pytest.mark.few(1)
@pytest.mark.parametrize("first", ["embedded", "inline"])
def test_another_runner_in_a_work_folder(first: str, tmp_path: Path) -> None:
    runners = {"embedded": "embedded", "inline": "local or inline"}
    (second,) = set(runners) - {first}
    given = () if first == "embedded" else INLINE
    work = copy_of(finished(LOOPBACK, *ROUNDS, *given), tmp_path / "work")
    words = ("run", LOOPBACK, "--work", work, "--quiet", *ROUNDS)
    before = (work / "precedence.txt").read_bytes()
    said = crawlrank(*words, "--runner", second)
    assert said.code == 3
    assert (
        f"was made with --runner {runners[first]}, now it is run with --runner {runners[second]}"
        in said.err
    )
    assert "--force" in said.err
    ok(*words, "--runner", second, "--force")
    assert (work / "precedence.txt").read_bytes() == before
    if second == "embedded":
        assert files_of(work) == files_of(undisturbed())


def test_more_rounds_after_too_few(tmp_path: Path) -> None:
    work = tmp_path / "work"
    words = ("run", LOOPBACK, "--work", work, "--no-validate", "-v")
    for most, told in ((3, [1, 2, 3]), (3, []), (5, [4, 5])):
        said = crawlrank(*words, "--max-rounds", most)
        assert said.code == 4
        assert "--max-rounds" in said.err
        assert list(map(int, RANKED.findall(said.err))) == told
        scores = np.load(work / "ranks" / "scores.npy")
        assert scores.min() >= 0.15
        assert not (work / "scores").exists()
    said = ok(*words)
    rounds = list(map(int, RANKED.findall(said.err)))
    assert rounds[0] == 6
    exact = np.load(finished(LOOPBACK) / "ranks" / "scores.npy")
    scores = np.load(work / "ranks" / "scores.npy")
    assert np.abs(scores - exact).sum() <= 2e-9 * exact.sum()
    assert not (work / "rounds").exists()


# ---- Ctrl-C


def interrupted(run: subprocess.Popen[str]) -> Said:
    """After the signal that a terminal sends, to all processes of the run. err: without what
    Python tells of imports, which names libraries."""
    tree = tree_of(run.pid)
    interrupt(run)
    out, err = run.communicate(timeout=600)
    await_end(tree)
    own = [line for line in err.splitlines(keepends=True) if not line.startswith("import time:")]
    return checked(Said(run.returncode, out, "".join(own)))


def begun(*words: object, python: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    command = [COMMAND[0], *python, *COMMAND[1:], *map(str, words)]
    return subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, pipesize=4096,  # hardly ahead of who reads
    )  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "step",
    [
        "extract-links",
        "page-rank",
        *(pytest.param(step, marks=pytest.mark.slow) for step in ("canonicalize", "gen-graph")),
    ],
)
def test_control_c(step: str, tmp_path: Path) -> None:
    more = write_warc(tmp_path / "more.warc", {"http://x.example/": ["http://y.example/"]})
    words = ("run", LOOPBACK, more, "--work", tmp_path / "work", *ROUNDS, "-v")
    with stopped(step, 0, *words) as run:
        said = interrupted(run)
    assert said.code == 130
    assert said.err.splitlines()[-1] == "crawlrank: interrupted; what was finished is kept"
    assert not list((tmp_path / "work").glob(".crawlrank-*"))
    assert process(*words).code == 0


ENDLESS = """
import os, signal, sys, threading
from pathlib import Path
import pyarrow as pa
from crawlrank.pipeline import cli
from crawlrank.pipeline.data.database import batches, database, feed

HOW, TMP = sys.argv[1:]

def rows():
    while True:
        yield pa.record_batch({"x": range(1000)})

@cli.main.command()
def endless():
    with database(Path(TMP), budget=1 << 28, threads=2) as (db, _):
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGTERM)).start()
        if HOW == "reading":
            feed(db, "rows", next(rows()).schema, rows())
            list(batches(db, "SELECT * FROM rows WHERE x < 0 ORDER BY x"))
        list(batches(db, "SELECT count(*) FROM range(1000000000000) WHERE hash(range) = 1"))

cli.main(["endless"])
"""


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("how", ["reading", "counting"])
def test_an_endless_query_is_interrupted(how: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", ENDLESS, how, str(tmp_path)]
    run = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=600)
    assert run.stderr.strip() == "crawlrank: interrupted; what was finished is kept"
    assert run.returncode == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "imported",
    [100, 500, *(pytest.param(count, marks=pytest.mark.slow) for count in (3, 300, 700))],
)
def test_control_c_while_it_starts(imported: int, tmp_path: Path) -> None:
    """Fail after a number of imported modules, of which Python tells on stderr."""
    words = ("run", LOOPBACK, "--work", tmp_path / "work", *ROUNDS)
    with begun(*words, python=("-X", "importtime")) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if line.endswith(" crawlrank.pipeline\n"):
                break
        for _ in range(imported):
            run.stderr.readline()
        said = interrupted(run)
    told = [line for line in said.err.splitlines() if line]
    assert said.code == 130
    assert told[-1].startswith("crawlrank: interrupted")
    if re.fullmatch(r"[ 0-9|]*[\w.]*", told[0]):  # the end of what Python wrote, begun before
        del told[0]
    progress = re.compile(r"[a-z-]+: ([0-9.]+ s|not finished after [0-9.]+ s)")
    assert [line for line in told[:-1] if not progress.fullmatch(line)] == []
