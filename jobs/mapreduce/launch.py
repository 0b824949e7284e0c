"""Launches one job: its datasets are there whole, with what the tasks report, or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from crawlrank.jobs.kernel.captures.extraction_code import prepare
from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError, JobFailed
from crawlrank.jobs.kernel.formats.reading import parts
from crawlrank.jobs.kernel.machine.shortage import shortage_of
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, absolute, is_url
from crawlrank.jobs.kernel.storage.stores import DONE, exists, join, remove, write
from crawlrank.jobs.mapreduce.bad_lines import MappedInputs, first_error, first_error_at_url
from crawlrank.jobs.mapreduce.failures import NodesLost, failure
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome, outcome_of, split_output
from crawlrank.jobs.mapreduce.running import JobRun
from crawlrank.jobs.mapreduce.sift import Sift, sift_here


def launch(
    job_class: type[Job],
    inputs: Iterable[PathOrUrl],
    output: PathOrUrl,
    launcher: Launcher,
    args: Sequence[str] = (),
    side: Mapping[str, PathOrUrl] | None = None,
    origin: MappedInputs | None = None,
) -> Outcome:
    """Run a job; write its dataset to the new folder `output` and side datasets to those of `side`.

    inputs: datasets of lines (files, folders, globs, URLs of folders), or archives for a job that
    reads archives. output: a path; or a URL, then those of `side` are URLs, too, and side lines
    stay in the dataset. origin: where errors of reducers are looked up when the inputs are the
    output of an earlier stage. Raises BadInput for errors that tasks found in the input, JobFailed
    when a task failed.
    """
    side = side or {}
    folders = (output, *side.values())
    for folder in folders:
        if exists(folder):
            raise BadInput(str(folder), "exists already", "a new folder", "Remove it first.")
    with launcher.scratch(job_class.__name__) as tmp:
        job_run = JobRun(job_class, [*map(str, inputs)], output, launcher, args, tmp)
        with _whole_or_not_at_all(job_run, folders):
            if is_url(output):  # tasks write there, and their output does not come here to be split
                return _launch_at_url(job_run, side)
            return _launch_here(job_run, side, origin)


@contextlib.contextmanager
def _whole_or_not_at_all(job_run: JobRun, folders: Iterable[PathOrUrl]) -> Iterator[None]:
    """Where the block fails, remove the folders and raise a CrawlrankError for errors of stores
    and disks."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):
            for folder in folders:
                remove(folder)
        if isinstance(error, CrawlrankError):
            raise
        if shortage := shortage_of(error, job_run.activity):
            raise shortage from error
        if isinstance(error, OSError):
            raise JobFailed(failure(job_run.name, str(error))) from error
        raise


def _files(job_run: JobRun) -> list[str]:
    if job_run.job_class.reads_archives():
        return [absolute(path) for path in job_run.inputs]  # a link stays one
    paths = [part for dataset in job_run.inputs for part in parts(dataset)]
    if not paths:  # mrjob would read stdin, which a job of several stages can do only once
        raise BadInput("the inputs", "none", "at least one file, folder of parts or glob")
    return [str(path.resolve()) for path in paths]


def _launch_here(
    job_run: JobRun, side: Mapping[str, PathOrUrl], origin: MappedInputs | None
) -> Outcome:
    parts_of_tasks, output = job_run.tmp / "output", Path(job_run.output)
    if job_run.job_class.reads_archives():
        prepare()
    job_run = job_run._replace(inputs=_files(job_run), output=parts_of_tasks)
    seconds = job_run.run()
    outcome = split_output(parts_of_tasks, output, side)
    job_run.launcher.starting.add(seconds, outcome.ran)
    if outcome.errors:
        inputs = MappedInputs(job_run.job_class, job_run.args, job_run.inputs)
        raise first_error(outcome.errors, inputs, origin or inputs)
    return outcome


def _launch_at_url(job_run: JobRun, side: Mapping[str, PathOrUrl]) -> Outcome:
    """The driver reads only the ends of parts."""
    for folder in (job_run.output, *side.values()):
        remove(folder)  # what a killed run has left there
    if "--reducers" not in job_run.args:
        reducers = ["--reducers", str(job_run.launcher.ranges)]
        job_run = job_run._replace(args=[*job_run.args, *reducers])
    outcome = _run_at_url(job_run)
    if outcome.errors:
        raise first_error_at_url(outcome.errors, job_run.inputs)
    for name, folder in side.items():
        if job_run.launcher.is_small([job_run.output]):
            sift_here(job_run.output, name, folder)
        else:
            whole, args = [str(job_run.output)], ["--name", name]
            _run_at_url(job_run._replace(job_class=Sift, inputs=whole, output=folder, args=args))
    return outcome


def _run_at_url(job_run: JobRun) -> Outcome:
    """Run a job, once more where nodes were lost under it."""
    try:
        seconds = job_run.run()
    except NodesLost:
        remove(job_run.output)
        job_run.launcher.starting.again[job_run.name] += 1
        seconds = job_run.run()
    if not job_run.on_cluster:
        write(join(job_run.output, DONE), b"")
    outcome = outcome_of(job_run.output)
    job_run.launcher.starting.add(seconds, outcome.ran)
    return outcome
