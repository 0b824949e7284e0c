"""Runs one job on a runner and sorts its output: parts of datasets, counters, sums, errors."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mrjob.step import StepFailedException

from jobs.kernel.errors import BadInput, CrawlrankError, JobFailed
from jobs.kernel.formats.reading import parts
from jobs.kernel.formats.side_lines import side_name
from jobs.kernel.machine.shortage import shortage_in, shortage_of
from jobs.kernel.storage.opening import FILE, Place, absolute, is_url, place, size_of
from jobs.kernel.storage.stores import DONE, exists, join, remove
from jobs.mapreduce.bad_lines import Source, first_error
from jobs.mapreduce.far import first_far_error, outcome_of, write_zip
from jobs.mapreduce.job import Job
from jobs.mapreduce.launcher import CLUSTERS, Launcher
from jobs.mapreduce.lost_nodes import CURE, NodesLost, nodes_were_lost
from jobs.mapreduce.outcome import Note, Outcome
from jobs.mapreduce.runners.applications import end_left_when_back, marks, tag_of
from jobs.mapreduce.sift import Sift, sift_here

logging.getLogger("mrjob").addHandler(logging.NullHandler())

_CURES = {
    "No space left on device": (
        "The disk is full: make room, or put the work folder (--work) elsewhere."
    ),
    "is exceeded: quota": "HDFS has no more room for this folder: make room, or ask for more.",
    "could only be written to 0 of": "HDFS is full, or its DataNodes are gone: make room there.",
    "No such file or directory: 'hadoop'": (
        "Hadoop's command is not there: put its bin folder on PATH, or set HADOOP_HOME."
    ),
    "is in safe mode": "HDFS takes no changes until it leaves safe mode: run again when it has.",
}


def launch(
    job_class: type[Job],
    inputs: Iterable[Place],
    output: Place,
    launcher: Launcher,
    args: Sequence[str] = (),
    side: Mapping[str, Place] | None = None,
    origin: Source | None = None,
) -> Outcome:
    """Run a job; write its dataset to the new folder `output` and side datasets to those of `side`.

    inputs: datasets of lines (files, folders, globs, URLs of folders), or archives for a job that
    reads those. output: where it is a URL, so are those of `side`, and what the job writes stays as
    it is, side lines too. origin: where reducers' errors are looked up when the inputs are an
    earlier stage's output. Raises BadInput for what the tasks found wrong in the input, JobFailed
    when a task failed; the folders are not there then.
    """
    side, name = side or {}, job_class.__name__
    for folder in (output, *side.values()):
        if exists(folder):
            raise BadInput(str(folder), "exists already", "a new folder", "Remove it first.")
    with launcher.scratch(name) as tmp:
        try:
            if is_url(output):
                return _launch_far(job_class, inputs, output, launcher, args, side, tmp)
            paths = input_paths(job_class, inputs)
            seconds = _run(job_class, paths, tmp / "output", launcher, args, tmp)
            outcome = _sort_out(tmp / "output", Path(output), side)
            launcher.starting.add(seconds, outcome.ran)
            if outcome.errors:
                read = Source(job_class, args, paths)
                raise first_error(outcome.errors, read, origin or read)
            return outcome
        except BaseException as error:
            with contextlib.suppress(OSError):
                for folder in (output, *side.values()):
                    remove(folder)
            if isinstance(error, CrawlrankError):
                raise
            if shortage := shortage_of(error, _job_in(name, launcher)):
                raise shortage from error
            if isinstance(error, OSError):
                raise JobFailed(_failure(name, str(error))) from error
            raise


def _launch_far(
    job_class: type[Job],
    inputs: Iterable[Place],
    output: Place,
    launcher: Launcher,
    args: Sequence[str],
    side: Mapping[str, Place],
    tmp: Path,
) -> Outcome:
    """The same where datasets lie in a store: nothing of them passes through this machine but the
    ends of their parts."""
    for folder in (output, *side.values()):
        remove(folder)  # what a killed run has left there
    named = list(map(str, inputs))
    if "--reducers" not in args:
        args = [*args, "--reducers", str(launcher.ranges)]
    outcome = _run_far(job_class, named, output, launcher, args, tmp)
    if outcome.errors:
        raise first_far_error(outcome, named)
    for name, folder in side.items():
        if launcher.is_small([output]):
            sift_here(output, name, folder)
        else:
            _run_far(Sift, [str(output)], folder, launcher, ["--name", name], tmp)
    return outcome


def _run_far(
    job_class: type[Job],
    inputs: list[str],
    output: Place,
    launcher: Launcher,
    args: Sequence[str],
    tmp: Path,
) -> Outcome:
    """Run a job, once more where nodes were lost under it; what its tasks told."""
    try:
        seconds = _run(job_class, inputs, output, launcher, args, tmp)
    except NodesLost:
        remove(output)
        launcher.starting.again[job_class.__name__] += 1
        seconds = _run(job_class, inputs, output, launcher, args, tmp)
    outcome = outcome_of(output)
    launcher.starting.add(seconds, outcome.ran)
    return outcome


def input_paths(job_class: type[Job], inputs: Iterable[str | Path]) -> list[str]:
    """The files to read, in the order given."""
    if job_class.reads_archives():
        return [absolute(path) for path in inputs]  # as named, be it a link
    paths = [part for where in inputs for part in parts(where)]
    if not paths:  # mrjob would read stdin, which a job of several stages can do but once
        raise BadInput("the inputs", "none", "at least one file, folder of parts or glob")
    return [str(path.resolve()) for path in paths]


def _run(
    job_class: type[Job],
    inputs: list[str],
    output: Place,
    launcher: Launcher,
    args: Sequence[str],
    tmp: Path,
) -> float:
    """Seconds that the job took, on this machine's clock."""
    if launcher.runner in CLUSTERS:
        options = _cluster_options(launcher, job_class.__name__, output, tmp)
    else:
        options = _own_options(launcher, _as_path(output), tmp)
        inputs = [str(part) for where in inputs for part in _as_paths(where)]
    options += ["--no-cat-output", "--quiet", "--local-tmp-dir", str(tmp)]
    options += ["--no-check-input-paths"]
    job = launcher.job_class(job_class)([*options, *args, "--", *inputs])
    begun = time.monotonic()
    _run_job(job, job_class, inputs, launcher)
    seconds = time.monotonic() - begun
    if is_url(output) and launcher.runner not in CLUSTERS:
        (_as_path(output) / DONE).touch()
    return seconds


