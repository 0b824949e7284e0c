"""One run of a job by mrjob, on the runner of a launcher."""

from __future__ import annotations

import logging
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mrjob.step import StepFailedException

import crawlrank
from crawlrank.jobs.kernel.captures.extraction_code import CODES
from crawlrank.jobs.kernel.errors import CrawlrankError, JobFailed
from crawlrank.jobs.kernel.formats.reading import parts
from crawlrank.jobs.kernel.machine.shortage import shortage_in
from crawlrank.jobs.kernel.storage.opening import (
    FILE,
    PathOrUrl,
    as_path_or_url,
    local_path,
    size_to_read,
)
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.failures import CURE, NodesLost, failure, nodes_were_lost
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import CLUSTERS, Launcher
from crawlrank.jobs.mapreduce.runners.applications import end_left_when_back, marks, tag_of

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
        """As messages about a shortage name it."""
        return f"the job {self.name}, which works in {self.launcher.tmp}"

    @property
    def on_cluster(self) -> bool:
        return self.launcher.runner in CLUSTERS

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
        if launcher.runner == "hadoop" and launcher.data:
            options += ["--hadoop-tmp-dir", str(join(launcher.data, "tmp"))]
        options += marks(launcher.runner, tag_of(launcher.data or self.output), self.name)
        options += ["--py-files", str(write_zip(self.tmp / "crawlrank.zip"))]
        conf = launcher.cluster() if launcher.cluster else launcher.conf
        return [*options, "--conf-path", str(conf)] if conf else options

    def _own_options(self) -> list[str]:
        options = ["--no-conf", "--cleanup", "NONE", "--output-dir", str(local_path(self.output))]
        if self.launcher.runner == "local":
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
        """On this machine the error of what the machine lacks, if that is the cause; on a cluster
        NodesLost, if its nodes were lost."""
        launcher, message = self.launcher, runner.failure or str(error)
        if not self.on_cluster and (
            shortage := shortage_in(runner.failure, runner.exit_code, self.activity)
        ):
            return shortage
        if not nodes_were_lost(message) and not nodes_were_lost(getattr(runner, "state", "")):
            return JobFailed(failure(self.name, message))
        if launcher.runner == "hadoop" and launcher.data:  # the application may still run
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
