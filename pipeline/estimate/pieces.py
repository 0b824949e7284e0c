"""The bytes of a window as an archive of its own, on this machine, and what is in it.

A window is cut at the records that begin in it, so that its bytes, behind the head of their archive
(who wrote it, the dictionary of its frames), are an archive again. An archive without cuts, which
is compressed as a whole, gives its beginning, once.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.archive.damage import guard
from crawlrank.jobs.kernel.archive.sources import WACZ
from crawlrank.jobs.kernel.archive.wacz import stored_archives
from crawlrank.jobs.kernel.captures.archive_ranges import head_of, piece_of
from crawlrank.jobs.kernel.captures.counters import require_pages
from crawlrank.jobs.kernel.captures.extraction import extract_runs
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError
from crawlrank.jobs.kernel.formats.rows import Capture, LinkRun
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, is_url, opened
from crawlrank.pipeline.data.workers import Tell
from crawlrank.pipeline.estimate.windows import Window

BEGINNING = 1 << 22
_STEP = 1 << 20
_LONGEST_HEAD = 1 << 18

UriHashes = npt.NDArray[np.uint64]


class PieceBytes(NamedTuple):
    """An archive on this machine. path: of it. head: bytes that come from the archive's beginning.
    of, begin: the archive that they are of, and where in it. whole: whether it is all of it.
    length: bytes that an archive without cuts gave; 0 of others, which give their window."""

    path: Path
    of: PathOrUrl
    begin: int
    head: int = 0
    whole: bool = False
    length: int = 0


class _Given(CrawlrankError):
    """An archive without cuts gave its beginning to an earlier window. (`guard` takes every other
    exception for a fault of the archive.)"""


class PieceTask(NamedTuple):
    """The windows of one place. folder: for their bytes. beginning: bytes that an archive without
    cuts gives at least."""

    number: int
    windows: tuple[Window, ...]
    folder: Path
    options: ExtractionOptions
    beginning: int = BEGINNING


class Piece(NamedTuple):
    """What is in the windows. length: bytes of archives that they stand for. fetching: seconds that
    reading them over a network took. uris: a hash of each distinct URI, ascending. errors: archive
    and fault of those that cannot be read."""

    number: int
    archives: tuple[PieceBytes, ...] = ()
    length: int = 0
    fetching: float = 0.0
    links: int = 0
    captures: int = 0
    uris: UriHashes = np.empty(0, np.uint64)
    errors: tuple[tuple[PathOrUrl, BadInput], ...] = ()


def take_piece(task: PieceTask, tell: Tell) -> Piece:
    """Copy and count the windows of a task, by a process of the pool."""
    taken: list[PieceBytes] = []
    errors: list[tuple[PathOrUrl, BadInput]] = []
    counters: Counter[str] = Counter()
    uris: set[bytes] = set()
    length, fetching = 0, 0.0
    for number, window in enumerate(task.windows):
        begun = time.perf_counter()
        try:
            copies = _copied(window, task, number)
            fetching += (time.perf_counter() - begun) if is_url(window.archive) else 0.0
            for copy in copies:
                _count(copy, window, task.options, counters, uris)
        except _Given:
            continue
        except BadInput as error:
            errors.append((window.archive, error))
        else:
            taken += copies
            length += sum(copy.length for copy in copies) or window.length
    return Piece(
        task.number, tuple(taken), length, fetching, counters["links"], counters["captures"],
        _hashed(uris), tuple(errors),
    )  # fmt: skip


def _copied(window: Window, task: PieceTask, number: int) -> list[PieceBytes]:
    """The archives that hold the bytes of a window. Raises BadInput."""
    if window.whole and not is_url(window.archive):
        return [PieceBytes(Path(window.archive), window.archive, 0, whole=True)]
    path = task.folder / f"{task.number:04}-{number}"
    with opened(window.archive) as file, guard(str(window.archive)):
        beginning = file.read(16)
        if window.whole:
            file.seek(0)
            _write(path, file, 0, window.size)
            return [PieceBytes(path, window.archive, 0, whole=True)]
        if beginning.startswith(WACZ.beginnings):
            return list(_of_wacz(window, file, task, path))
        return list(_of_warc(window, file, task, path, window.size))


def _of_wacz(window: Window, file: BinaryIO, task: PieceTask, path: Path) -> Iterator[PieceBytes]:
    archives = list(stored_archives(file))
    if not archives:
        what = "a zip file with no archive that can be read"
        raise BadInput(str(window.archive), what, "a WACZ", "Unzip it, and name its archives.")
    for number, stored in enumerate(archives):
        begin, end = max(window.begin, stored.begin), min(window.end, stored.end)
        if begin >= end:
            continue
        inner = window._replace(begin=begin - stored.begin, end=end - stored.begin)
        part, stream = path.with_name(f"{path.name}-{number}"), cast(BinaryIO, stored.stream)
        of = f"{window.archive}!{number}"
        if stored.plain:
            pieces = _of_warc(inner, stream, task, part, stored.end - stored.begin)
        else:
            pieces = _beginning(inner, stream, task, part)
        yield from (piece._replace(of=of) for piece in pieces)


def _of_warc(
    window: Window, file: BinaryIO, task: PieceTask, path: Path, size: int
) -> Iterator[PieceBytes]:
    max_record = task.options.max_record
    piece = piece_of(file, max_record, window.begin, window.end, size)
    if piece is None:
        yield from _beginning(window, file, task, path)
        return
    if piece.begin >= piece.end:
        return
    head = min(head_of(file, max_record), _LONGEST_HEAD) if piece.begin else 0
    with path.open("wb") as stream:
        for begin, end in ((0, head), (piece.begin, piece.end)):
            _copy(stream, file, begin, end)
    yield PieceBytes(path, window.archive, piece.begin, head)


def _beginning(window: Window, file: BinaryIO, task: PieceTask, path: Path) -> Iterator[PieceBytes]:
    """As many bytes as the window has, and enough for the blocks that zstd and lz4 have."""
    if window.turn:
        raise _Given
    _write(path, file, 0, max(window.length, min(task.beginning, window.size)))
    length = getattr(file, "consumed", path.stat().st_size)  # of a deflated entry
    yield PieceBytes(path, window.archive, 0, length=max(1, length))


def _write(path: Path, file: BinaryIO, begin: int, end: int) -> None:
    with path.open("wb") as stream:
        _copy(stream, file, begin, end)


def _copy(stream: BinaryIO, file: BinaryIO, begin: int, end: int) -> None:
    while begin < end:
        file.seek(begin)
        data = file.read(min(_STEP, end - begin))
        if not data:
            return
        stream.write(data)
        begin += len(data)


def _count(
    copy: PieceBytes,
    window: Window,
    options: ExtractionOptions,
    counters: Counter[str],
    uris: set[bytes],
) -> None:
    """Raises BadInput for what is no archive; a piece without a record is empty."""
    own: Counter[str] = Counter()
    name = str(window.archive).rpartition("/")[2]
    with opened(copy.path) as file:
        try:
            for row in extract_runs(file, name, options, own):
                if isinstance(row, LinkRun):
                    uris.add(row.source)
                    uris.update(row.targets)
                elif isinstance(row, Capture):
                    uris.add(row.uri)
            require_pages(name, own)
        except BadInput as error:
            if copy.whole or not window.begin or not copy.begin:
                raise BadInput(
                    str(window.archive), error.found, error.expected, error.cure
                ) from error
    counters.update(own)


def _hashed(uris: set[bytes]) -> UriHashes:
    digest = hashlib.blake2b
    hashes = b"".join(digest(uri, digest_size=8).digest() for uri in uris)
    return np.sort(np.frombuffer(hashes, np.uint64))
