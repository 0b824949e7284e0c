"""However many --jobs are asked for, a small crawl starts few processes and threads."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.crawls import crawlrank
from support.faults.limits import folder_of_user, within_threads
from support.paths import LOOPBACK

from crawlrank.jobs.kernel.machine.processes import A_CORE, at_a_time, cores
from crawlrank.jobs.mapreduce.launcher import Launcher

MOST = 40 * cores() + 100  # processes and threads
ROUNDS = ("--iterations", "2", "--no-validate", "--quiet", "--jobs", "5000")
SAID = f"--jobs 5000: lowered to {A_CORE * cores()}, {A_CORE} for each core\n"


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["embedded", "local"])
def test_a_run(runner: str) -> None:
    with folder_of_user() as folder:
        words = ("run", LOOPBACK, "--work", folder / "work", *ROUNDS, "--runner", runner)
        said = within_threads(MOST, *words)
    assert (said.code, said.err) == (0, SAID)


@pytest.mark.slow
def test_an_inspection() -> None:
    with folder_of_user() as folder:
        copies = [shutil.copy(LOOPBACK, folder / f"{n}.warc.gz") for n in range(3 * cores())]
        said = within_threads(MOST, "inspect", *copies, "--quiet", "--jobs", 5000)
    assert said.code == 0
    assert said.err == SAID


def test_it_is_said_only_where_it_is_lowered() -> None:
    asked = A_CORE * cores()
    assert crawlrank("inspect", LOOPBACK, "--quiet", "--jobs", asked).err == ""
    assert crawlrank("inspect", LOOPBACK, "--quiet", "--jobs", 5000).err == SAID


def test_programs_are_bound_too(tmp_path: Path) -> None:
    most = A_CORE * (os.cpu_count() or 1)
    assert Launcher("local", tmp_path, 100_000).processes == most
    assert Launcher("local", tmp_path).processes == cores()
    assert [at_a_time(asked) for asked in (1, most, most + 1, None)] == [1, most, most, cores()]
