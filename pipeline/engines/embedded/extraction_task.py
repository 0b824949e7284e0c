"""What a process of the pool does with one archive: its links and captures to Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, cast

from jobs.kernel.archive.damage import MAX_LISTED, Damage
from jobs.kernel.archive.faults import of_unread
from jobs.kernel.captures.counters import require_pages
from jobs.kernel.captures.extraction import extract
from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import BadInput
from jobs.kernel.formats.rows import Capture, Link
from jobs.kernel.storage.digesting import digested
from jobs.kernel.storage.opening import Place, opened
from jobs.kernel.storage.positions import told_position
from pipeline.data.workers import Tell
from pipeline.engines.embedded.columns import CapturesWriter, LinksWriter


class ArchiveWork(NamedTuple):
    """An archive, the name that its captures give it, and where its links and captures go."""

    place: Place
    name: str
    links: Path
    captures: Path
    options: ExtractionOptions


class ArchiveAnswer(NamedTuple):
    """error: found, expected and cure, when nothing in it could be read. digest: of the file, ''
    where it could not be read to its end."""

    counters: dict[str, int]
    damage: list[list[Any]]
    error: list[str] | None = None
    digest: str = ""


def extract_archive(work: ArchiveWork, tell: Tell) -> ArchiveAnswer:
    """Read the archive, telling the bytes read now and then, and write both parts.

    Parts of an archive that could not be read to its end are whole, and empty.
    """
    counters: Counter[str] = Counter()
    damage: list[list[Any]] = []
    digests: list[str] = []
    try:
        with (
            _writers(work) as (links, captures),
            opened(work.place) as file,
            told_position(file, tell),
            digested(file, digests.append) as stream,
        ):
            items = extract(stream, work.name, work.options, counters)
            _write(items, links, captures, damage)
        require_pages(work.name, counters)
    except BadInput as bad:
        with _writers(work):
            error = [bad.found, bad.expected, bad.cure]
        return ArchiveAnswer(of_unread(counters), damage, error, *digests)
    return ArchiveAnswer(dict(counters), damage, None, *digests)


@contextmanager
def _writers(work: ArchiveWork) -> Iterator[tuple[LinksWriter, CapturesWriter]]:
    dated = work.options.timestamps
    with (
        LinksWriter(work.links, dated=dated) as links,
        CapturesWriter(work.captures, referring=dated) as captures,
    ):
        yield links, captures


def _write(
    items: Iterator[Link | Capture | Damage],
    links: LinksWriter,
    captures: CapturesWriter,
    damage: list[list[Any]],
) -> None:
    for kind, group in groupby(items, type):
        if kind is Link:
            _add(links, cast(Iterator[Link], group))
        elif kind is Capture:
            captures.add(cast(Iterator[Capture], group))
        else:
            for item in group:  # of which there may be millions in a row
                if len(damage) < MAX_LISTED:
                    damage.append(list(item))


def _add(writer: LinksWriter, links: Iterator[Link]) -> None:
    """Links in a row, which are those of a page."""
    for (source, when), page in groupby(links, attrgetter("source", "timestamp")):
        targets, _, hops, _ = zip(*page, strict=True)
        writer.add(source, targets, hops, when)
