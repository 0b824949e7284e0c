"""An archive to its links and captures in Parquet: as a whole, by one process, or in ranges.

A large archive is cut into ranges, each a task of the pool, so that all processes work to the end.
The ranges' links and captures are joined in the order of the archive, by another task. Where ranges
turn out not to fit together (archive_ranges.py), that task reads the archive as a whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from crawlrank.jobs.kernel.archive.damage import MAX_LISTED, guard, of_unread
from crawlrank.jobs.kernel.archive.run_reader import ArchiveRange
from crawlrank.jobs.kernel.captures.archive_ranges import fit, ranges_of
from crawlrank.jobs.kernel.captures.counters import MAX_TYPES, TYPES, Counters, require_pages
from crawlrank.jobs.kernel.captures.extraction import Row, extract_runs
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.rows import AnchorRun, Capture, LinkRun
from crawlrank.jobs.kernel.storage.opening import is_url, name_of, opened
from crawlrank.jobs.kernel.storage.while_reading import Digesting, digested, reported_position
from crawlrank.pipeline.data.workers import Died, Tell
from crawlrank.pipeline.engines.embedded.columns import AnchorsWriter, CapturesWriter, LinksWriter
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask, datasets_of


class ArchiveWork(NamedTuple):
    """What a process needs to extract an archive. tmp: the folder of its parts of datasets."""

    task: ArchiveTask
    tmp: Path
    options: ExtractionOptions

    @property
    def name(self) -> str:
        """The name of the archive in captures and messages."""
        return name_of(self.task.archive)

    @property
    def outputs(self) -> dict[str, Path]:
        """Its part of each dataset."""
        names = datasets_of(self.options)
        return {name: self.tmp / f"{name}-{self.task.part}" for name in names}

    def report(self, counters: dict[str, int], *results: Any) -> ArchiveReport:
        return ArchiveReport(str(self.task.archive), self.task.part, counters, *results)


def extract_archive(work: ArchiveWork, tell: Tell) -> ArchiveReport:
    """Read an archive and write its parts, by a process of the pool. tell: called with the
    bytes read now and then.

    Parts of an archive that could not be read to its end are valid files without rows.
    """
    archive = work.task.archive
    counters = Counters()
    damage: list[list[Any]] = []
    digests: list[str] = []
    try:
        with (
            opened(archive) as file,
            reported_position(file, tell),
            digested(file, digests.append) as stream,
        ):
            extract_items(work, stream, counters, damage)
        require_pages(work.name, counters)
    except BadInput as bad:
        with writers(work):
            error = [bad.found, bad.expected, bad.cure]
        return work.report(of_unread(counters), damage, error, *digests)
    return work.report(dict(counters), damage, None, *digests)


def extract_items(
    work: ArchiveWork,
    stream: BinaryIO,
    counters: Counter[str],
    damage: list[list[Any]],
    part: ArchiveRange | None = None,
) -> None:
    """Write the rows of an archive, or of part of it. Raises BadInput."""
    with writers(work, passing=part is not None) as output:
        items = extract_runs(stream, work.name, work.options, counters, part=part)
        _write(items, output, damage)


class Writers(NamedTuple):
    """anchors: None where they are not asked for."""

    links: LinksWriter
    captures: CapturesWriter
    anchors: AnchorsWriter | None

    def append(self, parts: Mapping[str, Path]) -> None:
        """parts: by dataset."""
        for name, part in parts.items():
            getattr(self, name).append(part)


@contextmanager
def writers(work: ArchiveWork, *, passing: bool = False) -> Iterator[Writers]:
    """passing: for files that are joined soon."""
    options, paths = work.options, work.outputs
    with (
        LinksWriter(paths["links"], dated=options.timestamps, passing=passing) as links,
        CapturesWriter(
            paths["captures"], columns=options.capture_columns, passing=passing
        ) as captures,
        AnchorsWriter(paths["anchors"], columns=options.anchor_columns, passing=passing)
        if options.anchor_text
        else nullcontext() as anchors,
    ):
        yield Writers(links, captures, anchors)


def _write(items: Iterator[Row], output: Writers, damage: list[list[Any]]) -> None:
    links, captures, anchors = output
    for item in items:
        if isinstance(item, LinkRun):
            links.add(item.source, item.targets, item.hop, *item[3:])
        elif isinstance(item, Capture):
            captures.add((item,))
        elif isinstance(item, AnchorRun):
            if anchors:
                anchors.add(item)
        elif len(damage) < MAX_LISTED:  # there may be millions
            damage.append(list(item))


LEAST, MOST = 1 << 22, 1 << 24  # bytes of a range
SHARES = 16  # ranges for each process, if all archives were cut
WHOLE = -1  # number of the work that digests the archive


class RangeWork(NamedTuple):
    """A range of an archive to extract, or with WHOLE the archive to digest. number: from 0 on."""

    archive: ArchiveWork
    number: int
    part: ArchiveRange

    @property
    def key(self) -> tuple[str, int]:
        """The key of the work among that of all archives."""
        return self.archive.task.content, self.number

    @property
    def output(self) -> ArchiveWork:
        """The output with the names of the files that the range is extracted to."""
        task = self.archive.task
        return self.archive._replace(task=task._replace(part=f"{task.part}.{self.number}"))


class RangeReport(NamedTuple):
    """part: after it was read. digest: of the archive, where that was the work. is_read: whether
    the range could be read."""

    part: ArchiveRange
    counters: dict[str, int]
    damage: list[list[Any]]
    digest: str = ""
    is_read: bool = True


class JoinWork(NamedTuple):
    """The ranges of an archive, all of them read. reports: by number."""

    archive: ArchiveWork
    reports: Mapping[int, RangeReport]

    def ranges(self) -> Iterator[tuple[RangeWork, RangeReport]]:
        for number in range(len(self.reports) - 1):
            report = self.reports[number]
            yield RangeWork(self.archive, number, report.part), report

    @property
    def fits(self) -> bool:
        reports = [report for _, report in self.ranges()]
        types = {name for report in reports for name in report.counters if name.startswith(TYPES)}
        is_read = all(report.is_read for report in reports) and len(types) < MAX_TYPES
        return is_read and fit([report.part for report in reports])


Work = ArchiveWork | RangeWork | JoinWork


def works_of(work: ArchiveWork, size: int, share: int, least: int = LEAST) -> list[Work]:
    """The work of an archive. size: of it, in bytes. share: of all archives, for each process.
    least: bytes of a range.

    An archive is cut where it would keep one process busy for long after the others. One that has
    to be fetched is fetched once, as a whole.
    """
    archive, fair = work.task.archive, max(least, share // SHARES)
    if size < fair + fair // 2 or is_url(archive):
        return [work]
    try:
        with opened(archive) as file, guard(str(archive)):
            parts = ranges_of(file, work.options.max_record, min(fair, MOST))
    except BadInput:
        return [work]  # which says why
    if len(parts) == 1:
        return [work]
    ranges: list[Work] = [RangeWork(work, number, part) for number, part in enumerate(parts)]
    return [RangeWork(work, WHOLE, ArchiveRange()), *ranges]


class Joining:
    """The works on ranges of archives, and their reports until all of an archive are there."""

    def __init__(self, works: Sequence[Work]) -> None:
        self._missing = Counter(work.archive for work in works if isinstance(work, RangeWork))
        self._done: dict[ArchiveWork, list[tuple[RangeWork, RangeReport | Died]]] = {}

    def add(self, work: RangeWork, report: RangeReport | Died) -> JoinWork | Died | None:
        """What follows: nothing yet, the work of joining all ranges, or that a process died."""
        archive = work.archive
        self._done.setdefault(archive, []).append((work, report))
        self._missing[archive] -= 1
        if self._missing[archive]:
            return None
        reports: dict[int, RangeReport] = {}
        dead: list[Died] = []
        for done, result in self._done.pop(archive):
            if isinstance(result, Died):
                dead.append(result)
            else:
                reports[done.number] = result
        if not dead:
            return JoinWork(archive, reports)
        for number in range(-1, len(reports) + len(dead)):
            remove_output(RangeWork(archive, number, ArchiveRange()))
        return dead[0]


def extract(work: Work, tell: Tell) -> ArchiveReport | RangeReport:
    """Any work, by a process of the pool. tell: called with the bytes read now and then."""
    if isinstance(work, ArchiveWork):
        return extract_archive(work, tell)
    if isinstance(work, JoinWork):
        return join_ranges(work)
    return digest(work) if work.number == WHOLE else extract_range(work, tell)


def extract_range(work: RangeWork, tell: Tell) -> RangeReport:
    """Read a range and write its parts. tell: called with the bytes of it read."""
    begin, end = work.part.begin, work.part.end
    counters = Counters()
    damage: list[list[Any]] = []

    def tell_part(position: int) -> None:
        tell(max(0, min(position, end) - begin))

    try:
        with opened(work.archive.task.archive) as file, reported_position(file, tell_part):
            extract_items(work.output, file, counters, damage, work.part)
    except BadInput:
        return RangeReport(work.part, {}, [], is_read=False)
    return RangeReport(work.part, dict(counters), damage)


def digest(work: RangeWork) -> RangeReport:
    """The digest of all bytes of an archive, '' if they cannot be read."""
    with suppress(OSError, BadInput), opened(work.archive.task.archive) as file:
        return RangeReport(work.part, {}, [], Digesting(file).hexdigest())
    return RangeReport(work.part, {}, [])


def join_ranges(work: JoinWork) -> ArchiveReport:
    """The report of the archive, once its links and captures are written."""
    try:
        report = _joined(work)
    except BadInput:
        report = None
    for part, _ in work.ranges():
        remove_output(part)
    return report or extract_archive(work.archive, lambda far: None)


def _joined(work: JoinWork) -> ArchiveReport | None:
    """None where the ranges do not fit. Raises BadInput for an archive that is none."""
    if not work.fits:
        return None
    counters = Counters()
    damage: list[list[Any]] = []
    with writers(work.archive) as output:
        for part, report in work.ranges():
            output.append(part.output.outputs)
            for name, count in report.counters.items():
                counters[name] += count
            damage += report.damage[: MAX_LISTED - len(damage)]
    require_pages(Path(work.archive.task.archive).name, counters)
    digest = work.reports[WHOLE].digest
    return work.archive.report(dict(counters), damage, None, *([digest] if digest else []))


def remove_output(work: RangeWork) -> None:
    for path in work.output.outputs.values():
        path.unlink(missing_ok=True)
