"""One run at a time, and no lock that outlives its process."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from pathlib import Path

import pytest
from support.work_folders import hold

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.workfolder.lock import LOCK, locked

SOON = 0.05  # seconds


def test_a_second_run_is_refused_and_told_which_is_the_first(tmp_path: Path) -> None:
    with (
        locked(tmp_path / "work"),
        pytest.raises(BadInput, match=f"process {os.getpid()}"),
        locked(tmp_path / "work", SOON),
    ):
        raise AssertionError("two locks on one folder")


def test_the_lock_is_free_when_its_block_ends(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="mine"), locked(tmp_path):
        raise RuntimeError("mine")
    with locked(tmp_path):
        assert (tmp_path / ".lock").read_text() == f"{os.getpid()}\n"


def test_other_folders_are_free(tmp_path: Path) -> None:
    with locked(tmp_path / "a"), locked(tmp_path / "b"):
        assert (tmp_path / "b" / ".lock").exists()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_lock_dies_with_its_process(tmp_path: Path, how: signal.Signals) -> None:
    with hold(tmp_path) as holder:
        with pytest.raises(BadInput, match=f"process {holder.pid}"), locked(tmp_path, SOON):
            raise AssertionError("two locks on one folder")
        holder.send_signal(how)
    with locked(tmp_path):
        assert (tmp_path / ".lock").read_text() == f"{os.getpid()}\n"


def test_one_that_looks_for_long_refuses_no_run(tmp_path: Path) -> None:
    """`status` is stopped while it has the lock shared."""
    (tmp_path / LOCK).touch()
    with (tmp_path / LOCK).open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        leaves = threading.Timer(3 * SOON, fcntl.flock, (looking, fcntl.LOCK_UN))
        leaves.start()
        with locked(tmp_path, SOON):
            leaves.join()
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for work in (tmp_path / "file", tmp_path / "file" / "work"):
        with (
            pytest.raises(BadInput, match="cannot be used as a work folder") as caught,
            locked(work),
        ):
            raise AssertionError("a lock on no folder")
        assert caught.value.where == str(work)
        assert "another work folder" in caught.value.cure
