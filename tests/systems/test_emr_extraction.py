"""Archives whose task fails each time, by the tasks that made_emr.py runs."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.faults.dying_reader import DyingReader
from support.paths import LOOPBACK
from support.systems.emr_around import bucket_in, emr_around, packaged, run_emr  # noqa: F401 - fixtures
from support.systems.made_emr import MadeEmr
from support.systems.own_engine import with_engine

from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.cli import main
from crawlrank.pipeline.engines.text.engine import TextEngine, held_cluster
from crawlrank.pipeline.engines.text.extraction import LOST
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.run.run import engine_of
from crawlrank.pipeline.steps import ArchiveTask
from crawlrank.pipeline.workfolder.archives import given_archives, reports, require_readable
from crawlrank.pipeline.workfolder.manifest import Manifest

NAMES = ("a", "dies", "c")


@pytest.fixture
def tasks(bucket: Any) -> list[ArchiveTask]:
    for name in NAMES:
        bucket.put_object(Bucket="crawl", Key=f"x/{name}.warc.gz", Body=LOOPBACK.read_bytes())
    return [ArchiveTask(name, f"s3://crawl/x/{name}.warc.gz", "") for name in NAMES]


def dying(job: type[Job]) -> type[Job]:
    return DyingReader if job is ExtractLinks else job


def launcher(tmp: Path, held: Path, data: str) -> Launcher:
    return Launcher("emr", tmp, data=data, conf=held, ranges=1, job_class=dying)


def dying_engine(
    work: Path, options: RunOptions, tmp: Path, reporter: Reporter, stack: ExitStack
) -> TextEngine:
    engine = engine_of(work, options, tmp, reporter, stack)
    assert isinstance(engine, TextEngine)
    return TextEngine(work, replace(engine.launcher, job_class=dying))


@pytest.mark.slow
def test_an_archive_whose_task_dies_costs_itself(
    emr: MadeEmr, tasks: list[ArchiveTask], conf: Path, tmp_path: Path
) -> None:
    """All three share a task at first."""
    data = "s3://crawl/costs"
    with held_cluster(conf, tmp_path, data) as held:
        engine = TextEngine(tmp_path, launcher(tmp_path, held, data))
        done = [*engine.extract(tasks, ExtractionOptions())]
        again = [*engine.extract(tasks[1:2], ExtractionOptions())]
    assert [(task.content, report.error) for task, report in done] == [
        ("a", None),
        ("c", None),
        ("dies", LOST),
    ]
    assert [report.path for _, report in done] == [tasks[number].archive for number in (0, 2, 1)]
    assert done[0][1].counters == done[1][1].counters
    assert done[0][1].counters["captures"] > 0
    assert [report.error for _, report in again] == [LOST]
    assert all(engine.store.exists(f"links/{task.part}") for task, _ in (*done, *again))
    told = [report for _, report in done]
    require_readable(told, skip_bad_files=True, strict=False)
    with pytest.raises(BadInput, match=r"dies\.warc\.gz: the task that read it failed each time"):
        require_readable(told, skip_bad_files=False, strict=False)


@pytest.mark.slow
def test_a_run_goes_on_without_it_where_bad_files_are_skipped(
    emr: MadeEmr, tasks: list[ArchiveTask], bucket: Any, web: Path, conf: Path, tmp_path: Path
) -> None:
    """It is read again by the run that does not skip it, and then no more."""
    bucket.put_object(Bucket="crawl", Key="x/dies.warc.gz", Body=web.read_bytes())
    archives, work = [task.archive for task in tasks[:2]], tmp_path / "skipping"
    run = partial(run_emr, work, conf, *archives, command=with_engine(dying_engine))
    refused = run()
    assert refused.exit_code == 3, refused.output
    assert "dies.warc.gz: the task that read it failed each time" in refused.output
    done = run(more=("--skip-bad-files", "--no-validate"))
    assert done.exit_code == 0, done.output
    before = len(emr.steps)
    again = run(more=("--skip-bad-files", "--no-validate"))
    assert (again.exit_code, len(emr.steps)) == (0, before), again.output
    status = CliRunner().invoke(main, ["status", "--work", str(work)])
    assert "dies.warc.gz" in status.output


@pytest.mark.slow  # as test_a_run_whose_step_fails is
def test_a_cluster_that_is_at_fault_is_told_with_its_last_lines(
    emr: MadeEmr, tasks: list[ArchiveTask], conf: Path, tmp_path: Path
) -> None:
    data = "s3://crawl/fault"
    with held_cluster(conf, tmp_path, data) as held:
        text = held.read_text()
        held.write_text(text.replace('"cluster_id"', '"python_bin": "false", "cluster_id"'))
        engine = TextEngine(tmp_path, launcher(tmp_path, held, data))
        with pytest.raises(JobFailed, match="the job ExtractLinks failed; its last lines"):
            [*engine.extract(tasks, ExtractionOptions())]


@pytest.mark.slow
def test_an_archive_without_an_entry_is_reported_as_not_read(tmp_path: Path) -> None:
    (report,) = reports(Manifest(tmp_path), given_archives([LOOPBACK]))
    assert report.path == str(LOOPBACK)
    assert report.error
    assert report.error[0] == "its extraction has not ended"
