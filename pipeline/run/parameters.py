"""The parameters of a run beside those that its work folder was made with.

The report of page-rank has how it stopped and its rounds, for the steps after it:

{"stop": {"iterations", "tolerance", "max_rounds"}, "rounds": [{"round", "eta", …}]}
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.storage.opening import require_file
from crawlrank.pipeline.data.datasets import write_file
from crawlrank.pipeline.options import RANKING_PARAMETERS, RunOptions, with_option
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.bounds import Bounds, bounds_of, order_digits, relative_bound
from crawlrank.pipeline.ranking.methods import PAGERANK
from crawlrank.pipeline.ranking.options import Round, Stop, ValidationOptions
from crawlrank.pipeline.steps import RANK
from crawlrank.pipeline.workfolder.manifest import Manifest

#: the first step that depends on parameters; extract-links on those of no other
FIRST_USED = {
    "assign-ids": {"--nodes"},
    RANK: RANKING_PARAMETERS,
}


def parameters_of(work: Path, manifest: Manifest, options: RunOptions) -> dict[str, Any]:
    """What results depend on, by option. A ranking in rankings/ has its own ranking parameters, and
    otherwise those of the work folder around it."""
    if not manifest.ranking:
        return options.parameters()
    return {**_shared(work), **options.ranking_parameters()}


def _shared(ranking: Path) -> dict[str, Any]:
    """The parameters of the work folder around a ranking, without its ranking parameters."""
    around = Manifest(ranking.parents[1]).parameters
    return {name: value for name, value in around.items() if name not in RANKING_PARAMETERS}


def take_parameters(ranking: Path) -> None:
    """Make the shared parameters of a ranking those of its graph: what reads the datasets of that
    graph looks them up in the manifest of the ranking."""
    manifest = Manifest(ranking)
    before = manifest.parameters.items()
    kept = {name: value for name, value in before if name in RANKING_PARAMETERS}
    if kept:  # of a ranking that was made before
        manifest.parameters.clear()
        manifest.parameters.update({**_shared(ranking), **kept})
        manifest.save()


def check_parameters(work: Path, manifest: Manifest, options: RunOptions) -> None:
    """Raise BadInput where something finished depends on a parameter that now differs, unless
    forced."""
    before, now = manifest.parameters, parameters_of(work, manifest, options)
    left_out = [name for name in before if name in RANKING_PARAMETERS - now.keys()]
    compared = [*now, *left_out]
    if manifest.imported and len(before) <= 1:  # by the import, before the first run
        compared = []
    # folders of earlier versions have none of these
    usual = {**CaptureRules().parameters(), "--method": PAGERANK}
    old = {**usual, **before}
    changed = [
        name for name in compared if old.get(name) != now.get(name) and _used(name, manifest)
    ]
    if changed and not options.force:
        name = changed[0]
        raise BadInput(
            str(work),
            f"was made {with_option(name, old.get(name))}, now it is run"
            f" {with_option(name, now.get(name))}",
            "the same options, or a new work folder",
            "With --force, the steps that this changes are done again.",
        )


def _used(name: str, manifest: Manifest) -> bool:
    """Whether anything that is there depends on a parameter. A run that failed early may be given
    others, as its error may advise."""
    if manifest.ranking:
        return bool(manifest.parameters)
    first = next((step for step, names in FIRST_USED.items() if name in names), None)
    if first:
        return first in manifest.steps
    read = (archive for archive in manifest.archives.values() if not archive.get("error"))
    return bool(manifest.steps) or any(read)


class LaterParameters:
    """The parameters that depend on results of earlier steps. The manifest has these when they are
    asked for."""

    def __init__(self, manifest: Manifest, options: RunOptions) -> None:
        self._manifest, self._options = manifest, options

    @property
    def _last(self) -> Round:
        last: Round = self._manifest.steps[RANK]["rounds"][-1]
        return last

    @property
    def digits(self) -> int:
        return shared_digits(self._options.stop, self._last)

    @property
    def precedence(self) -> PrecedenceOptions:
        eta, absolute = bounds_of(self._last)
        return replace(self._options.precedence, eta=eta, absolute=absolute, digits=self.digits)

    @property
    def validation(self) -> ValidationOptions:
        cut = self._options.precedence
        return replace(
            self._options.validation, bins=cut.bins, ties=cut.ties, digits=self.digits,
            classes_over=cut.classes_over, certificate=float(self._last["certificate"]),
        )  # fmt: skip


def require_no_selection(work: Path, options: RunOptions) -> None:
    """Raise BadInput where links of text files are to be selected."""
    if options.selects:
        raise BadInput(
            str(work),
            "was made from text files, and --captures latest or --fold is given",
            "archives, which show when links were found",
            "Use the command select-links on text files.",
        )


def shared_digits(stop: Stop, last: Round) -> int:
    """Digits that scores share: all nine after a fixed number of rounds, which are the same on
    every runner; after a tolerance, enough for scores that are certainly different, of the mean
    score where not of each."""
    return DIGITS if stop.iterations is not None else order_digits(relative_bound(last))


def write_rank_report(stop: Stop, rounds: list[Round], path: Path) -> None:
    report = {"stop": asdict(stop), "rounds": rounds}
    write_file([json.dumps(report, indent=1).encode() + b"\n"], path)


def read_rank_report(path: Path) -> tuple[int, Bounds]:
    """The digits, and the bounds, of the scores that page-rank has left. Raises BadInput."""
    require_file(path, "a report of page-rank")
    try:
        report = json.loads(path.read_bytes())
        last = report["rounds"][-1]
        bounds = bounds_of(last)
        digits = shared_digits(Stop(**report["stop"]), last) if bounds.eta >= 0 else 0
    except (OSError, ValueError, LookupError, TypeError):
        digits = 0
    if not digits:
        cure = "Write it with page-rank --report."
        raise BadInput(str(path), "no report of page-rank", "JSON with `stop` and `rounds`", cure)
    return digits, bounds
