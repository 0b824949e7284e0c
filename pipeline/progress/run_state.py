"""The last run of a work folder, or the one that is at work: its command, and how far it is.

The lock's file says how far it was when it last wrote there; the lock itself says whether it still
runs. What a running process does between two writes is only known by the clock.
"""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from rich.filesize import decimal

from crawlrank.pipeline.progress.estimates import duration
from crawlrank.pipeline.progress.reporter import BYTES, ROUNDS
from crawlrank.pipeline.progress.running import RUNNING
from crawlrank.pipeline.workfolder.archives import extraction_totals
from crawlrank.pipeline.workfolder.lock import looked_at
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.rankings import labels, ranking_folder

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
        """Of the last run."""
        return float(self.last.get("seconds", 0.0)) + self.since_update

    def document(self) -> dict[str, Any]:
        """As `status --json` has it."""
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
        """The step that goes on, or in which the run has ended. left: seconds, None where they are
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
