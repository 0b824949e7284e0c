"""How far a run is, in the lock's file of its work folder, for `crawlrank status`.

    {"process", "host", "arguments", "configuration", "configured", "crawlrank", "state", "started",
     "updated", "seconds", "before": {"count", "seconds"} of the runs before,
     "steps": names, "step": {"name", "seconds", "before", "unit", "done", "total", "job", "left"},
     "archives": [done, total], "spent": {step: seconds}, "error"}

A command that is refused before it works on anything, for instance as its options are others, is no
run: what the run before said of itself stays, with "refused": {"arguments", "started", "error"}.

seconds: of this run, and of a step in this run; `before` are those of runs before that the step
goes on from. spent: seconds of steps in all runs that they go on from.
"""

from __future__ import annotations

import contextlib
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from crawlrank.pipeline.progress.reporter import Clock, Tracking
from crawlrank.pipeline.ranking.stop import Round, Stop
from crawlrank.pipeline.steps import ArchiveReport
from crawlrank.pipeline.terminal.streams import reader_has_left
from crawlrank.pipeline.version import crawlrank_version
from crawlrank.pipeline.workfolder.lock import Lock
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.masking import masked
from crawlrank.pipeline.workfolder.run_history import (
    Invocation,
    runs_before,
    seconds_of_steps,
    utc_now,
)

EVERY = 0.5  # seconds between two writes while a step goes on
RUNNING, DONE, FAILED, INTERRUPTED = "running", "done", "failed", "interrupted"


class Running(Tracking):
    """spent_before: seconds of steps that runs before have done or begun, by name. before: of
    these, those that the step of this run goes on from."""

    def __init__(
        self,
        lock: Lock,
        manifest: Manifest,
        invocation: Invocation | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__(clock)
        self._lock, self.spent_before = lock, seconds_of_steps(manifest, lock.last)
        self.before = 0.0
        self._next = 0.0
        self._last, self._works = lock.last, False
        self._state: dict[str, Any] = {
            "process": os.getpid(), "host": platform.node(), "state": RUNNING,
            "started": utc_now(), "crawlrank": crawlrank_version(),
            "before": runs_before(manifest, lock.last),
            **(asdict(invocation) if invocation else {}),
        }  # fmt: skip
        self.write()

    def write(self) -> None:
        self._next = self.clock() + EVERY
        now: dict[str, Any] = {
            "updated": utc_now(),
            "seconds": round(self.clock() - self.begun, 3),
            "steps": self.names,
            "spent": {name: round(value, 3) for name, value in self.spent_before.items()},
        }
        if self.name:
            now["step"] = self._step()
            now["spent"][self.name] = round(self.spent + self.before, 3)
        if self.archives:
            now["archives"] = list(self.archives)
        with contextlib.suppress(OSError):  # the run says itself that the disk is full
            self._lock.write({**self._state, **now})

    def _step(self) -> dict[str, Any]:
        spent = {"seconds": round(self.spent, 3), "before": round(self.before, 3)}
        if (measure := self.measure) is None:
            return {"name": self.name, **spent}
        left = None if measure.left is None else round(measure.left, 1)
        far = {**measure._asdict(), "left": left}
        del far["before"]  # of the unit
        return {"name": self.name, **far, **spent}

    def _write_if_due(self) -> None:
        if self.clock() >= self._next:
            self.write()

    def steps(self, names: Sequence[str]) -> None:
        """Nothing can refuse this run any more."""
        super().steps(names)
        self._works = True
        self.write()

    def step(self, name: str, skipped: bool = False) -> None:
        super().step(name, skipped)
        self.before = 0.0
        self.write()

    def resume(self, archives: int = 0, size: int = 0) -> None:
        super().resume(archives, size)
        self.before = self.spent_before.get(self.name, 0.0)

    def task(self, job: str, done: int, total: int) -> None:
        super().task(job, done, total)
        self._write_if_due()

    def read(self, done: int, total: int) -> None:
        super().read(done, total)
        self._write_if_due()

    def archive(self, report: ArchiveReport, done: int, total: int) -> None:
        super().archive(report, done, total)
        self._write_if_due()

    def round(self, rounds: Sequence[Round], stop: Stop) -> None:
        super().round(rounds, stop)
        self._write_if_due()

    def done(self, name: str, entry: Mapping[str, Any]) -> None:
        self.spent_before[name] = self.spent + self.before
        super().done(name, entry)
        self.write()

    def failed(self, error: BaseException) -> None:
        left = isinstance(error, BrokenPipeError) and reader_has_left()
        stopped = isinstance(error, KeyboardInterrupt) or left
        self._state["state"] = INTERRUPTED if stopped else FAILED
        if not stopped:
            self._state["error"] = masked(str(error) or type(error).__name__)[:2000]

    def close(self) -> None:
        if self._last and not self._works:
            self._put_back()
            return
        if self._state["state"] == RUNNING:
            self._state["state"] = DONE
        self.write()

    def _put_back(self) -> None:
        """Leave what the run before said of itself."""
        names = ("arguments", "started", "error")
        refused = {name: self._state[name] for name in names if name in self._state}
        with contextlib.suppress(OSError):
            self._lock.write({**self._last, **({"refused": refused} if "error" in refused else {})})
