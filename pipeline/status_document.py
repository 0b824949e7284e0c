"""The document of `status --json`; docs/output.md has its fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crawlrank.pipeline.progress.run_state import RunState
from crawlrank.pipeline.reports import damage_by_reason
from crawlrank.pipeline.steps import RANK
from crawlrank.pipeline.workfolder.integrity import Checked
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.masking import masked
from crawlrank.pipeline.workfolder.rankings import labels

SCHEMA = "crawlrank-status/1"


def status_document(
    work: Path,
    manifest: Manifest,
    run: RunState,
    names: Sequence[str],
    faults: Sequence[Checked],
) -> dict[str, Any]:
    """names: the steps of the run, in order. faults: datasets that are not as they were left."""
    damaged = {fault.step for fault in faults}
    archives = manifest.archives.values()
    return {
        "work": str(work),
        "run": run.document(),
        "steps": [_step(name, manifest.steps.get(name, {}), damaged) for name in names],
        "rounds": manifest.steps.get(RANK, {}).get("rounds", []),
        "archives": {
            "read": sum(not entry["error"] for entry in archives),
            "unreadable": [masked(entry["path"]) for entry in archives if entry["error"]],
            "bytes": sum(entry["size"] for entry in archives),
        },
        "damage": dict(damage_by_reason(manifest)),
        "faults": [{"step": fault.step, "fault": fault.fault} for fault in faults],
        "rankings": labels(work),
    }


def _step(name: str, entry: Mapping[str, Any], damaged: set[str]) -> dict[str, Any]:
    done = "fingerprint" in entry
    state = "damaged" if name in damaged else "done" if done else "begun" if entry else "to do"
    known = {key: entry.get(key, {}) for key in ("rows", "counters")}
    return {"step": name, "state": state, **known, "seconds": entry.get("seconds")}
