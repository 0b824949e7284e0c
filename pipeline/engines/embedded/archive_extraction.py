"""An archive to its links and captures in Parquet, by one process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from crawlrank.jobs.kernel.archive.damage import MAX_LISTED, Damage, of_unread
from crawlrank.jobs.kernel.archive.run_reader import ArchiveRange
from crawlrank.jobs.kernel.captures.counters import require_pages
from crawlrank.jobs.kernel.captures.extraction import Row, extract_runs
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.rows import Capture, LinkRun
from crawlrank.jobs.kernel.storage.opening import name_of, opened
from crawlrank.jobs.kernel.storage.while_reading import digested, reported_position
from crawlrank.pipeline.data.workers import Tell
from crawlrank.pipeline.engines.embedded.columns import CapturesWriter, LinksWriter
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask


class ArchiveWork(NamedTuple):
    """What a process needs to extract an archive. tmp: the folder of its links and captures."""

    task: ArchiveTask
    tmp: Path
    options: ExtractionOptions

    @property
    def name(self) -> str:
        """The name of the archive in captures and messages."""
        return name_of(self.task.archive)

    @property
    def links(self) -> Path:
        return self.tmp / f"links-{self.task.part}"

    @property
    def captures(self) -> Path:
        return self.tmp / f"captures-{self.task.part}"

    def report(self, counters: dict[str, int], *results: Any) -> ArchiveReport:
        return ArchiveReport(str(self.task.archive), self.task.part, counters, *results)


def extract_archive(work: ArchiveWork, tell: Tell) -> ArchiveReport:
    """Read an archive and write both its parts, by a process of the pool. tell: called with the
    bytes read now and then.

    Parts of an archive that could not be read to its end are valid files without rows.
    """
    archive = work.task.archive
    counters: Counter[str] = Counter()
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
    """Write the links and captures of an archive, or of part of it. Raises BadInput."""
    with writers(work, passing=part is not None) as (links, captures):
        items = extract_runs(stream, work.name, work.options, counters, part=part)
        _write(items, links, captures, damage)


@contextmanager
def writers(
    work: ArchiveWork, *, passing: bool = False
) -> Iterator[tuple[LinksWriter, CapturesWriter]]:
    """passing: for files that are joined soon."""
    options = work.options
    with (
        LinksWriter(work.links, dated=options.timestamps, passing=passing) as links,
        CapturesWriter(work.captures, columns=options.capture_columns, passing=passing) as captures,
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
                links.add(run.source, run.targets, [run.hop] * len(run.targets), *run[3:])
        elif kind is Capture:
            captures.add(cast(Iterator[Capture], group))
        elif kind is Damage:
            for item in group:  # there may be millions in a row
                if len(damage) < MAX_LISTED:
                    damage.append(list(item))
