"""Commands that read a work folder while another one is at work in it, or has been."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.paths import LOOPBACK
from support.runs import copy_of, finished, ranked

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.cli.parameters.command import reading
from crawlrank.pipeline.workfolder.lock import locked
from crawlrank.pipeline.workfolder.manifest import Manifest

STATE = {"arguments": ["run", "a b.warc"]}


def work_folder(tmp_path: Path) -> Path:
    return copy_of(finished(LOOPBACK), tmp_path / "work")


def test_an_error_names_the_command_at_work(tmp_path: Path) -> None:
    work = work_folder(tmp_path)
    with locked(work) as lock:
        lock.write(STATE)
        for error in (BadInput(str(work), "not done", "a run", "Finish it."), OSError("gone")):
            with pytest.raises(BadInput) as told, reading([work]):
                raise error
            assert "`crawlrank run 'a b.warc'` (process " in str(told.value)
            assert "Finish it" not in str(told.value)
    with pytest.raises(OSError, match="gone"), reading([work]):
        raise OSError("gone")


@pytest.mark.parametrize("of", ["run", "ranking"])
def test_what_changed_meanwhile_is_told(of: str, tmp_path: Path) -> None:
    work = copy_of(ranked(finished(LOOPBACK), "--name", "a"), tmp_path / "work")
    changed = work if of == "run" else work / "rankings" / "a"
    with pytest.raises(BadInput, match="was changed by another command"), reading([work]):
        Manifest(changed).save()
    with pytest.raises(BadInput, match="was changed by another command"), reading([work]):
        Manifest(changed).save()
        raise OSError("no such file")
    with reading([work]):
        pass


def test_a_run_at_work_may_be_shown(tmp_path: Path) -> None:
    work = work_folder(tmp_path)
    with locked(work), reading([work], unfinished=True):
        Manifest(work).save()


@pytest.mark.slow
def test_a_command_that_is_refused(tmp_path: Path) -> None:
    work = work_folder(tmp_path)
    manifest = Manifest(work)
    manifest.forget(["export-precedence"])
    with locked(work) as lock:
        lock.write(STATE)
        said = crawlrank("hosts", "--work", work)
        assert (said.code, "is at work in" in said.err) == (3, True)
        said = crawlrank("run", LOOPBACK, "--work", work, "--quiet")
        assert (said.code, "`crawlrank run 'a b.warc'` is at work in this folder" in said.err) == (
            3,
            True,
        )
        ok("status", "--work", work)
