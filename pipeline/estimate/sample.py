"""The sample: windows spread evenly over the bytes of all archives, each as an archive of its own.

A window is cut at the records that begin in it. Its bytes, with the head of their archive (who
wrote it, the dictionary of its frames) before them, are an archive again. An archive without cuts,
which is compressed as a whole, gives its beginning, once.

The sample is run in a process of its own, as `crawlrank run` is one, and watched while it lasts.
Linux tells the memory of a process with all that it started.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from crawlrank.jobs.kernel.archive.damage import guard
from crawlrank.jobs.kernel.archive.sources import WACZ, empty_file
from crawlrank.jobs.kernel.archive.wacz import stored_archives
from crawlrank.jobs.kernel.captures.archive_ranges import head_of, piece_of
from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, is_url, opened, size_of
from crawlrank.pipeline.data.workers import deaf, leave_with_parent, without_main
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress import Reporter
from crawlrank.pipeline.workfolder.manifest import Manifest

SEED = 1
COPY = 1 << 20
LONGEST_HEAD = 1 << 18
LEAST_WINDOWS = 8  # or their spread says nothing


class SampleSize(NamedTuple):
    """How much is taken. share: of the bytes of all archives. least, most: bytes of a sample.
    small: bytes of a crawl that is taken as a whole. windows: how many there are at most. length:
    bytes that a window has at least, unless there were too few. beginning: bytes that an archive
    without cuts gives. seconds: that taking windows may last."""

    share: float = 0.05
    least: int = 1 << 22
    most: int = 1 << 26
    small: int = 1 << 23
    windows: int = 64
    length: int = 1 << 18
    beginning: int = 1 << 22
    seconds: float = 12.0


USUAL = SampleSize()


class Window(NamedTuple):
    """Bytes of an archive, from begin to end. size: of the archive."""

    archive: PathOrUrl
    begin: int
    end: int
    size: int

    @property
    def whole(self) -> bool:
        return self.end - self.begin == self.size


class Piece(NamedTuple):
    """Bytes of an archive as an archive at `path`. begin: where they begin in `archive`. length:
    bytes of it that they stand for. fetching: seconds that reading them over a network took."""

    archive: PathOrUrl
    path: Path
    begin: int
    length: int
    fetching: float = 0.0


@dataclass
class Sample:
    """sizes: of the archives that could be opened. pieces: in random order. unreadable: the other
    archives, and why."""

    sizes: list[tuple[PathOrUrl, int]]
    pieces: list[Piece] = field(default_factory=list)
    unreadable: dict[str, BadInput] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Bytes of the archives that can be read."""
        return sum(size for archive, size in self.sizes if str(archive) not in self.unreadable)

    @property
    def readable_archives(self) -> int:
        return sum(str(archive) not in self.unreadable for archive, _ in self.sizes)

    @property
    def length(self) -> int:
        return sum(piece.length for piece in self.pieces)

    @property
    def whole(self) -> bool:
        return self.length >= self.total


def windows_of(sizes: Sequence[tuple[PathOrUrl, int]], wanted: SampleSize = USUAL) -> list[Window]:
    """The windows in random order, none of which overlap. The bytes of all archives are divided
    into as many equal stretches as there are windows. A window begins somewhere in each, and ends
    with its archive at the latest. An archive that is not longer than two windows comes whole."""
    total = sum(size for _, size in sizes)
    if total <= wanted.small:
        return [Window(archive, 0, size, size) for archive, size in sizes]
    sampled = min(wanted.most, max(wanted.least, wanted.share * total), total)
    count = max(LEAST_WINDOWS, min(wanted.windows, int(sampled / wanted.length)))
    length, stretch = sampled / count, total / count
    draw, windows = random.Random(SEED), dict[Window, None]()
    number, before = 0, 0
    for stratum in range(count):
        at = stratum * stretch + draw.random() * (stretch - length)
        while number < len(sizes) - 1 and at >= before + sizes[number][1]:
            before += sizes[number][1]
            number += 1
        archive, size = sizes[number]
        begin, end = round(at) - before, min(size, round(at + length) - before)
        ends = (0, size) if size <= 2 * length else (begin, end)
        windows[Window(archive, *ends, size)] = None
    order = list(windows)
    draw.shuffle(order)
    return order


