"""The log of a command for programs: JSON lines, appended to a file, each written at once.

docs/output.md has the events and their fields. URLs are without credentials and queries.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from crawlrank.pipeline.data.memory import peak_memory
from crawlrank.pipeline.progress.reporter import Clock, ProgressTracker
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.steps import ArchiveReport
from crawlrank.pipeline.terminal.text import json_text, masked, masked_all
from crawlrank.pipeline.version import crawlrank_version, extraction_form
from crawlrank.pipeline.workfolder.manifest import utc_now

SCHEMA = "crawlrank-log/1"
EVERY = 5.0  # seconds between two events `progress`
OF_ENTRY = ("seconds", "memory", "rows", "counters")  # what `step-end` has of the manifest's entry


class Log(ProgressTracker):
    """stream: closed at the end, if it is no standard one."""

    def __init__(self, stream: TextIO, clock: Clock = time.monotonic) -> None:
        super().__init__(clock)
        self._stream, self._next = stream, 0.0
        self._writing = threading.Lock()  # bytes read are reported by a thread of their own

    def write(self, event: str, **fields: Any) -> None:
        line = json_text({"time": utc_now(), "event": event, **fields})
        with self._writing:
            self._stream.write(f"{line}\n")
            self._stream.flush()

    def begin(self, arguments: Sequence[str]) -> None:
        """The command begins. arguments: as given, from its name on."""
        about = {"schema": SCHEMA, "version": crawlrank_version(), "process": os.getpid()}
        self.write("begin", **about, extraction=extraction_form(), arguments=masked_all(arguments))

    def end(self, code: int, fault: str) -> None:
        """The command ends. fault: what the user was told, if anything."""
        if fault:
            self.write("error", text=masked(fault), exit_code=code)
        seconds = round(self.clock() - self.begun, 3)
        self.write("end", exit_code=code, seconds=seconds, memory=peak_memory())
        if self._stream is not sys.stdout:
            self._stream.close()

    def steps(self, names: Sequence[str]) -> None:
        super().steps(names)
        self.write("steps", steps=self.names)

    def step(self, name: str, skipped: bool = False) -> None:
        super().step(name, skipped)
        self._next = self.clock() + EVERY
        self.write("step-kept" if skipped else "step-begin", step=name)

    def resume(self, archives: int = 0, size: int = 0) -> None:
        super().resume(archives, size)
        self.write("step-resumed", step=self.name, archives=archives, bytes=size)

    def task(self, job: str, done: int, total: int) -> None:
        super().task(job, done, total)
        self._progress()

    def read(self, done: int, total: int) -> None:
        super().read(done, total)
        self._progress()

    def _progress(self) -> None:
        if (measure := self.measure) and self.clock() >= self._next:
            self._next = self.clock() + EVERY
            far = {"unit": measure.unit, "done": measure.done, "total": measure.total}
            left = None if measure.left is None else round(measure.left, 1)
            job = {"job": measure.job} if measure.job else {}
            self.write("progress", step=self.name, **far, **job, left=left)

    def archive(self, report: ArchiveReport, done: int, total: int) -> None:
        super().archive(report, done, total)
        self.write(
            "archive",
            step=self.name,
            path=masked(report.path),
            done=done,
            total=total,
            counters=report.counters,
            damage=len(report.damage),
            error=masked("; ".join(report.error)) if report.error else None,
        )

    def round(self, rounds: Sequence[Round], stop: Stop) -> None:
        super().round(rounds, stop)
        self.write("round", step=self.name, **rounds[-1])

    def done(self, name: str, entry: Mapping[str, Any]) -> None:
        known = {field: entry[field] for field in OF_ENTRY if field in entry}
        self.write("step-end", step=name, **{"seconds": round(self.spent, 3), **known})
        super().done(name, entry)

    def note(self, text: str) -> None:
        self.write("warning", text=masked(text))
