"""Launches one job by mrjob, on the runner of a launcher: the datasets of the job are there whole,
with what the tasks report, or not at all.

An error says why a job failed, with the cures that are known. If nodes of the cluster or servers of
YARN were lost, no task is to blame, and the same job may well end when it is launched again. Jobs
that an earlier driver left at work are ended first.
"""

from __future__ import annotations

import contextlib
import logging
import re
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mrjob.step import StepFailedException

import crawlrank
from crawlrank.jobs.kernel.captures.extraction_code import CODES, prepare
from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError, JobFailed
from crawlrank.jobs.kernel.formats.reading import parts
from crawlrank.jobs.kernel.machine.shortage import shortage_in, shortage_of
from crawlrank.jobs.kernel.storage.opening import (
    FILE,
    PathOrUrl,
    absolute,
    as_path_or_url,
    is_url,
    local_path,
    size_to_read,
)
from crawlrank.jobs.kernel.storage.stores import DONE, exists, join, remove, write
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import (
    MappedInputs,
    Outcome,
    first_error,
    first_error_at_url,
    outcome_of,
    split_output,
)
from crawlrank.jobs.mapreduce.runners import tag_options
from crawlrank.jobs.mapreduce.runners.applications import end_left_when_back, tag_of
from crawlrank.jobs.mapreduce.sift import Sift, sift_here

CURE = (
    "Nodes of the cluster, or servers of it, were lost or started anew: run the same command "
    "again, it continues where this one stopped."
)
#: words of a failed job's message -> cure
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
#: what Hadoop and Spark say of lost nodes: output of map tasks that no node serves any more,
#: containers that went with their node (exit codes -100 and -106; 143 of a NodeManager that was
#: shut down), application masters that sent no heartbeat, servers that do not answer
_WORDS = (
    r"MAX_FAILED_UNIQUE_FETCHES",
    r"Exceeded the abort failure limit; bailing-out",
    r"released on a \*?lost\*? node",
    r"(?i:\bnode manager (?:was|is) lost|\blost nodes?\b)",
    r"ApplicationMaster for attempt \S+ timed out",
    r"due to AM Container for \S+ exited with\s+exitCode: (?:-100|-106|143)\b",
    r"Application with id '\S+' doesn't exist in RM",
    r"ConnectException: Connection refused",
    r"ApplicationMasterNotRegisteredException",
    r"(?i:\b(?:worker|slave) lost\b)",
)
_LOST = re.compile("|".join(_WORDS))
#: the error of a task in Python, without a package before its name as those of Java have
_OF_A_TASK = re.compile(r"^\w+(?:Error|Exception): ", re.MULTILINE)


class NodesLost(JobFailed):
    """A failure after which another attempt makes sense."""


def nodes_were_lost(message: str) -> bool:
    """Whether the last lines of a failed job blame the cluster rather than the job."""
    return bool(_LOST.search(message)) and not _OF_A_TASK.search(message)


def failure(job: str, message: str) -> str:
    return f"the job {job} failed; its last lines:\n{with_cures(message)}"


def with_cures(message: str) -> str:
    """The message, and below it the cures that are known for it."""
    return "\n".join([message, *(cure for words, cure in _CURES.items() if words in message)])


def end_orphans(launcher: Launcher) -> int:
    """End what bears the tag of the launcher's folder of data, and wait until it writes no more;
    returns their number. To be called once, before anything in that folder is read or changed.

    By runner: hadoop, applications of YARN; emr, clusters, and steps of the cluster that the
    configuration names; spark, applications where its master is YARN. Other runners, and launchers
    without such a folder, leave nothing. Raises JobFailed where jobs cannot be found or ended.
    """
    if not (launcher.traits.on_cluster and launcher.data):
        return 0
    options = ["--runner", launcher.runner, "--quiet", "--local-tmp-dir", str(launcher.tmp)]
    if launcher.conf:
        options += ["--conf-path", str(launcher.conf)]
    runner = launcher.job_class(Job)(options).make_runner()
    try:
        return int(runner.end_orphans(tag_of(launcher.data)))
    except OSError as error:
        message = f"jobs of an earlier run cannot be looked for: {error}"
        raise JobFailed(with_cures(message)) from error


EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time in a zip

logging.getLogger("mrjob").addHandler(logging.NullHandler())


