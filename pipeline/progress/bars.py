"""Progress on a terminal: a live bar, and a line for each step above it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn
from rich.text import Text

from crawlrank.pipeline.progress.plain_lines import StepLines, speed_of
from crawlrank.pipeline.progress.reporter import PARTS, Clock, residual_of, round_line, volume
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.terminal import printable

NARROW = 120  # columns of a terminal below which there is no bar, and less detail


class _Detail(ProgressColumn):
    """Cut where the line lacks room, so that the times beside it are whole."""

    def render(self, task: Task) -> Text:
        return Text(str(task.fields["detail"]), no_wrap=True, overflow="ellipsis")


class _Times(TextColumn):
    """The time that the step has taken, and the time left where it is known; never cut."""

    max_refresh = 0.5  # seconds between two estimates

    def render(self, task: Task) -> Text:
        left = task.time_remaining
        spent = f"{timedelta(seconds=int(task.elapsed or 0))} spent"
        return Text(spent + (f", {timedelta(seconds=int(left))} left" if left is not None else ""))


class Bars(StepLines):
    """The step, its parts, bytes or rounds, the time spent and the time left. verbose: also a line
    for each archive and round, and the counters of each step. refreshes: a thread draws the bar ten
    times a second."""

    def __init__(
        self,
        console: Console,
        clock: Clock = time.monotonic,
        *,
        verbose: bool = False,
        refreshes: bool = True,
    ) -> None:
        super().__init__(clock, verbose=verbose)
        self._console = console
        self._narrow = console.width < NARROW
        self._bars = Progress(
            TextColumn("{task.description}"),
            *(() if self._narrow else (BarColumn(),)),
            _Detail(),
            _Times(""),
            console=console,
            get_time=clock,
            auto_refresh=refreshes,
            transient=True,
            redirect_stdout=False,  # jobs on the inline runner exchange the streams themselves
            redirect_stderr=False,
        )
        self._bars.start()
        self._bar: TaskID | None = None

    def _line(self, text: str, style: str | None = None) -> None:
        self._console.print(printable(text), markup=False, highlight=False, style=style)

    def step(self, name: str, skipped: bool = False) -> None:
        super().step(name, skipped)
        self._end_bar()
        if skipped:
            self._steps_ended += 1
            self._line(f"{name}: unchanged, kept", "dim")
        else:
            self._bar = self._bars.add_task(name, total=None, detail="")

    def _show(self, done: int, total: int | None, detail: str) -> None:
        if self._bar is not None:
            self._bars.update(self._bar, completed=done, total=total, detail=detail)

    def resume(self, archives: int = 0, size: int = 0) -> None:
        super().resume(archives, size)
        if self._bar is not None and size:  # rich leaves the first update out of the speed
            self._bars.update(self._bar, completed=size)

    def task(self, job: str, done: int, total: int) -> None:
        super().task(job, done, total)
        if self.measure and self.measure.unit == PARTS:
            self._show(done, total, f"part {done} of {total}")

    def read(self, done: int, total: int) -> None:
        super().read(done, total)
        if measure := self.measure:
            whole = total + measure.before
            speed = 0.0 if self._narrow else speed_of(measure, self.spent)
            text = volume(measure.done, whole, speed)
            if self.archives:
                text = f"archive {self.archives[0]} of {self.archives[1]}, {text}"
            self._show(measure.done, whole, text)

    def round(self, rounds: Sequence[Round], stop: Stop) -> None:
        super().round(rounds, stop)
        line = round_line(rounds, stop, verbose=self._verbose)
        short = line.replace(residual_of(rounds), "") if self._narrow else line
        self._show(len(rounds), stop.iterations, short)
        if self._verbose:
            self._line(f"{self.name}: {line}")

    def done(self, name: str, entry: Mapping[str, Any]) -> None:
        self._end_bar()
        super().done(name, entry)

    def note(self, text: str) -> None:
        self._line(text)

    def _end_bar(self) -> None:
        if self._bar is not None:
            self._bars.remove_task(self._bar)
            self._bar = None

    def close(self) -> None:
        self._end_bar()
        self._bars.stop()
        super().close()
