"""The runs of a work folder, in the section `runs` of its manifest.

    {"count": of all runs, "seconds": of those before the last, "last": [{"arguments",
     "configuration", "crawlrank", "started", "seconds"}, …]}

The last run has no seconds here until another one begins: the lock's file has them, so that a run
need not save a manifest of many archives once more at its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from typing import Any

from crawlrank.pipeline.version import crawlrank_version
from crawlrank.pipeline.workfolder.manifest import Manifest

KEPT = 20  # runs, of those whose commands are kept


@dataclass(frozen=True)
class Invocation:
    """The command of a run, without secrets. arguments: as given, from the name of the command on.
    configuration: the file of options that were not given, and these, by their names there."""

    arguments: list[str]
    configuration: str | None = None
    configured: dict[str, Any] = field(default_factory=dict)


def utc_now() -> str:
    """`2026-11-25T01:28:42.123Z`"""
    return f"{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"


def add_run(manifest: Manifest, invocation: Invocation | None, before: Mapping[str, Any]) -> None:
    """Enter a run that begins, to be saved. before: the state of the run before it."""
    runs, counts = manifest.section("runs"), runs_before(manifest, before)
    last = runs.setdefault("last", [])
    if last and "seconds" not in last[-1]:
        last[-1]["seconds"] = float(before.get("seconds") or 0.0)
    command = asdict(invocation) if invocation else {}
    last.append({**command, "crawlrank": crawlrank_version(), "started": utc_now()})
    del last[:-KEPT]
    runs |= {"count": counts["count"] + 1, "seconds": counts["seconds"]}


def runs_before(manifest: Manifest, before: Mapping[str, Any]) -> dict[str, Any]:
    """Count and seconds of all runs until now. before: the state of the last of them, which knows
    of runs that were killed before they saved the manifest."""
    if earlier := before.get("before"):
        seconds = earlier["seconds"] + before.get("seconds", 0.0)
        return {"count": earlier["count"] + 1, "seconds": round(seconds, 3)}
    runs = manifest.section("runs")
    return {"count": runs.get("count", 0), "seconds": runs.get("seconds", 0.0)}


def seconds_of_steps(manifest: Manifest, before: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of each step by the manifest; of one that is not done, by the state of the run that
    began it."""
    spent = {name: float(seconds) for name, seconds in before.get("spent", {}).items()}
    done = {name: entry["seconds"] for name, entry in manifest.steps.items() if "seconds" in entry}
    return {**spent, **done}
