"""What a run shows while it works: a bar on a terminal, plain lines elsewhere, nothing if quiet."""

from __future__ import annotations

import sys
import time
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as Remaining


class Reporter(Protocol):
    """Told of steps and of what goes on inside them."""

    def step(self, name: str, skipped: bool = False) -> None: ...

    def task(self, job: str, done: int, total: int) -> None: ...

    def round(self, said: str) -> None: ...

    def close(self) -> None: ...


class Quiet:
    def step(self, name: str, skipped: bool = False) -> None: ...

    def task(self, job: str, done: int, total: int) -> None: ...

    def round(self, said: str) -> None: ...

    def close(self) -> None: ...


class Plain:
    """One line for each step and each round, with the seconds since the start."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def _line(self, text: str) -> None:
        sys.stderr.write(f"{time.monotonic() - self._start:7.1f} s  {text}\n")
        sys.stderr.flush()

    def step(self, name: str, skipped: bool = False) -> None:
        self._line(f"{name}: unchanged, kept" if skipped else name)

    def task(self, job: str, done: int, total: int) -> None: ...

    def round(self, said: str) -> None:
        self._line(f"  {said}")

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
        if self._bar is not None and self._name != "page-rank":
            self._bars.update(
                self._bar, completed=done, total=total, said=f"part {done} of {total}"
            )

    def round(self, said: str) -> None:
        if self._bar is not None:
            self._bars.update(self._bar, said=said)

    def _end_bar(self) -> None:
        if self._bar is not None:
            seconds = self._bars.tasks[-1].elapsed or 0.0
            self._bars.remove_task(self._bar)
            self._console.print(f"{self._name}: {seconds:.1f} s", highlight=False)
            self._bar = None

    def close(self) -> None:
        self._end_bar()
        self._bars.stop()


def reporter(quiet: bool) -> Reporter:
    """The reporter for this process: quiet, live on a terminal, or plain lines."""
    if quiet:
        return Quiet()
    console = Console(file=sys.stderr)
    return Bars(console) if console.is_terminal else Plain()