def _cluster_options(launcher: Launcher, name: str, output: Place, tmp: Path) -> list[str]:
    options = ["--runner", launcher.runner, "--output-dir", str(output)]
    if launcher.runner == "hadoop" and launcher.data:
        options += ["--hadoop-tmp-dir", str(join(launcher.data, "tmp"))]
    options += marks(launcher.runner, tag_of(launcher.data or output), name)
    options += ["--py-files", str(write_zip(tmp / "crawlrank.zip"))]
    conf = launcher.cluster() if launcher.cluster else launcher.conf
    return [*options, "--conf-path", str(conf)] if conf else options


def _own_options(launcher: Launcher, output: Path, tmp: Path) -> list[str]:
    options = ["--runner", launcher.runner, "--no-conf", "--cleanup", "NONE"]
    options += ["--output-dir", str(output)]
    if launcher.runner == "local":
        options += ["--no-bootstrap-mrjob"]  # tasks run under this very Python
        options += ["--num-cores", str(launcher.processes)] if launcher.processes else []
    return options


def _as_path(where: Place) -> Path:
    """Of a `file:///` URL, for runners that know paths only."""
    return Path(str(where).removeprefix("file://"))


def _as_paths(where: str) -> list[Place]:
    path = _as_path(where)
    if is_url(where) and path.is_dir():
        return list(parts(path))
    return [path if where.startswith(FILE) else where]


def _run_job(job: Job, job_class: type[Job], inputs: list[str], launcher: Launcher) -> None:
    name = job_class.__name__
    with job.make_runner() as runner:
        if launcher.on_task:
            on_task = launcher.on_task
            runner.on_task = lambda done, total: on_task(name, done, total)
        if launcher.on_read and job_class.reads_archives():
            on_read, size = launcher.on_read, sum(map(_size, inputs))
            runner.on_read = lambda done: on_read(done, size)
        try:
            runner.run()
        except StepFailedException as error:
            raise _task_failed(name, runner, error, launcher) from error


def _task_failed(
    name: str, runner: Any, error: StepFailedException, launcher: Launcher
) -> CrawlrankError:
    """Of a runner of this machine, what this machine lacks, if that is why; of a cluster, that
    nodes of it were lost."""
    said = runner.failure or str(error)
    if launcher.runner not in CLUSTERS:
        where = _job_in(name, launcher)
        if shortage := shortage_in(runner.failure, runner.exit_code, where):
            return shortage
    if not nodes_were_lost(said) and not nodes_were_lost(getattr(runner, "state", "")):
        return JobFailed(_failure(name, said))
    if launcher.runner == "hadoop" and launcher.data:  # it may run on, unheard of
        end_left_when_back(tag_of(launcher.data), runner.get_hadoop_bin())
    return NodesLost(_failure(name, f"{said}\n{CURE}"))


def _job_in(name: str, launcher: Launcher) -> str:
    return f"the job {name}, which works in {launcher.tmp}"


def _size(archive: str) -> int:
    with contextlib.suppress(OSError):  # told of by the task that reads it
        return size_of(place(archive))
    return 0


def _failure(name: str, said: str) -> str:
    return f"the job {name} failed; its last lines:\n{with_cures(said)}"


def with_cures(said: str) -> str:
    """What failed, and below it the cures that are known for it."""
    return "\n".join([said, *(cure for words, cure in _CURES.items() if words in said)])


def _sort_out(raw: Path, output: Path, side: Mapping[str, Place]) -> Outcome:
    """Split the raw parts by dataset; a part without lines of a dataset is an empty file there."""
    outcome = Outcome()
    folders = {name: Path(folder) for name, folder in side.items()}
    for folder in (output, *folders.values()):
        folder.mkdir(parents=True)
    for part in sorted(raw.glob("part-*")):
        _sort_part(part, output, folders, outcome)
    return outcome


def _sort_part(part: Path, output: Path, side: dict[str, Path], outcome: Outcome) -> None:
    with part.open("rb") as lines, (output / part.name).open("wb") as main:
        files = {name: (folder / part.name).open("wb") for name, folder in side.items()}
        try:
            for line in lines:
                if line[-2:] == b"\t\n":  # see jobs/mapreduce/job.py, ends of lines
                    line = line[:-2] + b"\n"
                if not (name := side_name(line)):
                    main.write(line)
                    outcome.rows["main"] += 1
                    continue
                rest, dataset = line[len(name) + 1 :], name[1:].decode()
                if (file := files.get(dataset)) is not None:
                    file.write(rest)
                    outcome.rows[dataset] += 1
                else:
                    outcome.take(name, Note(part.name, rest.rstrip(b"\n")))
        finally:
            for file in files.values():
                file.close()
