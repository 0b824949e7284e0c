"""Runs of the embedded engine that are killed, and end as one that was left alone.

Where a test says no more, the moment is random over the time that a run takes; the blow meets all
its processes, the driver alone, or one worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from support.crawls import MORE_WEB, WEB, Said, checked, ok
from support.drawing import examples
from support.faults.stopping import started, stopped
from support.paths import LOOPBACK
from support.runs import finished, shared_warc
from support.work_folders import await_end, files_of, manifest_of, told, tree_of

from crawlrank.pipeline.workfolder.lock import locked

STOPS = {"iterations": ("--iterations", 8), "tolerance": ("--tolerance", 1e-9)}
IN_A_ROW = 4  # kills in one folder
KINDS = ("group", "driver", "worker")
ROUND = re.compile(r"^page-rank: round (\d+)", re.MULTILINE)


@pytest.fixture(scope="module")
def archives() -> list[Path]:
    webs = {"web.warc.gz": WEB, "more.warc.gz": MORE_WEB}
    return [LOOPBACK, *(shared_warc(name, web) for name, web in webs.items())]


@dataclass
class Disturbed:
    """A work folder with its kills, and the parts that stayed since their archives were entered."""

    work: Path
    archives: list[Path]
    options: tuple[object, ...]
    parts: dict[Path, int] = field(default_factory=dict)

    @property
    def words(self) -> tuple[object, ...]:
        return ("run", *self.archives, "--work", self.work, *self.options, "-v")

    def remember_parts(self) -> None:
        """Parts of the archives that the manifest has by now, by inode."""
        with contextlib.suppress(FileNotFoundError):
            for entry in manifest_of(self.work)["archives"].values():
                for dataset in ("links", "captures"):
                    part = self.work / dataset / entry["part"]
                    if not entry["error"]:
                        self.parts.setdefault(part, part.stat().st_ino)

    def check_end(self) -> Said:
        """Run it to its end, which is that of one that nobody disturbed."""
        with locked(self.work):  # the lock died with its process
            pass
        said, expected = ok(*self.words), finished(self.archives, *self.options)
        assert files_of(self.work) == files_of(expected)
        assert told(self.work) == told(expected)
        assert {part: part.stat().st_ino for part in self.parts} == self.parts
        return said


def options_of(stop: str, jobs: int) -> tuple[object, ...]:
    return (*STOPS[stop], "--no-validate", "--jobs", jobs)


@pytest.mark.slow
def test_some_kills(archives: list[Path], tmp_path: Path) -> None:
    """While archives are read: what was read is read no more."""
    run = Disturbed(tmp_path / "work", archives, options_of("iterations", 1))
    for done in (2, 1):  # of those that are left
        with stopped("extract-links", done, *run.words) as killed:
            killed.kill()
        run.remember_parts()
        assert len(run.parts) >= 2
    run.check_end()


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["tolerance", pytest.param("iterations", marks=pytest.mark.slow)])
def test_ranking_goes_on_behind_its_last_round(
    stop: str, archives: list[Path], tmp_path: Path
) -> None:
    run = Disturbed(tmp_path / "work", archives, options_of(stop, 1))
    with stopped("page-rank", 4, *run.words) as killed:
        killed.kill()
    checkpoint = run.work / "rounds" / "checkpoint.npz"
    run.remember_parts()
    assert len(run.parts) == 2 * len(archives)
    with np.load(checkpoint) as kept:
        before = json.loads(kept["told"].tobytes())["rounds"]
    said = run.check_end()
    rounds = [int(number) for number in ROUND.findall(said.err)]
    assert len(before) >= 3
    assert rounds[0] == len(before) + 1
    assert rounds == list(range(rounds[0], rounds[-1] + 1))


def strike(run: Disturbed, seconds: float, kind: str, rng: random.Random) -> bool:
    """Start the run and kill of it what `kind` says after so long; whether it was met at work."""
    with started(*run.words) as process:
        met = process.wait(seconds) is None
        tree = tree_of(process.pid)
        workers = [pid for pid, words in tree.items() if "spawn_main" in words]
        met = met and (kind != "worker" or bool(workers))
        with contextlib.suppress(ProcessLookupError):
            if met and kind == "worker":
                os.kill(rng.choice(workers), signal.SIGKILL)
            elif met:
                os.killpg(process.pid, signal.SIGKILL) if kind == "group" else process.kill()
        code = process.wait()
        if kind == "worker" or not met:
            assert code in (0, 3), process.err
            checked(Said(code, "", process.err))
    await_end(tree)
    run.remember_parts()
    return met


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "jobs"), [("iterations", 1), ("tolerance", 1), ("tolerance", 2)])
def test_many_kills(stop: str, jobs: int, archives: list[Path], tmp_path: Path) -> None:
    options = options_of(stop, jobs)
    begun = time.monotonic()
    ok("run", *archives, "--work", tmp_path / "alone", *options, "--quiet")
    seconds, rng = time.monotonic() - begun, random.Random(f"{stop} {jobs}")
    done = folders = 0
    while done < examples(6):
        folders += 1
        run = Disturbed(tmp_path / f"work-{folders}", archives, options)
        for _ in range(IN_A_ROW):
            # the first run of a process takes longer than others: look for them ever earlier
            moment = rng.uniform(0, seconds / folders)
            done += strike(run, moment, rng.choice(KINDS[: jobs + 1]), rng)
        run.check_end()
        assert folders < 20, "hardly any kill met a run at work"
