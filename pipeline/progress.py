"""The progress of a run: a bar on a terminal, plain lines elsewhere, nothing if quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as Remaining

from pipeline.terminal import printable

EVERY = 30.0  # seconds between two lines about the archives read
OTHER_MEASURE = ("extract-links", "page-rank")  # these show bytes and rounds, not parts


class Reporter:
    """Called by a run for its steps and what goes on inside them. This one shows nothing."""

    def step(self, name: str, skipped: bool = False) -> None:
        """A step begins, or is skipped."""

    def task(self, job: str, done: int, total: int) -> None:
        """So many parts of a job are done."""

    def read(self, done: int, total: int) -> None:
        """So many bytes of archives were read."""

    def round(self, line: str) -> None:
        """A round of the ranking ended; the line describes it."""

    def note(self, text: str) -> None:
        """A message for the user."""

    def close(self) -> None:
        """The run ends."""


class Plain(Reporter):
    """A line for each step and each round, with the seconds since the start; while a step reads
    archives, also a line every EVERY seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = self._step = self._last = clock()
        self._stream = sys.stderr  # jobs on the inline runner exchange it

    def _line(self, text: str) -> None:
        self._stream.write(f"{self._clock() - self._start:7.1f} s  {text}\n")
        self._stream.flush()

    def step(self, name: str, skipped: bool = False) -> None:
        self._step = self._last = self._clock()
        self._line(f"{name}: unchanged, kept" if skipped else name)

    def read(self, done: int, total: int) -> None:
        now = self._clock()
        if 0 < done < total and now - self._last >= EVERY:
            self._last = now
            spent = now - self._step
            left = timedelta(seconds=round(spent * (total - done) / done))
            self._line(f"  {_volume(done, total, spent)}, about {left} left")

    def round(self, line: str) -> None:
        self._line(f"  {line}")

    def note(self, text: str) -> None:
        self._line(printable(text))


class Bars(Reporter):
    """A live bar: the step, its parts, bytes or rounds, the time spent and the time left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[detail]}"),
            TimeElapsedColumn(),
            Remaining(),
            console=console,
            transient=True,
            redirect_stdout=False,  # jobs on the inline runner exchange the streams themselves
            redirect_stderr=False,
        )
        self._bars.start()
        self._bar: TaskID | None = None
        self._name = ""

    def step(self, name: str, skipped: bool = False) -> None:
        self._end_bar()
        if skipped:
            self._console.print(f"[dim]{name}: unchanged, kept[/dim]")
            return
        self._name = name
        self._bar = self._bars.add_task(name, total=None, detail="")

    def task(self, job: str, done: int, total: int) -> None:
        if self._bar is not None and self._name not in OTHER_MEASURE:
            detail = f"part {done} of {total}"
            self._bars.update(self._bar, completed=done, total=total, detail=detail)

    def read(self, done: int, total: int) -> None:
        if self._bar is not None:
            spent = self._bars.tasks[-1].elapsed or 0.0
            detail = _volume(done, total, spent)
            self._bars.update(self._bar, completed=done, total=total, detail=detail)

    def round(self, line: str) -> None:
        if self._bar is not None:
            self._bars.update(self._bar, detail=line)

    def note(self, text: str) -> None:
        self._console.print(printable(text), markup=False, highlight=False)

    def _end_bar(self) -> None:
        if self._bar is not None:
            seconds = self._bars.tasks[-1].elapsed or 0.0
            self._bars.remove_task(self._bar)
            self._console.print(f"{self._name}: {seconds:.1f} s", highlight=False)
            self._bar = None

    def close(self) -> None:
        self._end_bar()
        self._bars.stop()


def _volume(done: int, total: int, seconds: float) -> str:
    """`1.2 GB of 3.4 GB, 45.0 MB/s`: of compressed bytes, on average."""
    speed = f", {decimal(round(done / seconds))}/s" if seconds and done else ""
    return f"{decimal(done)} of {decimal(total)}{speed}"


def reporter(quiet: bool) -> Reporter:
    """The reporter for this process: quiet, live on a terminal, or plain lines."""
    if quiet:
        return Reporter()
    console = Console(file=sys.stderr)
    return Bars(console) if console.is_terminal else Plain()
