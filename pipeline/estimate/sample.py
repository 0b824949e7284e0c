"""The sample: pieces of all archives, until there are enough or the time is over."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.archive.sources import empty_file
from crawlrank.jobs.kernel.captures.extraction_code import prepare
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, died
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, size_of
from crawlrank.pipeline.data.workers import Died, answers
from crawlrank.pipeline.estimate.growth import Bracket, distinct_times
from crawlrank.pipeline.estimate.pieces import Piece, PieceBytes, PieceTask, take_piece
from crawlrank.pipeline.estimate.windows import SHARE, SMALL, windows_of

ERRORS = 2.0  # standard errors of what is scaled, up and down
COUNTED = 0.03  # of a count, at least
COPY = 1 << 20


class SampleSize(NamedTuple):
    """How much is taken: a share of the bytes of all archives, but no less than `small` bytes.
    seconds: that taking pieces may last; what is run with them takes some times as long. copied:
    links of the run on copies, by the embedded engine and by jobs."""

    share: float = SHARE
    small: int = SMALL
    seconds: float = 12.0
    copied: tuple[int, int] = (250_000, 50_000)


USUAL = SampleSize()


@dataclass
class Sample:
    """sizes: of the archives that can be read, by path. pieces: in the order of reading, in which
    any first ones are spread evenly. unreadable: the other archives, and why."""

    sizes: list[tuple[PathOrUrl, int]]
    pieces: list[Piece]
    unreadable: dict[str, BadInput] = field(default_factory=dict)

    @property
    def archives(self) -> int:
        return len(self.sizes)

    @property
    def total(self) -> int:
        """Bytes."""
        return sum(size for _, size in self.sizes)

    @property
    def length(self) -> int:
        return length_of(self.pieces)

    @property
    def whole(self) -> bool:
        return self.length >= self.total

    @property
    def share(self) -> float:
        return min(1.0, self.length / self.total) if self.total else 1.0

    @property
    def few(self) -> list[Piece]:
        """A quarter of the pieces."""
        return self.pieces[: ceil(len(self.pieces) / 4)]

    @property
    def links(self) -> int:
        return sum(piece.links for piece in self.pieces)

    def times(self) -> Bracket:
        """How many times as many links, captures and bytes of records all archives have."""
        times = 1 / self.share
        if self.whole:
            return Bracket(times, times, times)
        part = max(COUNTED, ERRORS * self._error())
        return Bracket(max(1.0, times * (1 - min(0.8, part))), times, times * (1 + part))

    def _error(self) -> float:
        """The standard error of links a byte, or else of captures, as a share of them."""
        count = len(self.pieces)
        if count < 2:
            return 0.5
        counts = [piece.links if self.links else piece.captures for piece in self.pieces]
        if not (total := sum(counts)):
            return 0.5
        pairs = zip(counts, self.pieces, strict=True)
        apart = sum((rows - total / self.length * piece.length) ** 2 for rows, piece in pairs)
        return sqrt(count / (count - 1) * apart * (1 - self.share)) / total

    def uri_times(self) -> Bracket:
        """How many times as many distinct URIs all archives have."""
        hashes = np.concatenate([piece.uris for piece in self.pieces])
        _, pieces_of = np.unique(hashes, return_counts=True)
        pieces_with = np.bincount(pieces_of, minlength=len(self.pieces) + 1)
        return distinct_times(pieces_with.tolist(), 1 / self.share)


def length_of(pieces: Sequence[Piece]) -> int:
    return sum(piece.length for piece in pieces)


def take_sample(
    archives: Sequence[PathOrUrl],
    folder: Path,
    options: ExtractionOptions,
    processes: int,
    wanted: SampleSize = USUAL,
) -> Sample:
    """folder: for copies. Raises BadInput where no archive of the sample can be read."""
    sizes, unreadable = _sizes(archives)
    tasks = [
        PieceTask(number, windows, folder, options)
        for number, windows in enumerate(windows_of(sizes, wanted.share, wanted.small))
    ]
    prepare()
    folder.mkdir(parents=True)
    pieces = _taken(tasks, processes, wanted.seconds, unreadable)
    if not any(piece.archives for piece in pieces):
        raise next(
            iter(unreadable.values()),
            BadInput(str(archives[0]), "no bytes", "archives with records"),
        )
    readable = [(archive, size) for archive, size in sizes if str(archive) not in unreadable]
    return Sample(readable, pieces, unreadable)


def _sizes(
    archives: Sequence[PathOrUrl],
) -> tuple[list[tuple[PathOrUrl, int]], dict[str, BadInput]]:
    sizes: list[tuple[PathOrUrl, int]] = []
    unreadable: dict[str, BadInput] = {}
    for archive in archives:
        try:
            if not (size := size_of(archive)):  # no window has a byte of it
                raise empty_file(str(archive))
            sizes.append((archive, size))
        except BadInput as error:
            unreadable[str(archive)] = error
        except OSError as error:
            why = f"cannot be read ({error.strerror or error})"
            unreadable[str(archive)] = BadInput(str(archive), why, "a readable file")
    return sizes, unreadable


def _taken(
    tasks: Sequence[PieceTask],
    processes: int,
    seconds: float,
    unreadable: dict[str, BadInput],
) -> list[Piece]:
    """The pieces in the order of reading, those that are done when the time is over."""
    pieces: list[Piece] = []
    until = time.monotonic() + seconds
    for task, piece in answers(take_piece, tasks, processes):
        if isinstance(piece, Died):
            window = task.windows[0]
            unreadable[str(window.archive)] = BadInput(str(window.archive), *died(piece.how))
            continue
        unreadable.update((str(archive), error) for archive, error in piece.errors)
        pieces.append(piece)
        if time.monotonic() > until:
            break
    return sorted(pieces, key=lambda piece: piece.number)


def write_archives(pieces: Sequence[Piece], folder: Path, least: int) -> list[Path]:
    """The pieces as archives in a folder, those of an archive in one file, but at least so many
    files, as a large archive is shared out among processes."""
    folder.mkdir(parents=True)
    groups = _groups(pieces)
    each = -(-least // len(groups))
    paths: list[Path] = []
    for copies in groups.values():
        if copies[0].whole:
            paths.append(copies[0].path)
            continue
        for first in range(min(each, len(copies))):
            paths.append(folder / f"{len(paths):04}")
            _join(copies[first::each], paths[-1])
    return paths


def _groups(pieces: Sequence[Piece]) -> Mapping[str, list[PieceBytes]]:
    groups: dict[str, list[PieceBytes]] = defaultdict(list)
    for piece in pieces:
        for copy in piece.archives:
            groups[str(copy.of)].append(copy)
    return {of: sorted(copies, key=lambda copy: copy.begin) for of, copies in groups.items()}


def _join(copies: Sequence[PieceBytes], path: Path) -> None:
    """One archive of pieces; the head of the first is that of all."""
    with path.open("wb") as stream:
        for number, copy in enumerate(copies):
            with copy.path.open("rb") as file:
                file.seek(copy.head if number else 0)
                while data := file.read(COPY):
                    stream.write(data)
