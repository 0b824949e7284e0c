"""How a run went: its steps, what is still to do, and what is needed to repeat it."""

from __future__ import annotations

from typing import Any

from crawlrank.pipeline.steps import BEANS, RANK, STEPS
from crawlrank.pipeline.workfolder.imported import steps_of
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.results.dataset_folders import UnusableDataset
from crawlrank.pipeline.workfolder.results.finished import CURE, Finished


def run_section(manifest: Manifest) -> dict[str, Any]:
    """Steps with their state, rows, seconds and memory; parameters; the command that ran.

    state: `done`, `begun` or `to do`. memory: bytes that this process and its largest child had
    taken at most until the end of the step; None where that was not noted.
    """
    steps = [_step(name, manifest.steps.get(name, {})) for name in steps_of(manifest, list(STEPS))]
    return {
        "steps": steps,
        "to_do": _to_do(steps),
        "has_opic": any(step["step"] == "validate-opic" for step in steps),
        "seconds": round(sum(step["seconds"] or 0 for step in steps), 3),
        "memory": max((step["memory"] or 0 for step in steps), default=0) or None,
        "parameters": dict(manifest.parameters),
        "imported": manifest.imported.get("kind"),
        "versions": sorted({step["crawlrank"] for step in steps if step["crawlrank"]}),
        "pythons": sorted({step["python"] for step in steps if step["python"]}),
    }


def _to_do(steps: list[dict[str, Any]]) -> list[str]:
    """The steps that are not done; the check by OPIC may be left out of a run that has all else."""
    left = [step["step"] for step in steps if step["state"] != "done"]
    return [] if left == ["validate-opic"] else left


def _step(name: str, entry: dict[str, Any]) -> dict[str, Any]:
    state = "done" if "fingerprint" in entry else "begun" if entry else "to do"
    return {
        "step": name,
        "state": state,
        "rows": entry.get("rows", {}),
        "seconds": entry.get("seconds"),
        "memory": entry.get("memory"),
        "rounds": len(entry.get("rounds", ())) if name == RANK else None,
        "crawlrank": entry.get("crawlrank"),
        "python": entry.get("python"),
    }


def beans(finished: Finished) -> str | None:
    """The fragment for Heritrix beside the precedence file; None where there is none. Raises
    BadInput where it is damaged."""
    if not finished.has_uris:
        return None
    path = finished.folder(BEANS)
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UnusableDataset(str(finished.work / BEANS), "not UTF-8", "XML", CURE) from error
