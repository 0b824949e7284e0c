"""A run of a sample in a process of its own, as `crawlrank run` is one, watched while it lasts.
Linux tells the memory of a process with all that it started."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError
from crawlrank.pipeline.data.workers import deaf, leave_with_parent, without_main
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress import Reporter
from crawlrank.pipeline.workfolder.manifest import Manifest

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
