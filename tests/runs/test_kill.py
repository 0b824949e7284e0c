"""Runs that are killed at random moments, and end with the bytes of one that was left alone.

The moment is a random number of progress lines and a few milliseconds, so that it falls into every
step on fast and slow machines alike.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support.crawls import COMMAND, MORE_WEB, crawlrank, datasets, environment, write_warc
from support.paths import LOOPBACK
from support.work_folders import results_of

from pipeline.workfolder.lock import locked

#: the rounds of so small a graph are packed in several partitions, so that there are several rounds
PROGRAM = """
from pipeline.engines.text import packed_ranges
packed_ranges.PARTITION_BYTES = 300
from pipeline.cli import main
main(prog_name="crawlrank")
"""
OPTIONS = {
    "plain": ("--iterations", "6", "--no-validate"),
    "packed": ("--tolerance", "1e-9"),
    "data": ("--tolerance", "1e-9"),
    "plain-data": ("--iterations", "6"),
}
MOST_LINES = 10  # of about 30 that a run prints with -v


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("archives")
    return [LOOPBACK, write_warc(folder / "more.warc", MORE_WEB)]


Undisturbed = Callable[[str], dict[str, bytes]]


@pytest.fixture(scope="module")
def undisturbed(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    @cache
    def of(kind: str) -> dict[str, bytes]:
        work = tmp_path_factory.mktemp("undisturbed") / "work"
        done = run_to_its_end(command_of(work, archives, "inline", kind))
        assert done.returncode == 0, done.stderr
        return left_by(work, kind)

    return of


def command_of(work: Path, archives: list[Path], runner: str, kind: str) -> list[str]:
    words: list[Any] = [sys.executable, "-c", PROGRAM, "run", *archives, "--work", work]
    data = ["--data", f"file://{work}-data"] if kind.endswith("data") else []
    return [os.fspath(word) for word in [*words, *OPTIONS[kind], "--runner", runner, *data, "-v"]]


def run_to_its_end(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, env=environment(), capture_output=True, check=False, timeout=120)


def left_by(work: Path, kind: str) -> dict[str, bytes]:
    return results_of(work) if kind.endswith("data") else datasets(work)


def killed(command: list[str], rng: random.Random, whole_group: bool) -> bool:
    """Start the command and kill it after some lines; whether it was still at work."""
    with subprocess.Popen(
        command,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as run:
        assert run.stderr is not None
        for _ in range(rng.randint(1, MOST_LINES)):
            run.stderr.readline()
        time.sleep(rng.uniform(0, 0.08))
        alive = run.poll() is None
        if alive:
            os.killpg(run.pid, signal.SIGKILL) if whole_group else run.kill()
        run.stderr.close()
    return alive


def until_done(command: list[str], work: Path, seed: int, most_kills: int) -> int:
    """Kill the run again and again, then let it end; the number of kills that met it at work."""
    rng = random.Random(seed)
    kills = 0
    while kills < most_kills and killed(command, rng, whole_group=seed % 2 == 0):
        kills += 1
        with locked(work):  # the lock died with the process
            pass
    done = run_to_its_end(command)
    assert done.returncode == 0, done.stderr
    return kills


def check(work: Path, undisturbed: Undisturbed, kind: str) -> None:
    assert left_by(work, kind) == undisturbed(kind)
    assert [path.name for path in work.rglob(".*")] == [".lock"]
    assert not (work / "rounds").exists()
    with locked(work):
        pass


@pytest.mark.kills
@pytest.mark.parametrize("kind", OPTIONS)
def test_inline(kind: str, archives: list[Path], undisturbed: Undisturbed, tmp_path: Path) -> None:
    for seed in range(1, 4):
        work = tmp_path / f"work-{seed}"
        command = command_of(work, archives, "inline", kind)
        assert until_done(command, work, seed, most_kills=4) >= 3
        check(work, undisturbed, kind)


@pytest.mark.kills
@pytest.mark.parametrize("kind", ["plain", "packed"])
@pytest.mark.parametrize("seed", [10, 11], ids=["group", "driver-only"])
def test_local(
    seed: int, kind: str, archives: list[Path], undisturbed: Undisturbed, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    command = command_of(work, archives, "local", kind)
    assert until_done(command, work, seed, most_kills=3) >= 2
    check(work, undisturbed, kind)


@pytest.mark.parametrize("killed_after", ["canonicalize", "page-rank", "join-scores"])
def test_with_other_archives_after_the_kill(
    killed_after: str, archives: list[Path], undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """What a killed run has not finished does not get into the next one."""
    work = tmp_path / "work"
    common = ["--work", str(work), *OPTIONS["plain"], "--runner", "inline"]
    extra = write_warc(tmp_path / "extra.warc", {"http://x.example/": ["http://y.example/"]})
    command = [*COMMAND, "run", *map(str, archives), str(extra), *common, "-v"]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if killed_after in line.decode():
                break
        run.kill()
    assert crawlrank("run", *archives, *common, "--force").code == 0
    check(work, undisturbed, "plain")
