"""Commands that meet a full disk: each names a folder on it and blames no input."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.crawls import COMMAND, WEB, html, process, response
from support.faults.disks import tiny_disk
from support.paths import LOOPBACK
from support.runs import copy_of, finished
from support.systems.web_server import WebServer

SIZE = "3m"
WRITERS: dict[str, tuple[Sequence[str], str]] = {  # words, and the option for the output
    "plan": (("--budget", "5/day"), "--output"),
    "export-precedence": ((), "--output"),
    "export-text": ((), "--out"),
    "report": ((), "--output"),
    "watch": ((), "--output"),
}


def fill(disk: Path) -> None:
    with contextlib.suppress(OSError), (disk / "filler").open("wb", 0) as filler:
        while filler.write(b"x" * 1024):
            pass


def told(disk: Path, *words: object) -> None:
    said = process(*words, command=COMMAND)
    last = said.err.rstrip().splitlines()[-1]
    assert said.code == 3, said
    assert last.startswith(f"crawlrank: {disk}"), last
    assert last.endswith(": the disk is full. Make room, or write elsewhere.")


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.slow
def test_of_the_output(command: str, tmp_path: Path) -> None:
    words, option = WRITERS[command]
    with tiny_disk(tmp_path / "disk", SIZE) as disk:
        fill(disk)
        before = sorted(disk.iterdir())
        told(disk, command, "--work", finished(LOOPBACK), *words, option, disk / "output")
        assert sorted(disk.iterdir()) == before


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["hits", "opic", "site"])
def test_of_the_work_folder(method: str, tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", SIZE) as disk:
        work = copy_of(finished(LOOPBACK), disk / "work")
        fill(disk)
        told(disk, "rank", "--work", work, "--method", method, "--name", "other", "--quiet")


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("runner", ["embedded", "local"])
def test_of_temporary_files(runner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into which an archive is copied where a web server gives no ranges."""
    page = response(next(iter(WEB)), html(["http://a.org/"]) + b"<!-- -->" * 100_000)
    with WebServer().running() as server, tiny_disk(tmp_path / "disk", "1m") as disk:
        url = server.put("/a.warc", page * 4, ranges=False)
        monkeypatch.setenv("TMPDIR", str(disk))
        allowed = ("--allow-http", "--allow-private")
        words = ("--work", tmp_path / "work", "--runner", runner, "--quiet")
        told(disk, "run", url, *allowed, *words)