def take_sample(
    archives: Sequence[PathOrUrl], folder: Path, max_record: int, wanted: SampleSize = USUAL
) -> Sample:
    """Copy the windows into a new folder. max_record: bytes of a record. Raises BadInput if no
    archive can be read."""
    sample = _opened(archives)
    folder.mkdir(parents=True)
    until, uncut = time.monotonic() + wanted.seconds, set[PathOrUrl]()
    for number, window in enumerate(windows_of(sample.sizes, wanted)):
        begun = time.monotonic()
        if sample.pieces and begun > until:
            break
        try:
            pieces = list(_pieces(window, folder / f"{number:04}", max_record, wanted, uncut))
        except BadInput as error:
            sample.unreadable[str(window.archive)] = error
            continue
        took = time.monotonic() - begun if is_url(window.archive) else 0.0
        each = took / max(1, len(pieces))
        sample.pieces += [piece._replace(fetching=each) for piece in pieces]
    if not sample.pieces:
        nothing = BadInput(str(archives[0]), "no bytes", "archives with records")
        raise next(iter(sample.unreadable.values()), nothing)
    return sample


def _opened(archives: Sequence[PathOrUrl]) -> Sample:
    sample = Sample([])
    for archive in archives:
        try:
            if not (size := size_of(archive)):
                raise empty_file(str(archive))
            sample.sizes.append((archive, size))
        except BadInput as error:
            sample.unreadable[str(archive)] = error
        except OSError as error:
            why = f"cannot be read ({error.strerror or error})"
            sample.unreadable[str(archive)] = BadInput(str(archive), why, "a readable file")
    return sample


def _pieces(
    window: Window, path: Path, max_record: int, wanted: SampleSize, uncut: set[PathOrUrl]
) -> Iterator[Piece]:
    """Copies of a window, several of a WACZ that holds several archives there. uncut: archives that
    gave their beginning. Raises BadInput."""
    if window.whole and not is_url(window.archive):
        yield Piece(window.archive, Path(window.archive), 0, window.size)
        return
    with opened(window.archive) as file, guard(str(window.archive)):
        if window.whole:
            _copy(file, path, (0, window.size))
            yield Piece(window.archive, path, 0, window.size)
            return
        for number, (inner, stream, at) in enumerate(_inside(window, file)):
            ends = piece_of(stream, max_record, inner.begin, inner.end, inner.size) if at else None
            part = path.with_name(f"{path.name}-{number}")
            if ends is None:
                if window.archive not in uncut:
                    uncut.add(window.archive)
                    _copy(stream, part, (0, min(wanted.beginning, inner.size)))
                    length = getattr(stream, "consumed", part.stat().st_size)  # of a deflated entry
                    yield Piece(window.archive, part, 0, max(1, length))
            elif ends.begin < ends.end:
                head = min(head_of(stream, max_record), LONGEST_HEAD) if ends.begin else 0
                _copy(stream, part, (0, head), (ends.begin, ends.end))
                yield Piece(window.archive, part, ends.begin, inner.end - inner.begin)


def _inside(window: Window, file: BinaryIO) -> Iterator[tuple[Window, BinaryIO, bool]]:
    """The archives that a window has bytes of, with the window in each, and whether they can be
    cut: of a WACZ those that it holds. Raises BadInput for a WACZ that holds none."""
    is_wacz = file.read(16).startswith(WACZ.beginnings)
    if not is_wacz:
        yield window, file, True
        return
    archives = list(stored_archives(file))
    if not archives:
        what = "a zip file with no archive that can be read"
        raise BadInput(str(window.archive), what, "a WACZ", "Unzip it, and name its archives.")
    for stored in archives:
        begin, end = max(window.begin, stored.begin), min(window.end, stored.end)
        if begin < end:
            size = stored.end - stored.begin
            inner = Window(window.archive, begin - stored.begin, end - stored.begin, size)
            yield inner, cast(BinaryIO, stored.stream), stored.plain


