"""The events by which a run reports its progress, how far a step is by them, and estimates of the
time that is left."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from rich.filesize import decimal

from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.steps import ArchiveReport

A_MINUTE = 60


def duration(seconds: float) -> str:
    """`12.3 s`, or `1:02:05` from a minute on."""
    if round(seconds, 1) < A_MINUTE:
        return f"{seconds:.1f} s"
    return str(timedelta(seconds=round(seconds)))


def seconds_left(done: int, total: int, seconds: float) -> float | None:
    """Seconds that the rest of a work takes whose first `done` of `total` took `seconds`; None
    where nothing is done."""
    return seconds * (total - done) / done if done > 0 else None


def rounds_left(rounds: Sequence[Round], stop: Stop) -> int | None:
    """An estimate: the certificate falls by a steady factor. None where it does not fall."""
    if stop.iterations is not None:
        return stop.iterations - len(rounds)
    before = rounds[-2]["certificate"] if len(rounds) > 1 else 0.0
    now, tolerance = rounds[-1]["certificate"], stop.tolerance
    if stop.reached([*rounds]):
        return 0
    if not 0 < now < before < math.inf:
        return None
    return math.ceil(math.log(tolerance / now) / math.log(now / before))


def residual_of(rounds: Sequence[Round]) -> str:
    """The residual of the last round, as `round_line` says it."""
    return f"residual {rounds[-1]['residual_l1']:.2e}, "


def round_line(rounds: Sequence[Round], stop: Stop, *, verbose: bool = False) -> str:
    """The last round for people, with an estimate of the time left."""
    last = rounds[-1]
    known = math.isfinite(last["certificate"])
    line = f"{residual_of(rounds)}certificate {last['certificate']:.2e}"
    line = line if known else f"{residual_of(rounds)}error not known yet"
    if stop.iterations is not None:
        line = f"round {len(rounds)} of {stop.iterations}: {line}"
    elif known:
        line = f"round {len(rounds)}: {line} of {stop.tolerance:g}"
    else:
        line = f"round {len(rounds)}: {line}"
    if verbose and known:
        from crawlrank.pipeline.ranking.bounds import bounds_of  # loads numpy

        eta, absolute = bounds_of(last)
        of_one = f"eta {eta:.2e}" if math.isfinite(eta) else f"error of a score {absolute:.2e}"
        line += f", {of_one}, mass {last['mass']:.9g}, {last['seconds']:.1f} s"
    left = rounds_left(rounds, stop)
    return line + (f", about {left * last['seconds']:.0f} s left" if left else "")


def volume(done: int, total: int, speed: float) -> str:
    """`1.2 GB of 3.4 GB, 45.0 MB/s`: of compressed bytes. speed: bytes a second."""
    return f"{decimal(done)} of {decimal(total)}" + (
        f", {decimal(round(speed))}/s" if speed else ""
    )


BYTES, PARTS, ROUNDS = "bytes", "parts", "rounds"
Clock = Callable[[], float]


class Reporter:
    """The events of a run: its steps, and what happens in them. This reporter ignores them."""

    def steps(self, names: Sequence[str]) -> None:
        """The steps that this run goes through, in order."""

    def step(self, name: str, skipped: bool = False) -> None:
        """A step begins, or is skipped."""

    def resume(self, archives: int = 0, size: int = 0) -> None:
        """The step continues what runs before have left: `archives` archives, `size` bytes of
        them."""

    def task(self, job: str, done: int, total: int) -> None:
        """This number of parts of a job is done."""

    def read(self, done: int, total: int) -> None:
        """This number of bytes was read, of the archives that this run reads."""

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


class ReporterGroup(Reporter):
    """Passes every event on to some reporters, in their order."""

    def __init__(self, *reporters: Reporter) -> None:
        self._reporters = reporters


def _passing_on(event: str) -> Callable[..., None]:
    def pass_on(self: ReporterGroup, *args: Any, **kwargs: Any) -> None:
        for each in self._reporters:
            getattr(each, event)(*args, **kwargs)

    return pass_on


for _event in [name for name in vars(Reporter) if not name.startswith("_")]:
    setattr(ReporterGroup, _event, _passing_on(_event))


class StepMeasure(NamedTuple):
    """How far a step is. unit: BYTES of archives, PARTS of a job or ROUNDS. before: what runs
    before have done of it. total: None where it is not known. left: seconds, or None."""

    unit: str
    done: int
    total: int | None
    before: int = 0
    left: float | None = None
    job: str = ""


class ProgressTracker(Reporter):
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
