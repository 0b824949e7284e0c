"""The parameters of a run beside those that its work folder was made with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from jobs.kernel.captures.choosing import CaptureRules
from jobs.kernel.errors import BadInput
from pipeline.contract import LINK_WEIGHT, PAGERANK, RANK
from pipeline.options import (
    PrecedenceOptions,
    RunOptions,
    SiteOptions,
    ValidationOptions,
    with_option,
)
from pipeline.rank_report import shared_digits
from pipeline.ranking.methods import WEIGHT_OPTIONS
from pipeline.workfolder.manifest import Manifest


def parameters_of(work: Path, manifest: Manifest, options: RunOptions) -> dict[str, Any]:
    """The options that the results of a run depend on, by name. Of a ranking beside others: those
    of the work folder around it, but for the ranking's own."""
    if not manifest.ranking:
        return options.parameters()
    around = Manifest(work.parents[1]).parameters
    own = {*WEIGHT_OPTIONS, LINK_WEIGHT, *SiteOptions().parameters(), "--perturb"}
    shared = {name: value for name, value in around.items() if name not in own}
    return {**shared, **options.ranking_parameters()}


def check_parameters(work: Path, manifest: Manifest, options: RunOptions) -> None:
    """Raise BadInput where a parameter differs from the folder's, unless forced."""
    before, now = manifest.parameters, parameters_of(work, manifest, options)
    in_use = before if manifest.ranking else manifest.archives or manifest.steps
    compared = [*now] if not manifest.imported or len(before) > 1 else []  # not by first run
    # folders of earlier versions have none of these
    usual = {**CaptureRules().parameters(), "--method": PAGERANK}
    old = {**usual, **before}
    changed = [name for name in compared if in_use and old.get(name) != now[name]]
    if changed and not options.force:
        name = changed[0]
        raise BadInput(
            str(work),
            f"was made {with_option(name, old.get(name))}, now it is run"
            f" {with_option(name, now[name])}",
            "the same options, or a new work folder",
            "With --force, the steps that this changes are done again.",
        )


class LaterParameters:
    """Those that depend on results of earlier steps. The manifest has these when they are asked
    for."""

    def __init__(self, manifest: Manifest, options: RunOptions) -> None:
        self._manifest, self._options = manifest, options

    @property
    def _eta(self) -> float:
        return float(self._manifest.steps[RANK]["rounds"][-1]["eta"])

    @property
    def digits(self) -> int:
        return shared_digits(self._options.stop, self._eta)

    @property
    def precedence(self) -> PrecedenceOptions:
        return replace(self._options.precedence, eta=self._eta, digits=self.digits)

    @property
    def validation(self) -> ValidationOptions:
        cut = self._options.precedence
        return replace(
            self._options.validation, bins=cut.bins, ties=cut.ties, digits=self.digits,
            classes_over=cut.classes_over,
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
