"""The commands that follow a report: the same run again, and what its results are for."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crawlrank.pipeline.options import RANKING_PARAMETERS, RunOptions, option_words
from crawlrank.pipeline.ranking.methods import METHODS, method_of
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.workfolder.manifest import Manifest
from crawlrank.pipeline.workfolder.rankings import OWN

#: parameters that follow from others, and are no options
DERIVED = ("--runner", "--timestamps", "--canonical")
FILES = {option for method in METHODS.values() for option in method.takes}  # given as digests
VALIDATION = "validate-opic"


def commands(work: Path, label: str, manifest: Manifest) -> dict[str, str]:
    """The commands, ready to copy but for words in capitals. Paths are as the user gave them."""
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
