"""Runs that are killed at random moments, and end with the bytes of one that was left alone.

The moment is a random number of progress lines and a few milliseconds, so that it falls into every
step on fast and slow machines alike.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from crawls import COMMAND, LOOPBACK, MORE_WEB, crawlrank, datasets, environment, write_warc

from pipeline.lock import locked

OPTIONS = ("--iterations", "6", "--no-validate")
MOST_LINES = 5  # of about 15 that a run prints


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("archives")
    return [LOOPBACK, write_warc(folder / "more.warc", MORE_WEB)]


@pytest.fixture(scope="module")
def undisturbed(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    work = tmp_path_factory.mktemp("undisturbed") / "work"
    assert crawlrank("run", *archives, "--work", work, *OPTIONS, "--runner", "inline").code == 0
    return datasets(work)


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


def until_done(work: Path, archives: list[Path], runner: str, seed: int, most_kills: int) -> int:
    """Kill the run again and again, then let it end; the number of kills that met it at work."""
    rng = random.Random(seed)
    words: list[Any] = [*COMMAND, "run", *archives, "--work", work, *OPTIONS, "--runner", runner]
    command = [os.fspath(word) for word in words]
    kills = 0
    while kills < most_kills and killed(command, rng, whole_group=seed % 2 == 0):
        kills += 1
        with locked(work):  # the lock died with the process
            pass
    done = subprocess.run(command, env=environment(), capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return kills


def check(work: Path, undisturbed: dict[str, bytes]) -> None:
    assert datasets(work) == undisturbed
    assert [path.name for path in work.rglob(".*")] == [".lock"]
    assert not (work / "rounds").exists()
    with locked(work):
        pass


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.kills) for seed in range(1, 5))]
)
def test_inline(
    seed: int, archives: list[Path], undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    kills = until_done(tmp_path / "work", archives, "inline", seed, most_kills=4)
    assert kills >= 3
    check(tmp_path / "work", undisturbed)


@pytest.mark.kills
@pytest.mark.parametrize("seed", [10, 11], ids=["group", "driver-only"])
def test_local(
    seed: int, archives: list[Path], undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    kills = until_done(tmp_path / "work", archives, "local", seed, most_kills=3)
    assert kills >= 2
    check(tmp_path / "work", undisturbed)


@pytest.mark.parametrize("killed_after", ["canonicalize", "page-rank", "join-scores"])
def test_with_other_archives_after_the_kill(
    killed_after: str, archives: list[Path], undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    """What a killed run has not finished does not get into the next one."""
    work = tmp_path / "work"
    common = ["--work", str(work), *OPTIONS, "--runner", "inline"]
    extra = write_warc(tmp_path / "extra.warc", {"http://x.example/": ["http://y.example/"]})
    command = [*COMMAND, "run", *map(str, archives), str(extra), *common]
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if killed_after in line.decode():
                break
        run.kill()
    assert crawlrank("run", *archives, *common, "--force").code == 0
    check(work, undisturbed)
