"""Runs of the embedded engine that are killed at random, and end as one that was left alone.

The moment is random over the time that a run takes; the blow meets all its processes, the driver
alone, or one worker. Checkpoints are kept of every round, and each takes a while, so that PageRank
is met too. Few kills run with all tests; the twenty are those of `make test-kill`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from support.crawls import MORE_WEB, WEB, Said, checked, environment, write_warc
from support.faults.stopping import stopped
from support.paths import LOOPBACK, SAMPLES
from support.work_folders import await_end, files_of, manifest_of, told, tree_of

from pipeline.workfolder.lock import locked

SLOWLY = """
import time
from pipeline.engines.embedded import ranks
write = ranks.write_checkpoint
def slowly(*what):
    write(*what)
    time.sleep(0.03)
ranks.INTERVAL, ranks.write_checkpoint = 0.0, slowly
"""
PROGRAM = f"""{SLOWLY}
from pipeline.cli import main
main(prog_name="crawlrank")
"""
STOPS = {"iterations": ("--iterations", "8"), "tolerance": ("--tolerance", "1e-9")}
IN_A_ROW = 4  # kills in one folder
KINDS = ("group", "driver", "worker")
ROUND = re.compile(r"^page-rank: round (\d+)", re.MULTILINE)


@dataclass
class Disturbed:
    """A work folder with its kills, and the parts that stayed since their archives were entered."""

    work: Path
    command: list[str]
    kills: int = 0
    parts: dict[Path, int] = field(default_factory=dict)

    def process(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def remember_parts(self) -> None:
        """Parts of the archives that the manifest has by now, by inode."""
        with contextlib.suppress(FileNotFoundError):
            for entry in manifest_of(self.work)["archives"].values():
                for dataset in ("links", "captures"):
                    part = self.work / dataset / entry["part"]
                    if not entry["error"]:
                        self.parts.setdefault(part, part.stat().st_ino)

    def run(self) -> Said:
        """To its end."""
        with self.process() as process:
            out, err = process.communicate(timeout=120)
        assert out is None
        return checked(Said(process.returncode, "", err.decode()))


def command_of(archives: list[Path], stop: str, work: Path) -> list[str]:
    return [sys.executable, "-c", PROGRAM, *words_of(archives, stop, work)]


def words_of(archives: list[Path], stop: str, work: Path) -> list[str]:
    words = ["run", *archives, "--work", work, *STOPS[stop]]
    return [*map(os.fspath, words), "--jobs", "2", "--no-validate", "-v"]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("archives")
    made = [write_warc(folder / "web.warc", WEB), write_warc(folder / "more.warc", MORE_WEB)]
    return [LOOPBACK, SAMPLES / "aut-example.arc.gz", *made]


def strike(run: Disturbed, seconds: float, kind: str, rng: random.Random) -> bool:
    """Start the run and kill of it what `kind` says after so long; whether it was met at work."""
    with run.process() as process:
        assert process.stderr is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        tree = tree_of(process.pid)
        workers = [pid for pid, words in tree.items() if "spawn_main" in words]
        met = process.poll() is None and (kind != "worker" or bool(workers))
        if met and kind == "worker":
            with contextlib.suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
        elif met:
            os.killpg(process.pid, signal.SIGKILL) if kind == "group" else process.kill()
        err = process.stderr.read().decode()
        code = process.wait()
    if kind == "worker" or not met:
        assert code in (0, 3), err
        checked(Said(code, "", err))
    await_end(tree)
    run.remember_parts()
    with locked(run.work):  # the lock died with its process
        pass
    return met


@dataclass
class Undisturbed:
    seconds: float
    files: dict[str, bytes]
    told: dict[str, object]


@pytest.fixture(scope="module")
def undisturbed(
    archives: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Undisturbed]:
    @cache
    def of(stop: str) -> Undisturbed:
        work = tmp_path_factory.mktemp("undisturbed") / "work"
        began = time.monotonic()
        said = Disturbed(work, command_of(archives, stop, work)).run()
        assert said.code == 0, said.err
        return Undisturbed(time.monotonic() - began, files_of(work), told(work))

    return of


def check_end(run: Disturbed, expected: Undisturbed) -> Said:
    """Run it to its end, which is that of one that nobody disturbed."""
    said = run.run()
    assert said.code == 0, said.err
    assert files_of(run.work) == expected.files
    assert told(run.work) == expected.told
    assert {part: part.stat().st_ino for part in run.parts} == run.parts
    return said


def kill_at_random(
    command: Callable[[Path], list[str]], tmp: Path, expected: Undisturbed, seed: int, kills: int
) -> None:
    rng = random.Random(seed)
    done = folders = 0
    while done < kills:
        folders += 1
        work = tmp / f"work-{folders}"
        run = Disturbed(work, command(work))
        for _ in range(min(IN_A_ROW, kills - done)):
            if not strike(run, rng.uniform(0, expected.seconds), rng.choice(KINDS), rng):
                break
            run.kills += 1
        check_end(run, expected)
        done += run.kills
        assert folders < 5 * kills, "hardly any kill met a run at work"


def test_some_kills(
    archives: list[Path], undisturbed: Callable[[str], Undisturbed], tmp_path: Path
) -> None:
    command = partial(command_of, archives, "tolerance")
    kill_at_random(command, tmp_path, undisturbed("tolerance"), seed=1, kills=1)


@pytest.mark.kills
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("seed", [11, 12])
def test_many_kills(
    stop: str,
    seed: int,
    archives: list[Path],
    undisturbed: Callable[[str], Undisturbed],
    tmp_path: Path,
) -> None:
    command = partial(command_of, archives, stop)
    kill_at_random(command, tmp_path, undisturbed(stop), seed, kills=5)


@pytest.mark.parametrize("stop", ["tolerance", pytest.param("iterations", marks=pytest.mark.kills)])
def test_ranking_goes_on_behind_its_last_round(
    stop: str, archives: list[Path], undisturbed: Callable[[str], Undisturbed], tmp_path: Path
) -> None:
    work = tmp_path / "work"
    run = Disturbed(work, command_of(archives, stop, work))
    words = words_of(archives, stop, work)
    with stopped("page-rank", 4, *words, before=SLOWLY) as process:
        os.killpg(process.pid, signal.SIGKILL)
    assert (work / "rounds" / "checkpoint.npz").exists()
    run.remember_parts()
    assert len(run.parts) == 2 * len(archives)
    with np.load(work / "rounds" / "checkpoint.npz") as checkpoint:
        kept = json.loads(checkpoint["told"].tobytes())["rounds"]
    said = check_end(run, undisturbed(stop))
    rounds = [int(number) for number in ROUND.findall(said.err)]
    assert len(kept) >= 3
    assert rounds[0] == len(kept) + 1
    assert rounds == list(range(rounds[0], rounds[-1] + 1))