class JobRun(NamedTuple):
    """inputs: paths of files, or for clusters and archives URLs too. output: the new folder that
    the runner writes. tmp: a folder for the runner's own files."""

    job_class: type[Job]
    inputs: Sequence[str]
    output: PathOrUrl
    launcher: Launcher
    args: Sequence[str]
    tmp: Path

    @property
    def name(self) -> str:
        return self.job_class.__name__

    @property
    def activity(self) -> str:
        """What the job does, for messages about a shortage."""
        return f"the job {self.name}, which works in {self.launcher.tmp}"

    @property
    def on_cluster(self) -> bool:
        return self.launcher.traits.on_cluster

    def run(self) -> float:
        """Run the job; returns its seconds by this machine's clock. Raises CrawlrankError."""
        if self.on_cluster:
            inputs, options = list(self.inputs), self._cluster_options()
        else:
            inputs = [path for name in self.inputs for path in _paths(name)]
            options = self._own_options()
        options += ["--runner", self.launcher.runner, "--local-tmp-dir", str(self.tmp), "--quiet"]
        options += ["--no-cat-output", "--no-check-input-paths"]
        options += ["--stage", self.name]
        job = self.launcher.job_class(self.job_class)([*options, *self.args, "--", *inputs])
        began = time.monotonic()
        with job.make_runner() as runner:
            self._report_progress(runner, inputs)
            try:
                runner.run()
            except StepFailedException as error:
                raise self._failed(runner, error) from error
        return time.monotonic() - began

    def _cluster_options(self) -> list[str]:
        launcher = self.launcher
        options = ["--output-dir", str(self.output)]
        if launcher.traits.stages_in_data and launcher.data:
            options += ["--hadoop-tmp-dir", str(join(launcher.data, "tmp"))]
        options += tag_options(launcher.runner, tag_of(launcher.data or self.output), self.name)
        options += ["--py-files", str(write_zip(self.tmp / "crawlrank.zip"))]
        conf = launcher.cluster() if launcher.cluster else launcher.conf
        return [*options, "--conf-path", str(conf)] if conf else options

    def _own_options(self) -> list[str]:
        options = ["--no-conf", "--cleanup", "NONE", "--output-dir", str(local_path(self.output))]
        if self.launcher.traits.tasks:
            options += ["--no-bootstrap-mrjob"]  # tasks run under this very Python
            if self.launcher.processes:
                options += ["--num-cores", str(self.launcher.processes)]
        return options

    def _report_progress(self, runner: Any, inputs: Sequence[str]) -> None:
        if on_task := self.launcher.on_task:
            runner.on_task = lambda done, total: on_task(self.name, done, total)
        if self.job_class.reads_archives() and (on_read := self.launcher.on_read):
            size = sum(size_to_read(as_path_or_url(archive)) for archive in inputs)
            runner.on_read, runner.looks = lambda done: on_read(done, size), self.launcher.looks

    def _failed(self, runner: Any, error: StepFailedException) -> CrawlrankError:
        """The error of a failed job: on this machine the error of what the machine lacks, if that
        is the cause; on a cluster NodesLost, if its nodes were lost."""
        launcher, message = self.launcher, runner.failure or str(error)
        if not self.on_cluster and (
            shortage := shortage_in(runner.failure, runner.exit_code, self.activity)
        ):
            return shortage
        if not nodes_were_lost(message) and not nodes_were_lost(getattr(runner, "state", "")):
            return JobFailed(failure(self.name, message))
        if launcher.traits.outlives_loss and launcher.data:  # the application may still run
            end_left_when_back(tag_of(launcher.data), runner.get_hadoop_bin())
        return NodesLost(failure(self.name, f"{message}\n{CURE}"))


def _paths(path_or_url: str) -> list[str]:
    """The input as a runner of this machine takes it: a dataset at a `file:///` URL as paths of its
    parts, any other input as it is."""
    if not path_or_url.startswith(FILE):
        return [path_or_url]
    path = local_path(path_or_url)
    return [str(part) for part in parts(path)] if path.is_dir() else [str(path)]


def write_zip(path: Path) -> Path:
    """Write the package crawlrank, of which tasks on clusters import `jobs`, with machine code;
    equal files give equal bytes."""
    package = Path(crawlrank.__file__).absolute().parent
    sources = [package / "__init__.py", *(package / "jobs").rglob("*.py")]
    entries = {
        source.relative_to(package.parent).as_posix(): source.read_bytes() for source in sources
    }
    entries.update([code.entry() for code in CODES])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, contents in sorted(entries.items()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            file.writestr(entry, contents)
    return path


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
    if job_run.job_class.has_reducer() and "--reducers" not in job_run.args:
        inputs = map(as_path_or_url, job_run.inputs)
        reducers = ["--reducers", str(job_run.launcher.reducers(inputs))]
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
