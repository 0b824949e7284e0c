"""The last run of a work folder, or the one that is at work: its command, and how far it is.

The lock's file says how far it was when it last wrote there; the lock itself says whether it still
runs. What a running process does between two writes is only known by the clock.

How far a run is, in the lock's file of its work folder, for `crawlrank status`.

    {"process", "host", "arguments", "configuration", "configured", "crawlrank", "state", "started",
     "updated", "seconds", "before": {"count", "seconds"} of the runs before,
     "steps": names, "step": {"name", "seconds", "before", "unit", "done", "total", "job", "left"},
     "archives": [done, total], "spent": {step: seconds}, "error"}

A command that is refused before it works on anything, for instance as its options are others, is no
run: what the run before said of itself stays, with "refused": {"arguments", "started", "error"}.

seconds: of this run, and of a step in this run; `before` are those of runs before that the step
continues from. spent: seconds of steps in all runs that they continue.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from rich.filesize import decimal

from crawlrank.pipeline.progress.reporter import BYTES, ROUNDS, Clock, ProgressTracker, duration
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.steps import ArchiveReport
from crawlrank.pipeline.terminal.streams import reader_has_left
from crawlrank.pipeline.terminal.text import masked
from crawlrank.pipeline.version import crawlrank_version
from crawlrank.pipeline.workfolder.archives import extraction_totals
from crawlrank.pipeline.workfolder.lock import Lock, looked_at
from crawlrank.pipeline.workfolder.manifest import (
    Invocation,
    Manifest,
    runs_before,
    seconds_of_steps,
    utc_now,
)
from crawlrank.pipeline.workfolder.rankings import labels, ranking_folder

EVERY = 0.5  # seconds between two writes during a step
RUNNING, DONE, FAILED, INTERRUPTED = "running", "done", "failed", "interrupted"


class Running(ProgressTracker):
    """Writes the state of this run. spent_before: seconds of steps that runs before have done or
    begun, by name. before: those of them that the step of this run continues."""

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


KILLED, UNKNOWN = "killed", "unknown"
EXTRACT = "extract-links"


@dataclass(frozen=True)
class RunState:
    """owner: the process that has the lock of the folder, or had it last. held: whether it has.
    last: what the last run says of itself; {} where that is not known. ranking: the label of one
    that is being made in the folder."""

    owner: int
    held: bool
    last: Mapping[str, Any]
    ranking: str | None = None

    @property
    def runs(self) -> bool:
        """Whether the run is at work, and not another command that has the lock."""
        return self.held and self.owner == self.last.get("process")

    @property
    def state(self) -> str:
        state = str(self.last.get("state", UNKNOWN))
        return KILLED if state == RUNNING and not self.runs else state

    @property
    def since_update(self) -> float:
        """Seconds since a running process wrote the state."""
        if not self.runs:
            return 0.0
        updated = datetime.fromisoformat(self.last["updated"].replace("Z", "+00:00"))
        return max(0.0, (datetime.now(timezone.utc) - updated).total_seconds())

    @property
    def seconds(self) -> float:
        """Seconds of the last run."""
        return float(self.last.get("seconds", 0.0)) + self.since_update

    def document(self) -> dict[str, Any]:
        """The state as `status --json` has it."""
        last, before = self.last, self.last.get("before", {"count": 0, "seconds": 0.0})
        named = ("arguments", "configuration", "configured", "crawlrank", "started", "updated")
        return {
            "state": self.state,
            "process": {"id": self.owner, "host": last.get("host"), "lives": self.held},
            "making_ranking": self.ranking,
            **{name: last.get(name) for name in named},
            "seconds": round(self.seconds, 3),
            "runs": {
                "count": before["count"] + bool(last),
                "seconds": round(before["seconds"] + self.seconds, 3),
            },
            "step": self._step(),
            "archives": self._archives(),
            "error": last.get("error"),
            "refused": last.get("refused"),
        }

    def _archives(self) -> dict[str, int] | None:
        archives = self.last.get("archives")
        return {"done": archives[0], "total": archives[1]} if archives else None

    def _step(self) -> dict[str, Any] | None:
        """The step at work, or in which the run has ended. left: seconds, None where they are
        not known."""
        step = self.last.get("step")
        if step is None:
            return None
        names, left = self.last.get("steps", []), step.get("left")
        number = names.index(step["name"]) + 1 if step["name"] in names else None
        waited = self.since_update
        return {
            "name": step["name"],
            "number": number,
            "of": len(names),
            "seconds": round(step["seconds"] + waited, 3),
            "seconds_before": step["before"],
            **{name: step.get(name) for name in ("unit", "done", "total", "job")},
            "left": max(0.0, round(left - waited, 1)) if left is not None and self.runs else None,
        }


def run_state(work: Path) -> RunState:
    """The state of the folder of a run, or of a ranking beside it."""
    content, held = looked_at(work)
    ranking = None
    if held and content.owner != content.state.get("process"):
        ranking = next(filter(lambda label: _is_made(work, label), labels(work)), None)
    return RunState(content.owner, held, content.state, ranking)


def _is_made(work: Path, label: str) -> bool:
    return looked_at(ranking_folder(work, label))[1]


def note_begun(manifest: Manifest, run: RunState) -> None:
    """Add to a manifest in memory what is known of a step that is not done: rows of the archives
    that were read so far, and seconds."""
    step = run.document()["step"]
    if EXTRACT not in manifest.steps and manifest.archives:
        manifest.steps[EXTRACT] = extraction_totals(manifest)
    if step and "fingerprint" not in (entry := manifest.steps.setdefault(step["name"], {})):
        entry["seconds"] = step["seconds"] + step["seconds_before"]


def state_lines(run: RunState) -> Iterator[str]:
    """The state for people, a fact a line."""
    about = run.document()
    yield f"State: {_state_text(run, about)}"
    if step := about["step"]:
        number = f", step {step['number']} of {step['of']}" if step["number"] else ""
        yield f"Step: {step['name']}{number}"
        yield f"Part: {_part_text(step, about['archives'])}"
    if run.last:
        yield f"Elapsed: {_elapsed_text(about)}"
    if run.runs:
        left = step and step["left"]
        shown = "not known" if left is None else f"about {timedelta(seconds=round(left))}"
        yield f"Left of this step: {shown}"
    if about["arguments"]:
        yield f"Command: crawlrank {shlex.join(about['arguments'])}"
    if about["configuration"]:
        yield f"Configuration: {about['configuration']}: {_configured_text(about['configured'])}"
    if about["crawlrank"]:
        yield f"Version: crawlrank {about['crawlrank']}, begun {about['started']}"
    if about["error"]:
        yield f"Error: {about['error']}"
    if refused := about["refused"]:
        command = shlex.join(refused.get("arguments", []))
        yield f"Refused since, without any change: crawlrank {command}"
        yield f"Reason: {refused['error']}"


def _state_text(run: RunState, about: Mapping[str, Any]) -> str:
    process, host = f"process {run.owner}", about["process"]["host"]
    process += f" on {host}" if host and host != platform.node() else ""
    if run.runs:
        return f"running, {process}"
    if run.held:
        what = f"ranking {run.ranking}" if run.ranking else "work folder"
        return f"the {what} is in use by {process}; the last run: {run.state}"
    ended = {KILLED: f"killed, {process} is gone", UNKNOWN: "not running"}
    return ended.get(run.state, run.state)


def _part_text(step: Mapping[str, Any], archives: Mapping[str, int] | None) -> str:
    parts = [f"archive {archives['done']} of {archives['total']}"] if archives else []
    done, total = step["done"], step["total"]
    if step["unit"] == BYTES:
        parts.append(f"{decimal(done)} of {decimal(total)}")
    elif step["unit"] == ROUNDS:
        parts.append(f"round {done}" + (f" of {total}" if total else ""))
    elif step["unit"]:
        parts.append(f"part {done} of {total} of the job {step['job']}")
    return ", ".join(parts) or "not known"


def _elapsed_text(about: Mapping[str, Any]) -> str:
    texts, step, runs = [], about["step"], about["runs"]
    if step:
        texts.append(f"{duration(step['seconds'] + step['seconds_before'])} in this step")
    texts.append(f"{duration(about['seconds'])} in this run")
    if runs["count"] > 1:
        texts.append(f"{duration(runs['seconds'])} in {runs['count']} runs")
    return ", ".join(texts)


def _configured_text(configured: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {json.dumps(value)}" for name, value in configured.items())
