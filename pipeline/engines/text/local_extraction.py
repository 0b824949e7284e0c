"""Extraction of archives by jobs on this machine, some archives a job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.storage.opening import size_to_read
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.engines.text.archive_reports import (
    ExtractedArchive,
    archive_reports,
    writable_names,
)
from crawlrank.pipeline.steps import ArchiveTask
from crawlrank.pipeline.workfolder.dataset_store import DatasetStore

AT_ONCE = 4  # archives for each process in one job, so that a kill costs no more than these


def extract_here(
    tasks: Sequence[ArchiveTask],
    options: ExtractionOptions,
    launcher: Launcher,
    store: DatasetStore,
) -> Iterator[ExtractedArchive]:
    """Each archive once its parts are in the store, or with its error."""
    at_once = AT_ONCE * (launcher.processes or 1)
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
        links, captures = tmp / "links", tmp / "captures"
        names = writable_names([task.archive for task in tasks], tmp)
        args, side = options.arguments(), {"captures": captures}
        outcome = launch(ExtractLinks, list(names), links, launcher, args, side)
        for report in archive_reports(outcome, names):
            task = by_path[report.path]
            store.put_file(links / report.part, f"links/{task.part}")
            store.put_file(captures / report.part, f"captures/{task.part}")
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
