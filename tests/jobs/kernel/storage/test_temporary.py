"""Temporary folders: what a killed process leaves is removed, what a living one has is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

from crawlrank.jobs.kernel.storage.temporary import output_folder, temporary_folder

HOLDS = """
import os, signal, sys
from pathlib import Path
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
with temporary_folder(Path(sys.argv[1])) as folder:
    (folder / "file").write_bytes(b"x")
    {more}
    print(folder, flush=True)
    sys.stdin.read()
"""


def holder(near: Path, more: str = "pass") -> tuple[subprocess.Popen[str], Path]:
    """A process that has a temporary folder there, and the folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS.format(more=more), near],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_of_a_killed_process(tmp_path: Path) -> None:
    process, theirs = holder(tmp_path)
    with temporary_folder(tmp_path) as ours:
        assert {*tmp_path.iterdir()} == {ours, theirs}
    assert {*tmp_path.iterdir()} == {theirs}
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (theirs / "file").exists()
    with temporary_folder(tmp_path) as ours:
        assert {*tmp_path.iterdir()} == {ours}


def test_of_a_killed_process_whose_child_lives(tmp_path: Path) -> None:
    """A worker may still write there."""
    process, theirs = holder(tmp_path, "child = os.fork() or (sys.stdin.read(), os._exit(0))")
    process.send_signal(signal.SIGKILL)
    process.wait()
    with temporary_folder(tmp_path):
        assert theirs.exists()
    process.communicate()  # ends the child, too


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    for name in ("crawlrank-away-x", ".crawlrank-besides", ".crawlrank-tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / ".crawlrank-beside-file").write_bytes(b"")
    (tmp_path / ".crawlrank-beside-link").symlink_to(tmp_path / ".crawlrank-tmp")
    before = {*tmp_path.iterdir()}
    with temporary_folder(tmp_path):
        pass
    assert {*tmp_path.iterdir()} == before


def test_an_output_folder_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError), output_folder(tmp_path / "a" / "b"):
        raise ValueError
    assert not [*tmp_path.iterdir()]
    with pytest.raises(ValueError), output_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "file").write_bytes(b"")
        raise ValueError
    assert [*(tmp_path / "a").iterdir()] == [tmp_path / "a" / "file"]
    with output_folder(tmp_path / "c"):
        pass
    assert (tmp_path / "c").is_dir()
    assert os.access(tmp_path / "c", os.W_OK)
