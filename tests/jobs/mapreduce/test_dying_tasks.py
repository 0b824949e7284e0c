"""A task of extraction whose process dies costs its archive, on the local runner as in the pool."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from support.crawls import INLINE, WEB, ok, write_warc
from support.engines import launching
from support.faults.dying_reader import DyingReader
from support.paths import LOOPBACK
from support.systems.own_engine import with_engine

from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.engines.text import steps

DIED = "the process that read it died (SIGKILL)"


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_run_ends_with_its_error_and_keeps_the_others(tmp_path: Path) -> None:
    archives = [LOOPBACK, write_warc(tmp_path / "dies.warc", WEB)]
    words = ("run", *archives, "--work", tmp_path / "work", "--iterations", 2, "--no-validate")
    dying = with_engine(launching(job_class=lambda job: DyingReader))
    said = CliRunner().invoke(dying, [*map(str, words), "--runner", "local"])
    assert said.exit_code == 3
    assert f"{archives[1]}: {DIED}; expected" in said.stderr
    assert "--max-record" in said.stderr
    (kept,) = [part for part in (tmp_path / "work" / "links").iterdir() if part.stat().st_size]
    inode = kept.stat().st_ino
    ok(*words, *INLINE)
    assert kept.stat().st_ino == inode
