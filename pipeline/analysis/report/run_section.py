"""How a run went: its steps, what is still to do, and what is needed to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.contract import BEANS, EMBEDDED, RANK, STEPS
from pipeline.options import RunOptions
from pipeline.workfolder.imported import steps_of
from pipeline.workfolder.manifest import Manifest

BEANS_BYTES = 100_000  # of a fragment that is shown; ours has 4,000


def run_section(manifest: Manifest) -> dict[str, Any]:
    """Steps with their state, rows, seconds and memory; parameters; the command that ran.

    state: `done`, `begun` or `to do`. memory: bytes that this process and its largest child had
    taken at most until the end of the step; None where that was not noted.
    """
    steps = [_step(name, manifest.steps.get(name, {})) for name in steps_of(manifest, list(STEPS))]
    return {
        "steps": steps,
        "to_do": [step["step"] for step in steps if step["state"] != "done"],
        "seconds": round(sum(step["seconds"] or 0 for step in steps), 3),
        "memory": max((step["memory"] or 0 for step in steps), default=0) or None,
        "parameters": dict(manifest.parameters),
        "imported": manifest.imported.get("kind"),
        "versions": sorted({step["crawlrank"] for step in steps if step["crawlrank"]}),
        "pythons": sorted({step["python"] for step in steps if step["python"]}),
    }


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


def commands(work: Path, manifest: Manifest) -> dict[str, str]:
    """The commands that go on from here. Paths are as the user wrote them."""
    name = shlex.quote(str(work))
    given = " ".join(["ARCHIVE…", f"--work {name}", *_options(manifest.parameters)])
    return {
        "again": f"crawlrank run {given}",
        "recrawl": f"crawlrank recrawl --job HERITRIX_HOME/jobs/NAME --work {name}"
        " --heritrix HERITRIX_HOME",
        "look_up": f"crawlrank explain --work {name} URI",
        "other_crawlers": f"crawlrank export-precedence --work {name} --format csv"
        " --output pages.csv",
        "status": f"crawlrank status --work {name}",
    }


def _options(parameters: Mapping[str, Any]) -> Iterator[str]:
    """The options that are not the defaults, as the command line takes them."""
    runner = parameters.get("--runner", EMBEDDED)
    usual = RunOptions().parameters()
    if runner != EMBEDDED:
        yield f"--runner {'hadoop' if '--data' in parameters else 'local'}"
    for name, value in parameters.items():
        if name == "--runner" or value is None or value == usual.get(name):
            continue
        yield name if value is True else f"{name} {shlex.quote(str(value))}"


def beans(work: Path) -> str | None:
    """The fragment for Heritrix beside the precedence file."""
    path = work / BEANS
    return path.read_text()[:BEANS_BYTES] if path.exists() else None
