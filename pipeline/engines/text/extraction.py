"""Extraction of archives by jobs, on this machine and on a cluster.

On this machine a job reads some archives. On a cluster small archives share a task, and an archive
whose tasks all fail costs only itself. Hadoop tries a failed task again some times, and then fails
the job; here the job continues without a few such tasks. A second job reads the archives that have
no report, each in a task of its own. An archive that then has no report either is reported as one
that could not be read. If no archive has a report, a task without archives shows whether the
cluster is at fault: then its job fails, with the last lines of the task.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing.pool import ThreadPool
from typing import NamedTuple

from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, absolute, size_of, size_to_read
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.pipeline.engines.text.steps import (
    ExtractedArchive,
    archive_reports,
    writable_names,
)
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask, datasets_of
from crawlrank.pipeline.workfolder.dataset_store import DatasetStore
from crawlrank.pipeline.workfolder.manifest import fingerprint

ARCHIVES_A_JOB = 4  # archives for each process in one job, so that a kill costs no more than these


def extract_here(
    tasks: Sequence[ArchiveTask],
    options: ExtractionOptions,
    launcher: Launcher,
    store: DatasetStore,
) -> Iterator[ExtractedArchive]:
    """Each archive once its parts are in the store, or with its error."""
    at_once = ARCHIVES_A_JOB * (launcher.processes or 1)
    sizes = [size_to_read(task.archive) for task in tasks]
    for before in range(0, len(tasks), at_once):
        counting = _counting_from(before, sizes, launcher)
        yield from _extract(tasks[before : before + at_once], options, counting, store)


def _extract(
    tasks: Sequence[ArchiveTask],
    options: ExtractionOptions,
    launcher: Launcher,
    store: DatasetStore,
) -> Iterator[ExtractedArchive]:
    by_path = {str(task.archive): task for task in tasks}
    with launcher.scratch("extract-links") as tmp:
        outputs = {name: tmp / name for name in datasets_of(options)}
        names = writable_names([task.archive for task in tasks], tmp)
        links, *_ = outputs.values()
        side = {name: folder for name, folder in outputs.items() if folder != links}
        outcome = launch(ExtractLinks, list(names), links, launcher, options.arguments(), side)
        for report in archive_reports(outcome, names):
            task = by_path[report.path]
            for name, folder in outputs.items():
                store.put_file(folder / report.part, f"{name}/{task.part}")
            yield task, report


def _counting_from(before: int, sizes: Sequence[int], launcher: Launcher) -> Launcher:
    """The launcher, with progress counted over all archives. sizes: of these, in bytes."""
    on_task, on_read = launcher.on_task, launcher.on_read
    read_before, size = sum(sizes[:before]), sum(sizes)
    if on_task is not None:
        launcher = replace(
            launcher, on_task=lambda job, done, _: on_task(job, before + done, len(sizes))
        )
    if on_read is not None:
        launcher = replace(launcher, on_read=lambda done, _: on_read(read_before + done, size))
    return launcher


FOR_A_TASK = 1 << 28  # bytes of archives; small ones share a task, which takes seconds to start
AT_ONCE = 16
FEW = 20  # tasks that may fail, or FEW_IN_A_HUNDRED of many: with more, the cluster is at fault
FEW_IN_A_HUNDRED = 5
LOST = [
    "the task that read it failed each time",
    "an archive that a task can read in the memory that it is given",
    "The logs of the job's tasks say why. For want of memory, give tasks more"
    " (mapreduce.map.memory.mb, in the configuration), or try a smaller --max-record.",
]
ArchiveGroup = list[ArchiveTask]  # archives that share a task of the cluster


class ClusterExtraction(NamedTuple):
    """data: URL of the folder of datasets."""

    launcher: Launcher
    data: str
    options: ExtractionOptions

    def extract(self, tasks: Sequence[ArchiveTask]) -> Iterator[ExtractedArchive]:
        """A report for each archive, as jobs end. Raises JobFailed if the cluster is at fault."""
        groups = list(shared(tasks))
        part = f"archives-{fingerprint('', {}, [task.content for task in tasks])[:12]}"
        known = set[str]()
        for reported in self._job(groups, part):
            known.add(reported[0].content)
            yield reported
        if not known:
            self._require_cluster()
        again = [task for group in _without(groups, known) if len(group) > 1 for task in group]
        if again:
            part += "-alone"
            for reported in self._job([[task] for task in again], part):
                known.add(reported[0].content)
                yield reported
        for (task,) in _without([[task] for task in tasks], known):
            lost = ArchiveReport(str(task.archive), part, {}, error=LOST)
            yield task._replace(part=part), lost

    def _job(self, groups: list[ArchiveGroup], part: str) -> list[ExtractedArchive]:
        """The reports of a job, which writes its datasets to folders of the name `part`."""
        named = {absolute(task.archive): task for group in groups for task in group}
        lists = [[absolute(task.archive) for task in group] for group in groups]
        outcome = self._launch(lists, self.data, part, self._tolerant(len(groups)))
        names = {name: task.archive for name, task in named.items()}
        tasks = {str(task.archive): task for task in named.values()}
        reports = archive_reports(outcome, names)
        return [(tasks[report.path]._replace(part=part), report) for report in reports]

    def _require_cluster(self) -> None:
        """Raise JobFailed where a task without archives fails, too."""
        with self.launcher.workplace("no-archives") as folder:
            self._launch([[]], folder, "none", [])

    def _launch(
        self, lists: list[list[str]], data: PathOrUrl, part: str, args: list[str]
    ) -> Outcome:
        """data: the folder of the datasets, in which each is extended by a folder `part`."""
        links, *side = datasets_of(self.options)
        with self.launcher.scratch("archives") as folder:
            listed = folder / "archives.txt"
            listed.write_text("".join(f"{json.dumps(names)}\n" for names in lists))
            args = [*self.options.arguments(), "--listed", *args]
            outputs = {name: stores.join(data, name, part) for name in side}
            main = stores.join(data, links, part)
            return launch(ExtractLinks, [listed], main, self.launcher, args, outputs)

    def _tolerant(self, tasks: int) -> list[str]:
        """Options for a job to continue where few of its tasks fail; only Hadoop has them."""
        if not self.launcher.traits.may_lose_tasks:
            return []
        percent = min(100, max(FEW_IN_A_HUNDRED, 100 * FEW // tasks))
        return ["-D", f"mapreduce.map.failures.maxpercent={percent}"]


def _without(groups: Sequence[ArchiveGroup], known: set[str]) -> list[ArchiveGroup]:
    """The groups without a report: a task writes the reports of all its archives at its end."""
    return [group for group in groups if known.isdisjoint(task.content for task in group)]


def shared(tasks: Sequence[ArchiveTask]) -> Iterator[ArchiveGroup]:
    """Archives in order, grouped so that a task has at least one and about FOR_A_TASK bytes."""
    with ThreadPool(AT_ONCE) as pool:
        sizes = pool.map(size_of, [task.archive for task in tasks])
    group, held = ArchiveGroup(), 0
    for task, size in zip(tasks, sizes, strict=True):
        if group and held + size > FOR_A_TASK:
            yield group
            group, held = [], 0
        group.append(task)
        held += size
    yield group
