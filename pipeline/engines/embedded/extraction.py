"""extract-links: links and captures of archives to Parquet, by a pool of processes.

An archive is a task, or its ranges are (range_extraction.py); the largest archives begin first.
Memory: 300 MiB a process.

Work on parts of datasets by the pool of processes, where every part is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, cast

from crawlrank.jobs.kernel.captures.extraction_code import prepare
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, died
from crawlrank.jobs.kernel.machine.processes import at_a_time
from crawlrank.jobs.kernel.storage.opening import size_to_read
from crawlrank.pipeline.data.workers import Died, Tell, Workers, answers, worth_starting
from crawlrank.pipeline.engines.embedded.range_extraction import (
    LEAST,
    WHOLE,
    ArchiveWork,
    Joining,
    JoinWork,
    RangeReport,
    RangeWork,
    Work,
    extract,
    works_of,
    writers,
)
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask, datasets_of

ReadWork = Callable[[Work, Tell], ArchiveReport | RangeReport]


def extract_archives(
    tasks: Sequence[ArchiveTask],
    folder: Path,
    *,
    tmp: Path,
    options: ExtractionOptions | None = None,
    processes: int | None = 1,
    most: int | None = None,
    on_read: Callable[[int, int], None] = lambda done, total: None,
    least: int = LEAST,
    reading: ReadWork = extract,
) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
    """Each archive as soon as its parts are in the datasets of the folder. Nothing is done before
    the first one is asked for. tasks: of `archive_tasks`.

    tmp: a folder on the same file system. processes: see `worth_starting`. most: processes that
    memory is there for. on_read: called with (bytes read, bytes in total) of all
    archives together. least: bytes of a range of an archive. reading: what a process of the pool
    does with its work. An archive in which nothing could be read raises nothing; its report has an
    error. So has that of an archive whose process died, for want of memory or by a fault of a
    parser.
    """
    sizes = {task.content: size_to_read(task.archive) for task in tasks}
    processes = worth_starting(processes, sum(sizes.values()))
    processes = min(processes, most or processes)
    progress = _BytesRead(sizes, on_read)
    options = options or ExtractionOptions()
    prepare()
    works = _works(tasks, sizes, tmp, options, processes, least)
    for name in datasets_of(options):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for work, report in _reports(works, processes, progress, reading):
        task = work.task
        if isinstance(report, Died):  # its parts are not whole: they have no rows
            with writers(work):
                report = work.report({}, [], died(report.how))
        for name, path in work.outputs.items():
            path.replace(folder / name / task.part)
        yield task, report


def _reports(
    works: list[Work], processes: int, progress: _BytesRead, reading: ReadWork
) -> Iterator[tuple[ArchiveWork, ArchiveReport | Died]]:
    """The report of each archive. works: the list to which joining the ranges of an archive is
    added."""
    joining = Joining(works)
    for work, answer in answers(reading, works, processes, progress.at):
        progress.done(work)
        if not isinstance(work, RangeWork):
            archive = work if isinstance(work, ArchiveWork) else work.archive
            yield archive, cast("ArchiveReport | Died", answer)
            continue
        joined = joining.add(work, cast("RangeReport | Died", answer))
        if isinstance(joined, JoinWork):
            works.append(joined)
        elif joined:
            yield work.archive, joined


def _works(
    tasks: Sequence[ArchiveTask],
    sizes: Mapping[str, int],
    tmp: Path,
    options: ExtractionOptions,
    processes: int,
    least: int,
) -> list[Work]:
    """The works, those of the largest archives first."""
    works: list[Work] = []
    processes = at_a_time(processes)
    for task in sorted(tasks, key=lambda task: -sizes[task.content]):
        work = ArchiveWork(task, tmp, options)
        share = sum(sizes.values()) // processes
        works += works_of(work, sizes[task.content], share, least) if processes > 1 else [work]
    return works


class _BytesRead:
    """Sums the bytes read of all archives. sizes: of these, by content."""

    def __init__(self, sizes: Mapping[str, int], on_read: Callable[[int, int], None]) -> None:
        self._sizes, self._on_read, self._sum = sizes, on_read, 0
        self._positions: dict[tuple[str, int], int] = {}

    def at(self, work: Work, position: int) -> None:
        """position: in the archive, or in the range of it."""
        if isinstance(work, JoinWork):
            return
        key = (work.task.content, 0) if isinstance(work, ArchiveWork) else work.key
        self._sum += position - self._positions.get(key, 0)
        self._positions[key] = position
        self._on_read(self._sum, sum(self._sizes.values()))

    def done(self, work: Work) -> None:
        if isinstance(work, ArchiveWork):
            self.at(work, self._sizes[work.task.content])
        elif isinstance(work, RangeWork) and work.number != WHOLE:
            end = min(work.part.end, self._sizes[work.archive.task.content])
            self.at(work, end - work.part.begin)


PartWork = TypeVar("PartWork")
PartResult = TypeVar("PartResult")

PROCESS_BYTES = 150 << 20  # of a process that has imported what it needs, and of a block


def part_results(
    work: Callable[[PartWork, Tell], PartResult],
    tasks: Sequence[PartWork],
    processes: int,
    path_of: Callable[[PartWork], Path],
    workers: Workers | None = None,
) -> list[PartResult]:
    """The result of every task, in their order. path_of: the file that a task reads. workers: as
    of `answers`.

    Raises BadInput where a process dies.
    """
    results: dict[int, PartResult] = {}
    for task, result in answers(work, tasks, processes, workers=workers):
        if isinstance(result, Died):
            raise BadInput(
                str(path_of(task)),
                f"the process that read it died ({result.how})",
                "a part that can be read in the memory there is",
                "Run it again with less --memory or fewer --jobs, so that it takes less.",
            )
        results[id(task)] = result
    return [results[id(task)] for task in tasks]
