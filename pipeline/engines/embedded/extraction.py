"""extract-links: links and captures of archives to Parquet, by a pool of processes.

An archive is a task; the largest ones begin first. Memory: 300 MiB a process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, cast

from jobs.kernel.archive.damage import MAX_LISTED, Damage, of_unread
from jobs.kernel.captures.counters import require_pages
from jobs.kernel.captures.extraction import Row, extract_runs
from jobs.kernel.captures.extraction_code import prepare
from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import BadInput, died
from jobs.kernel.formats.rows import Capture, LinkRun
from jobs.kernel.storage.digesting import digested
from jobs.kernel.storage.opening import opened, size_of
from jobs.kernel.storage.positions import reported_position
from pipeline.contract import ArchiveReport, ArchiveTask
from pipeline.data.workers import Died, Tell, answers
from pipeline.engines.embedded.columns import CapturesWriter, LinksWriter


class ArchiveWork(NamedTuple):
    """What a process needs to extract an archive. tmp: the folder of its links and captures."""

    task: ArchiveTask
    tmp: Path
    options: ExtractionOptions

    @property
    def links(self) -> Path:
        return self.tmp / f"links-{self.task.part}"

    @property
    def captures(self) -> Path:
        return self.tmp / f"captures-{self.task.part}"

    def report(self, counters: dict[str, int], *results: Any) -> ArchiveReport:
        return ArchiveReport(str(self.task.archive), self.task.part, counters, *results)


def extract_archives(
    tasks: Sequence[ArchiveTask],
    links: Path,
    captures: Path,
    *,
    tmp: Path,
    options: ExtractionOptions | None = None,
    processes: int = 1,
    on_read: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
    """Each archive as soon as its parts are in the folders links and captures. Nothing is done
    before the first one is asked for. tasks: of `archive_tasks`.

    tmp: a folder on the same file system. on_read: called with (bytes read, bytes in total) of all
    archives together. An archive in which nothing could be read raises nothing; its report has an
    error. So has that of an archive whose process died, for want of memory or by a fault of a
    parser.
    """
    sizes = {task.content: size_of(task.archive) for task in tasks}
    progress = _BytesRead(sum(sizes.values()), on_read)
    largest_first = sorted(tasks, key=lambda task: -sizes[task.content])
    works = [ArchiveWork(task, tmp, options or ExtractionOptions()) for task in largest_first]
    for folder in (links, captures):
        folder.mkdir(parents=True, exist_ok=True)
    prepare()
    for work, report in answers(
        extract_archive, works, processes, lambda work, position: progress.at(work.task, position)
    ):
        task = work.task
        progress.at(task, sizes[task.content])
        if isinstance(report, Died):  # its parts are not whole: the next run reads it again
            yield task, work.report({}, [], died(report.how))
            continue
        work.links.replace(links / task.part)
        work.captures.replace(captures / task.part)
        yield task, report


class _BytesRead:
    """Sums the bytes read of all archives."""

    def __init__(self, total: int, on_read: Callable[[int, int], None]) -> None:
        self._total, self._on_read, self._sum = total, on_read, 0
        self._positions: dict[str, int] = {}

    def at(self, task: ArchiveTask, position: int) -> None:
        self._sum += position - self._positions.get(task.content, 0)
        self._positions[task.content] = position
        self._on_read(self._sum, self._total)


def extract_archive(work: ArchiveWork, tell: Tell) -> ArchiveReport:
    """Read an archive and write both its parts, by a process of the pool. tell: called with the
    bytes read now and then.

    Parts of an archive that could not be read to its end are valid files without rows.
    """
    archive = work.task.archive
    name = str(archive).rpartition("/")[2]
    counters: Counter[str] = Counter()
    damage: list[list[Any]] = []
    digests: list[str] = []
    try:
        with (
            _writers(work) as (links, captures),
            opened(archive) as file,
            reported_position(file, tell),
            digested(file, digests.append) as stream,
        ):
            items = extract_runs(stream, name, work.options, counters)
            _write(items, links, captures, damage)
        require_pages(name, counters)
    except BadInput as bad:
        with _writers(work):
            error = [bad.found, bad.expected, bad.cure]
        return work.report(of_unread(counters), damage, error, *digests)
    return work.report(dict(counters), damage, None, *digests)


@contextmanager
def _writers(work: ArchiveWork) -> Iterator[tuple[LinksWriter, CapturesWriter]]:
    dated = work.options.timestamps
    with (
        LinksWriter(work.links, dated=dated) as links,
        CapturesWriter(work.captures, referring=dated) as captures,
    ):
        yield links, captures


def _write(
    items: Iterator[Row],
    links: LinksWriter,
    captures: CapturesWriter,
    damage: list[list[Any]],
) -> None:
    for kind, group in groupby(items, type):
        if kind is LinkRun:
            for run in cast(Iterator[LinkRun], group):
                links.add(run.source, run.targets, [run.hop] * len(run.targets), run.timestamp)
        elif kind is Capture:
            captures.add(cast(Iterator[Capture], group))
        elif kind is Damage:
            for item in group:  # there may be millions in a row
                if len(damage) < MAX_LISTED:
                    damage.append(list(item))