def _copy(file: BinaryIO, path: Path, *ranges: tuple[int, int]) -> None:
    with path.open("wb") as stream:
        for begin, end in ranges:
            while begin < end:
                file.seek(begin)
                data = file.read(min(COPY, end - begin))
                if not data:
                    break
                stream.write(data)
                begin += len(data)


LOOKS = 0.04  # seconds between two looks at memory and disk


@dataclass
class SampleRun:
    """rows: of each dataset. seconds: from start to end. steps: seconds of each. memory: bytes of
    all processes at their most. disk: bytes of what is in the work folder at the end, by name.
    most: bytes in it at the most. archives: the manifest's entries of the archives."""

    rows: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    steps: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    disk: dict[str, int] = field(default_factory=dict)
    most: int = 0
    archives: list[dict[str, Any]] = field(default_factory=list)

    @property
    def outside(self) -> float:
        """Seconds of no step."""
        return max(0.0, self.seconds - sum(self.steps.values()))

    @property
    def end(self) -> int:
        return sum(self.disk.values())


def run_sample(archives: Sequence[Path], work: Path, options: RunOptions) -> SampleRun:
    """Run all steps on the archives in a new folder. Raises what the run raises."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_begin, args=(there, archives, work, options))
    ran, begun = SampleRun(), time.monotonic()
    with deaf(), without_main():
        process.start()
    there.close()
    try:
        while not here.poll(LOOKS):
            ran.memory = max(ran.memory, shared_memory(process.pid or 0))
            ran.most = max(ran.most, size_of_tree(work))
        error = _answer(here, process)
        ran.seconds = time.monotonic() - begun
    finally:
        if process.is_alive():
            process.terminate()
        process.join()
    if error:
        raise error
    _add_results(ran, work)
    return ran


def _answer(pipe: Connection[Any, Any], process: BaseProcess) -> Exception | None:
    try:
        error: Exception | None = pipe.recv()
    except (EOFError, OSError):
        process.join()
        what = f"the process that ran it died (exit code {process.exitcode})"
        return BadInput("the sample", what, "a sample that can be run")
    process.join()
    return error


def _add_results(ran: SampleRun, work: Path) -> None:
    manifest = Manifest(work)
    ran.archives = list(manifest.archives.values())
    for name, entry in manifest.steps.items():
        ran.rows |= entry["rows"]
        ran.steps[name] = entry["seconds"]
        ran.memory = max(ran.memory, entry["memory"])
    for path in work.iterdir():
        size = size_of_tree(path) if path.is_dir() else path.stat().st_blocks * 512
        ran.disk[path.name] = size
    ran.most = max(ran.most, ran.end)


def _begin(
    pipe: Connection[Any, Any], archives: Sequence[Path], work: Path, options: RunOptions
) -> None:
    """Do the run in the process. Sends its error, or None."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    _silence()
    try:
        from crawlrank.pipeline.run import run as runs

        runs.run(work, archives, options, Reporter())
    except CrawlrankError as error:
        pipe.send(error)
    except Exception as error:  # noqa: BLE001 (raised where the estimate is made)
        pipe.send(BadInput("the sample", f"{type(error).__name__}: {error}", "a run of it"))
    else:
        pipe.send(None)


def _silence() -> None:
    """Drop what jobs and libraries print, as it is no part of an estimate."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(nothing, stream.fileno())


KIB = 1024


def tree(pid: int) -> list[int]:
    """A process and all that it and its children started and that are there."""
    members = [pid]
    for parent in members:
        for path in Path(f"/proc/{parent}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                members += map(int, path.read_text().split())
    return members


def memory_of(pid: int) -> Iterator[tuple[str, int]]:
    """Names and bytes of a process's memory; nothing of one that is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, size, *_ = line.split()
            yield name.rstrip(":"), int(size) * KIB


def shared_memory(pid: int) -> int:
    """Bytes of the whole tree, where a page that several processes have counts as one (Pss); 0
    where the system does not tell."""
    return sum(size for each in tree(pid) for name, size in memory_of(each) if name == "Pss")


def size_of_tree(folder: Path) -> int:
    """Bytes on disk of the files in a folder."""
    total = 0
    for above, _, names in os.walk(folder):  # passes over what is gone meanwhile
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(above, name).lstat().st_blocks * 512
    return total
