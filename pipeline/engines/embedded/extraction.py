"""Links and captures of archives by a pool of processes, an archive a task, the largest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import died
from jobs.kernel.storage.opening import size_of
from pipeline.contract import ArchiveReport, ArchiveTask
from pipeline.data.workers import Died, answers
from pipeline.engines.embedded.extraction_task import ArchiveAnswer, ArchiveWork, extract_archive


def extract_archives(
    tasks: Sequence[ArchiveTask],
    links: Path,
    captures: Path,
    *,
    tmp: Path,
    options: ExtractionOptions | None = None,
    processes: int = 1,
    read: Callable[[int, int], None] = lambda done, total: None,
) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
    """Each archive once its parts are in the folders links and captures, as they are done; so
    nothing is done before the first is asked for. tasks: of `archive_tasks`.

    tmp: a folder on the same file system. read: is told (bytes read, bytes of all) of all archives
    together. An archive in which nothing could be read has an error in its report, and raises
    nothing. A process that dies, for want of memory or by a fault of a parser, is the error of the
    archive that it read. Memory: 300 MiB a process.
    """
    sizes = {task.content: size_of(task.place) for task in tasks}
    done = _BytesRead(sum(sizes.values()), read)
    works = {_work(task, options or ExtractionOptions(), tmp): task for task in tasks}
    ordered = sorted(works, key=lambda work: -sizes[works[work].content])
    for folder in (links, captures):
        folder.mkdir(parents=True, exist_ok=True)
    for work, answer in answers(
        extract_archive, ordered, processes, lambda work, far: done.at(works[work], far)
    ):
        task = works[work]
        done.at(task, sizes[task.content])
        if isinstance(answer, Died):
            answer = ArchiveAnswer({}, [], died(answer.how))
            # its parts are not whole, so that it is read again by the next run
        else:
            work.links.replace(links / task.part)
            work.captures.replace(captures / task.part)
        yield task, ArchiveReport(str(task.place), task.part, *answer)


def _work(task: ArchiveTask, options: ExtractionOptions, tmp: Path) -> ArchiveWork:
    name = str(task.place).rpartition("/")[2]
    return ArchiveWork(
        task.place, name, tmp / f"links-{task.part}", tmp / f"captures-{task.part}", options
    )


class _BytesRead:
    """Bytes read of all archives, from how far each of them is."""

    def __init__(self, total: int, read: Callable[[int, int], None]) -> None:
        self._total, self._read, self._sum = total, read, 0
        self._at: dict[str, int] = {}

    def at(self, task: ArchiveTask, far: int) -> None:
        self._sum += far - self._at.get(task.content, 0)
        self._at[task.content] = far
        self._read(self._sum, self._total)
