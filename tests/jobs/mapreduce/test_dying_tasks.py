"""A task of extraction whose process dies costs its archive, on the local runner as in the pool."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import WEB, crawlrank, write_warc
from support.faults.dying_reader import DyingReader
from support.paths import LOOPBACK

from jobs.mapreduce.launcher import Launcher
from pipeline.engines.text import local_extraction, steps

DIED = "the process that read it died (SIGKILL)"


def test_others_are_read_and_nothing_of_it_is_kept(tmp_path: Path) -> None:
    archives = [
        LOOPBACK,
        write_warc(tmp_path / "it dies.warc", WEB),
        write_warc(tmp_path / "b.warc", WEB),
    ]
    (tmp_path / "tmp").mkdir()
    launcher = Launcher("local", tmp_path / "tmp", 2, job_class=lambda job: DyingReader)
    links, captures = tmp_path / "links", tmp_path / "captures"
    reports = steps.extract_links(archives, links, captures, launcher)
    assert [report.path for report in reports] == list(map(str, archives))
    assert [report.error and report.error[0] for report in reports] == [None, DIED, None]
    for report, archive in zip(reports, archives, strict=True):
        alone = steps.extract_links(
            [archive], tmp_path / f"{report.part}.txt", tmp_path / f"{report.part}.tsv",
            Launcher("inline", tmp_path / "tmp"),
        )  # fmt: skip
        whole = (tmp_path / f"{report.part}.txt").read_bytes()
        assert whole
        assert (links / report.part).read_bytes() == (b"" if report.error else whole)
        assert report.counters == ({} if report.error else alone[0].counters)


def test_a_run_ends_with_its_error_and_keeps_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archives = [LOOPBACK, write_warc(tmp_path / "dies.warc", WEB)]
    words = ("run", *archives, "--work", tmp_path / "work", "--runner", "local", "--iterations", 2)
    with monkeypatch.context() as patched:
        patched.setattr(local_extraction, "ExtractLinks", DyingReader)
        said = crawlrank(*words, "--no-validate")
    assert said.code == 3
    assert f"{archives[1]}: {DIED}; expected" in said.err
    assert "--max-record" in said.err
    (kept,) = [part for part in (tmp_path / "work" / "links").iterdir() if part.stat().st_size]
    inode = kept.stat().st_ino
    assert crawlrank(*words, "--no-validate").code == 0
    assert kept.stat().st_ino == inode
