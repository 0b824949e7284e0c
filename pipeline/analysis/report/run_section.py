"""How a run went: its steps, what is still to do, and what is needed to repeat it.

The commands that follow a report: the same run again, and what its results are for.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crawlrank.pipeline.options import RANKING_PARAMETERS, RunOptions, option_words
from crawlrank.pipeline.ranking.methods import METHODS, method_of
from crawlrank.pipeline.steps import BEANS, EMBEDDED, RANK, STEPS
from crawlrank.pipeline.workfolder.imported import steps_of
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.rankings import OWN
from crawlrank.pipeline.workfolder.results.dataset_folders import UnusableDataset
from crawlrank.pipeline.workfolder.results.finished import CURE, Finished

#: parameters that follow from others, and are no options
DERIVED = ("--runner", "--timestamps", "--canonical")
FILES = {option for method in METHODS.values() for option in method.takes}  # given as digests
VALIDATION = "validate-opic"


def commands(work: Path, label: str, manifest: Manifest) -> dict[str, str]:
    """The commands, ready to copy except for words in capitals. Paths are as the user gave them."""
    own = label == OWN and not manifest.ranking
    folder = shlex.quote(str(work))
    ranking = "" if own else f" --ranking {label}"
    return {
        "again": _again(work, label, manifest),
        "recrawl": f"crawlrank recrawl {folder}{ranking} --job HERITRIX_HOME/jobs/NAME"
        " --heritrix HERITRIX_HOME",
        "look_up": f"crawlrank explain {folder} URI{ranking}",
        "other_crawlers": f"crawlrank export {folder}{ranking} --format csv --output pages.csv",
    }


def _again(work: Path, label: str, manifest: Manifest) -> str:
    folder = shlex.quote(str(work))
    if manifest.ranking:
        words = ["crawlrank rank", folder, f"--name {label}"]
        parameters = {
            option: value
            for option, value in manifest.parameters.items()
            if option in RANKING_PARAMETERS
        }
        if "--combine" in parameters:
            parameters.pop("--method", None)
    else:
        words = ["crawlrank run", *([] if manifest.imported else ["ARCHIVE…"]), f"--work {folder}"]
        parameters = dict(manifest.parameters)
        if not _validated(manifest):
            words.append("--no-validate")
    return " ".join([*words, *_options(parameters)])


def _validated(manifest: Manifest) -> bool:
    """False for a run that has left the check by OPIC out."""
    checked = VALIDATION in manifest.steps or not method_of(manifest.parameters).opic
    return checked or "fingerprint" not in manifest.steps.get("join-scores", {})


def _options(parameters: Mapping[str, Any]) -> Iterator[str]:
    """The options that are not the defaults, as the command line takes them."""
    runner = parameters.get("--runner", EMBEDDED)
    usual = RunOptions().parameters()
    if runner != EMBEDDED:
        yield f"--runner {'hadoop' if '--data' in parameters else 'local'}"
    usual["--unlisted"] = parameters.get("--bins", 0) + 1
    for name, value in parameters.items():
        if name in DERIVED or value in (None, False) or value == usual.get(name):
            continue
        if name in FILES:
            yield f"{name} FILE"
        else:
            yield from map(shlex.quote, option_words(name, value))


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
