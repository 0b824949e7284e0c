"""A run of a sample in a process of its own, as `crawlrank run` is one, watched while it lasts."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError
from crawlrank.pipeline.data.workers import deaf, leave_with_parent, without_main
from crawlrank.pipeline.estimate.process_tree import shared_memory, size_of_tree
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress import Reporter
from crawlrank.pipeline.steps import RANK
from crawlrank.pipeline.workfolder.manifest import Manifest

LOOKS = 0.04  # seconds between two looks at memory and disk


@dataclass
class SampleRun:
    """rows: of each dataset. seconds, cpu: of the clock, and of processors. steps: seconds of each.
    outside: those of no step. memory: bytes of all processes at their most. disk: bytes of what is
    in the work folder at the end, by name. most: bytes in it at the most."""

    rows: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    cpu: float = 0.0
    steps: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    disk: dict[str, int] = field(default_factory=dict)
    most: int = 0
    rounds: int = 0

    @property
    def outside(self) -> float:
        return max(0.0, self.seconds - sum(self.steps.values()))

    @property
    def end(self) -> int:
        return sum(self.disk.values())

    def least(self, other: SampleRun) -> SampleRun:
        """Of two runs of the same, what each took at the least: the rest is of other programs."""
        steps = {name: min(took, other.steps.get(name, took)) for name, took in self.steps.items()}
        return replace(
            self, steps=steps, cpu=min(self.cpu, other.cpu),
            seconds=sum(steps.values()) + min(self.outside, other.outside),
            memory=max(self.memory, other.memory), most=max(self.most, other.most),
        )  # fmt: skip


def run_sample(archives: Sequence[Path], work: Path, options: RunOptions) -> SampleRun:
    """Run all steps on the archives in a new folder. Raises what the run raises."""
    return _watched(work, _run_archives, archives, work, options)


def run_copies(sample: Path, work: Path, copies: int, parts: int, options: RunOptions) -> SampleRun:
    """Run the steps behind extraction on copies of what it left in another folder (copies.py)."""
    return _watched(work, _run_copies, sample, work, copies, parts, options)


def _watched(work: Path, target: Callable[..., None], *arguments: Any) -> SampleRun:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_begin, args=(there, target, arguments))
    before, begun = os.times(), time.monotonic()
    with deaf(), without_main():
        process.start()
    there.close()
    watch = _Watch(process.pid or 0, work)
    try:
        with watch.looking():
            error = _answer(here, process)
        seconds = time.monotonic() - begun
        process.join()
    finally:
        _end(process)
    if error:
        raise error
    after = os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    return _result(work, SampleRun(seconds=seconds, cpu=cpu, memory=watch.memory, most=watch.most))


def _answer(pipe: Connection[Any, Any], process: BaseProcess) -> Exception | None:
    try:
        error: Exception | None = pipe.recv()
    except (EOFError, OSError):
        process.join()
        what = f"the process that ran it died (exit code {process.exitcode})"
        return BadInput("the sample", what, "a sample that can be run")
    return error


def _end(process: BaseProcess) -> None:
    if process.is_alive():
        process.terminate()
        process.join()
    process.close()


def _result(work: Path, run: SampleRun) -> SampleRun:
    manifest = Manifest(work)
    for name, entry in manifest.steps.items():
        run.rows |= entry["rows"]
        run.steps[name] = entry["seconds"]
        run.memory = max(run.memory, entry["memory"])
    run.rounds = len(manifest.steps[RANK]["rounds"])
    for path in work.iterdir():
        size = size_of_tree(path) if path.is_dir() else path.stat().st_blocks * 512
        run.disk[path.name] = size
    run.most = max(run.most, run.end)
    return run


class _Watch:
    """memory, most: the largest values seen."""

    def __init__(self, pid: int, work: Path) -> None:
        self._pid, self._work = pid, work
        self.memory = self.most = 0

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        ended = threading.Event()
        looker = threading.Thread(target=self._look, args=(ended,), daemon=True)
        looker.start()
        try:
            yield
        finally:
            ended.set()
            looker.join()

    def _look(self, ended: threading.Event) -> None:
        while not ended.wait(LOOKS):
            self.memory = max(self.memory, shared_memory(self._pid))
            self.most = max(self.most, size_of_tree(self._work))


def _begin(pipe: Connection[Any, Any], target: Callable[..., None], arguments: Any) -> None:
    """In the process: the run, and its error if it has one."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    _silence()
    try:
        target(*arguments)
    except CrawlrankError as error:
        pipe.send(error)
    except Exception as error:  # noqa: BLE001 (raised where the estimate is made)
        pipe.send(BadInput("the sample", f"{type(error).__name__}: {error}", "a run of it"))
    else:
        pipe.send(None)


def _run_archives(archives: Sequence[Path], work: Path, options: RunOptions) -> None:
    from crawlrank.pipeline.run import run as runs

    runs.run(work, archives, options, Reporter())


def _run_copies(*arguments: Any) -> None:
    from crawlrank.pipeline.estimate import copies  # loads pyarrow

    copies.run_copies(*arguments)


def _silence() -> None:
    """What jobs and libraries print is no part of an estimate."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(nothing, stream.fileno())
