"""Runs that stop themselves, by SIGSTOP, when they have said of themselves that a step is so far:
what is looked at or struck then does not continue meanwhile, however fast or slow the machine is.

All archives but the last are in the manifest then, and a checkpoint is kept of every round.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from crawlrank.pipeline.engines.contract import Ranking
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter, ReporterGroup
from crawlrank.pipeline.ranking.options import OnRound, Round
from crawlrank.pipeline.run.run import MakeEngine, engine_of
from crawlrank.pipeline.steps import StepEntry
from crawlrank.pipeline.workfolder.lock import looked_at
from crawlrank.pipeline.workfolder.manifest import Manifest
from support.faults.forks import forked
from support.systems.own_engine import with_engine
from support.waiting import awaited

SECONDS = 900
STREAMS = ("out", "err")


class Remembering(ReporterGroup):
    """Passes events on. last: how much was read when it was told so last."""

    last = (0, 0)

    def read(self, done: int, total: int) -> None:
        self.last = done, total
        super().read(done, total)


class StoppingEngine:
    """An engine that stops its process when a number of archives or rounds of a step is done."""

    manifest: Manifest

    def __init__(self, engine: Any, reporter: Remembering, step: str, count: int) -> None:
        self.engine, self.reporter, self.step, self.count = engine, reporter, step, count

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    def _stop_at(self, step: str, done: int = 0) -> None:
        if (step, done) == (self.step, self.count):
            os.kill(os.getpid(), signal.SIGSTOP)

    def take(self, manifest: Manifest) -> None:
        self.engine.take(manifest)
        self.manifest = manifest

    def extract(self, *given: Any) -> Iterator[Any]:
        self._stop_at("extract-links")
        last = self.count if self.step == "extract-links" else 0
        for number, answer in enumerate(self.engine.extract(*given), 1):
            if number < last:
                awaited(lambda: self.manifest.due)
            yield answer
            if number == last:
                awaited(self._has_told)
                self._stop_at("extract-links", number)

    def _has_told(self) -> bool:
        """Whether the archives are in what the run says of itself. It writes that when it is told
        of progress, now and then."""
        self.reporter.read(*self.reporter.last)
        done: int = looked_at(self.engine.work)[0].state.get("archives", [0])[0]
        return done >= self.count

    def canonicalize(self, *given: Any) -> StepEntry:
        self._stop_at("canonicalize")
        entry: StepEntry = self.engine.canonicalize(*given)
        return entry

    def gen_graph(self, nodes: str) -> StepEntry:
        self._stop_at("gen-graph")
        entry: StepEntry = self.engine.gen_graph(nodes)
        return entry

    def rank(self, ranking: Ranking, rounds: list[Round], on_round: OnRound) -> list[Round]:
        def and_stop(entry: Round, entries: list[Round]) -> bool:
            told = on_round(entry, entries)
            self._stop_at("page-rank", len(entries))
            return told

        self._stop_at("page-rank")
        done: list[Round] = self.engine.rank(ranking, rounds, and_stop)
        return done


def stopping_engine(
    step: str, count: int, work: Path, options: RunOptions, tmp: Path, reporter: Reporter,
    stack: ExitStack,
) -> Any:  # fmt: skip
    reporter = Remembering(reporter)
    engine: Any = engine_of(work, options, tmp, reporter, stack)
    engine.interval = 0.0  # between checkpoints
    return StoppingEngine(engine, reporter, step, count)


class Run:
    """A command that is a process of its own, the leader of a session; as subprocess.Popen."""

    def __init__(self, process: ForkServerProcess, said: Path) -> None:
        assert process.pid
        self.process, self.pid, self._said = process, process.pid, said

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    @property
    def err(self) -> str:
        return (self._said / "err").read_text()

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = SECONDS) -> int | None:
        """The exit code, negative for a signal; None if it still runs after these seconds."""
        self.process.join(timeout)
        return self.returncode

    def communicate(self, timeout: float = SECONDS) -> tuple[str, str]:
        self.wait(timeout)
        return (self._said / "out").read_text(), self.err

    def has_stopped(self) -> bool:
        assert self.wait(0) is None, f"the run ended: {self.communicate()}"
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@contextlib.contextmanager
def started(*words: object, make_engine: MakeEngine = engine_of) -> Iterator[Run]:
    """A command in a process of its own, a leader of a session that ends with the block."""
    with tempfile.TemporaryDirectory() as name:
        for stream in STREAMS:
            (Path(name) / stream).touch()
        run = Run(forked(_main, [*map(str, words)], name, make_engine), Path(name))
        try:
            yield run
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            run.wait()


@contextlib.contextmanager
def stopped(step: str, count: int, *words: object) -> Iterator[Run]:
    """A command that has stopped, since a number of archives or rounds of the step is done; or
    since the step has begun, if none is."""
    with started(*words, make_engine=partial(stopping_engine, step, count)) as run:
        awaited(run.has_stopped, seconds=SECONDS)
        yield run


def interrupt(run: Run) -> None:
    """Send it to all processes of the run, as a terminal does. What had stopped continues."""
    for sent in (signal.SIGINT, signal.SIGCONT):
        os.killpg(run.pid, sent)


def _main(words: list[str], said: str, make_engine: MakeEngine) -> None:
    os.setsid()
    for number, name in enumerate(STREAMS, 1):
        os.dup2(os.open(f"{said}/{name}", os.O_WRONLY), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", 1, closefd=False)  # noqa: SIM115
    with_engine(make_engine)(words, prog_name="crawlrank")
