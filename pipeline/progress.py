"""What a run shows while it works: a bar on a terminal, plain lines elsewhere, nothing if quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as Remaining

from pipeline.terminal import printable

EVERY = 30.0  # seconds between two lines about the archives read
OTHER_MEASURE = ("extract-links", "page-rank")  # steps whose parts say less than bytes and rounds


class Reporter(Protocol):
    """Told of steps and of what goes on inside them; `read`: bytes of archives, of all."""

    def step(self, name: str, skipped: bool = False) -> None: ...

    def task(self, job: str, done: int, total: int) -> None: ...

    def read(self, done: int, total: int) -> None: ...

    def round(self, said: str) -> None: ...

    def note(self, text: str) -> None: ...

    def close(self) -> None: ...


class Quiet:
    def step(self, name: str, skipped: bool = False) -> None: ...

    def task(self, job: str, done: int, total: int) -> None: ...

    def read(self, done: int, total: int) -> None: ...

    def round(self, said: str) -> None: ...

    def note(self, text: str) -> None: ...

    def close(self) -> None: ...


class Plain:
    """One line for each step and each round, with the seconds since the start; of a step that reads
    archives a line every EVERY seconds, too."""

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

    def task(self, job: str, done: int, total: int) -> None: ...

    def read(self, done: int, total: int) -> None:
        now = self._clock()
        if 0 < done < total and now - self._last >= EVERY:
            self._last = now
            spent = now - self._step
            left = timedelta(seconds=round(spent * (total - done) / done))
            self._line(f"  {_volume(done, total, spent)}, about {left} left")

    def round(self, said: str) -> None:
        self._line(f"  {said}")

    def note(self, text: str) -> None:
        self._line(printable(text))

    def close(self) -> None: ...


class Bars:
    """A live bar: the step, its tasks or rounds, the residual's bound, time spent and left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[said]}"),
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
        self._bar = self._bars.add_task(name, total=None, said="")

    def task(self, job: str, done: int, total: int) -> None:
        if self._bar is not None and self._name not in OTHER_MEASURE:
            self._bars.update(
                self._bar, completed=done, total=total, said=f"part {done} of {total}"
            )

    def read(self, done: int, total: int) -> None:
        if self._bar is not None:
            spent = self._bars.tasks[-1].elapsed or 0.0
            said = _volume(done, total, spent)
            self._bars.update(self._bar, completed=done, total=total, said=said)

    def round(self, said: str) -> None:
        if self._bar is not None:
            self._bars.update(self._bar, said=said)

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
        return Quiet()
    console = Console(file=sys.stderr)
    return Bars(console) if console.is_terminal else Plain()
