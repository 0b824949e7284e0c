"""Progress as plain lines: where nobody watches a terminal, as in a pipe, cron or a CI log.

A line for each step when it ends, and one for all of them. A step that takes long also says from
time to time how far it is. There are no control characters, no colours and no padding.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from crawlrank.pipeline.data.memory import peak_memory
from crawlrank.pipeline.progress.reporter import (
    Clock,
    ProgressTracker,
    StepMeasure,
    duration,
    round_line,
    volume,
)
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.steps import ArchiveReport
from crawlrank.pipeline.terminal import printable
from crawlrank.pipeline.terminal.text import masked

EVERY = 30.0  # seconds between two lines about the archives read
ROUNDS_EVERY = 5.0  # seconds between two lines about rounds
MEGABYTE = 1_000_000


def archive_line(report: ArchiveReport, done: int, total: int) -> str:
    """`archive 3 of 20: a.warc.gz: captures 12, links 340`"""
    counts = [f"{name} {report.counters.get(name, 0):,}" for name in ("captures", "links")]
    counts += [f"damaged places {len(report.damage):,}"] if report.damage else []
    result = report.error[0] if report.error else ", ".join(counts)
    return f"archive {done} of {total}: {printable(masked(report.path))}: {result}"


def counters_line(entry: Mapping[str, Any]) -> str:
    """`rows: links 12; counters: records 3` of a step; empty where it has none."""
    parts = []
    for kind in ("rows", "counters"):
        if counts := entry.get(kind):
            counted = ", ".join(f"{name} {count:,}" for name, count in counts.items())
            parts.append(f"{kind}: {printable(counted)}")
    return "; ".join(parts)


def speed_of(measure: StepMeasure, seconds: float) -> float:
    """Bytes a second in this run."""
    return (measure.done - measure.before) / seconds if seconds else 0.0


class StepLines(ProgressTracker):
    """A line for each step when it ends, and one for all of them. verbose: also a line for each
    archive, and the counters of each step."""

    def __init__(self, clock: Clock = time.monotonic, *, verbose: bool = False) -> None:
        super().__init__(clock)
        self._verbose, self._steps_ended = verbose, 0

    def _line(self, text: str) -> None:
        raise NotImplementedError

    def archive(self, report: ArchiveReport, done: int, total: int) -> None:
        super().archive(report, done, total)
        if self._verbose:
            self._line(f"{self.name}: {archive_line(report, done, total)}")

    def done(self, name: str, entry: Mapping[str, Any]) -> None:
        if self._verbose and (counts := counters_line(entry)):
            self._line(f"{name}: {counts}")
        self._line(f"{name}: {duration(self.spent)}")
        self._steps_ended += 1
        super().done(name, entry)

    def close(self) -> None:
        if self.name:
            self._line(f"{self.name}: not finished after {duration(self.spent)}")
            self.name = ""
        elif self._steps_ended > 1:
            self._line(total_line(self.clock() - self.begun))


class Plain(StepLines):
    """verbose: also a line for each archive, round and job, and the counters of each step."""

    def __init__(self, clock: Clock = time.monotonic, *, verbose: bool = False) -> None:
        super().__init__(clock, verbose=verbose)
        self._last = clock()
        self._stream = sys.stderr  # jobs on the inline runner exchange it

    def _line(self, text: str) -> None:
        self._last = self.clock()
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def _due(self, seconds: float) -> bool:
        return self._verbose or self.clock() - self._last >= seconds

    def step(self, name: str, skipped: bool = False) -> None:
        super().step(name, skipped)
        self._last = self.clock()
        if skipped:
            self._steps_ended += 1
            self._line(f"{name}: unchanged, kept")
        elif self._verbose:
            self._line(f"{name}: begins")

    def task(self, job: str, done: int, total: int) -> None:
        super().task(job, done, total)
        if self._verbose:
            self._line(f"{self.name}: {job}: part {done} of {total}")

    def read(self, done: int, total: int) -> None:
        super().read(done, total)
        measure = self.measure
        if measure and 0 < done < total and self.clock() - self._last >= EVERY:
            text = volume(measure.done, total + measure.before, speed_of(measure, self.spent))
            left = timedelta(seconds=round(measure.left or 0))
            self._line(f"{self.name}: {text}, about {left} left")

    def round(self, rounds: Sequence[Round], stop: Stop) -> None:
        super().round(rounds, stop)
        if self._due(ROUNDS_EVERY):
            self._line(f"{self.name}: {round_line(rounds, stop, verbose=self._verbose)}")

    def note(self, text: str) -> None:
        self._line(printable(text))


def total_line(seconds: float) -> str:
    """The duration of a run, and its memory."""
    return f"total: {duration(seconds)}, at most {-(-peak_memory() // MEGABYTE):,} MB in a process"
