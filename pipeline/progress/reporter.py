"""What a run says of itself while it goes on: the events, and how far a step is by them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from crawlrank.pipeline.progress.estimates import rounds_left, seconds_left
from crawlrank.pipeline.ranking.stop import Round, Stop
from crawlrank.pipeline.steps import ArchiveReport

BYTES, PARTS, ROUNDS = "bytes", "parts", "rounds"
Clock = Callable[[], float]


class Reporter:
    """Called by a run for its steps and what goes on inside them. This one does nothing."""

    def steps(self, names: Sequence[str]) -> None:
        """The steps that this run goes through, in order."""

    def step(self, name: str, skipped: bool = False) -> None:
        """A step begins, or is skipped."""

    def resume(self, archives: int = 0, size: int = 0) -> None:
        """The step goes on from what runs before have left: so many archives and bytes of them."""

    def task(self, job: str, done: int, total: int) -> None:
        """So many parts of a job are done."""

    def read(self, done: int, total: int) -> None:
        """So many bytes were read, of the archives that this run reads."""

    def archive(self, report: ArchiveReport, done: int, total: int) -> None:
        """An archive was read. done, total: of all archives, with those of runs before."""

    def round(self, rounds: Sequence[Round], stop: Stop) -> None:
        """A round of the ranking ended, the last of these."""

    def done(self, name: str, entry: Mapping[str, Any]) -> None:
        """The step ended well. entry: what the manifest says of it, if there is one."""

    def note(self, text: str) -> None:
        """A warning for the user."""

    def failed(self, error: BaseException) -> None:
        """The run ends with this error."""

    def close(self) -> None:
        """The run ends."""


class Several(Reporter):
    """Passes all events on to some reporters, in their order."""

    def __init__(self, *reporters: Reporter) -> None:
        self._reporters = reporters

    def steps(self, names: Sequence[str]) -> None:
        for each in self._reporters:
            each.steps(names)

    def step(self, name: str, skipped: bool = False) -> None:
        for each in self._reporters:
            each.step(name, skipped)

    def resume(self, archives: int = 0, size: int = 0) -> None:
        for each in self._reporters:
            each.resume(archives, size)

    def task(self, job: str, done: int, total: int) -> None:
        for each in self._reporters:
            each.task(job, done, total)

    def read(self, done: int, total: int) -> None:
        for each in self._reporters:
            each.read(done, total)

    def archive(self, report: ArchiveReport, done: int, total: int) -> None:
        for each in self._reporters:
            each.archive(report, done, total)

    def round(self, rounds: Sequence[Round], stop: Stop) -> None:
        for each in self._reporters:
            each.round(rounds, stop)

    def done(self, name: str, entry: Mapping[str, Any]) -> None:
        for each in self._reporters:
            each.done(name, entry)

    def note(self, text: str) -> None:
        for each in self._reporters:
            each.note(text)

    def failed(self, error: BaseException) -> None:
        for each in self._reporters:
            each.failed(error)

    def close(self) -> None:
        for each in self._reporters:
            each.close()


class StepMeasure(NamedTuple):
    """How far a step is. unit: BYTES of archives, PARTS of a job or ROUNDS. before: what runs
    before have done of it. total: None where it is not known. left: seconds, or None."""

    unit: str
    done: int
    total: int | None
    before: int = 0
    left: float | None = None
    job: str = ""


class Tracking(Reporter):
    """Keeps how far the run and its step are. Archives are measured in bytes, the ranking in
    rounds, and other steps in parts of their jobs."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self.clock = clock
        self.begun = self.step_begun = clock()
        self.names: list[str] = []
        self.name = ""
        self._reset()

    def _reset(self) -> None:
        self.measure: StepMeasure | None = None
        self.archives: tuple[int, int] | None = None
        self._size_before = 0

    @property
    def spent(self) -> float:
        """Seconds since the step began."""
        return self.clock() - self.step_begun

    def steps(self, names: Sequence[str]) -> None:
        self.names = list(names)

    def step(self, name: str, skipped: bool = False) -> None:
        self._reset()
        self.name = "" if skipped else name
        self.step_begun = self.clock()

    def resume(self, archives: int = 0, size: int = 0) -> None:
        self._size_before = size

    def task(self, job: str, done: int, total: int) -> None:
        if self.measure is None or self.measure.unit == PARTS:
            self.measure = StepMeasure(PARTS, done, total, job=job)

    def read(self, done: int, total: int) -> None:
        before = self._size_before
        left = seconds_left(done, total, self.spent)
        self.measure = StepMeasure(BYTES, done + before, total + before, before, left)

    def archive(self, report: ArchiveReport, done: int, total: int) -> None:
        self.archives = done, total

    def round(self, rounds: Sequence[Round], stop: Stop) -> None:
        left = rounds_left(rounds, stop)
        seconds = None if left is None else left * rounds[-1]["seconds"]
        self.measure = StepMeasure(ROUNDS, len(rounds), stop.iterations, left=seconds)

    def done(self, name: str, entry: Mapping[str, Any]) -> None:
        self.name = ""


@contextlib.contextmanager
def consecutive(reporter: Reporter) -> Iterator[Callable[[str], None]]:
    """A function that begins a step by its name, where the one before it has ended."""
    names: list[str] = []

    def begin(name: str) -> None:
        if names:
            reporter.done(names[-1], {})
        names.append(name)
        reporter.step(name)

    with contextlib.closing(reporter):
        yield begin
        if names:
            reporter.done(names[-1], {})
