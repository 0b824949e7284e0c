"""The weights of pages that a ranking is given, by id."""

from __future__ import annotations

import os
from pathlib import Path

from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.ranking.inputs import PageWeights
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.steps import StepEntry
from crawlrank.pipeline.workfolder.manifest import Manifest, fingerprint
from crawlrank.pipeline.workfolder.results.opened import opened
from crawlrank.pipeline.workfolder.results.weights import weights_of
from crawlrank.pipeline.workfolder.weight_files import (
    DAMAGED,
    WeightFileSummary,
    read_heritrix_seeds,
    read_relevance,
    read_seeds,
    read_weights,
)

READERS = {
    "--seeds": read_seeds,
    "--from-seeds-file": read_heritrix_seeds,
    "--relevance": read_relevance,
}


def page_weights(option: str, path: Path) -> PageWeights:
    """The weights in the file of an option. Raises BadInput."""
    summary = WeightFileSummary()
    lines = tuple(READERS.get(option, read_weights)(path, summary=summary))
    mark = fingerprint([(line.page, line.weight) for line in lines])
    damaged = tuple(f"{path}, line {number}" for number in summary.damaged)
    return PageWeights(option, lines, mark, summary.skipped[DAMAGED], damaged)


def weights_by_id(work: Path, manifest: Manifest, options: RunOptions) -> tuple[Floats, StepEntry]:
    """float64[N], the method's `unnamed` for pages that are not named; and what the manifest says
    of pages that the graph does not have. Raises BadInput where it has none of them."""
    lines = options.weights.lines if options.weights else ()
    budget = (options.memory or half_of_machine()).budget
    with (
        temporary_folder() as tmp,
        database(tmp, budget=budget, threads=os.cpu_count() or 1) as (db, near),
    ):
        finished = opened(work, manifest, db, near, "weighed")
        default = METHODS[options.method].unnamed
        column, report = weights_of(lines, finished, default=default)
    counters = {"weights.pages": report.known, "dropped.unknown-pages": report.unknown}
    examples = [f"unknown-pages\t{line.page}" for line in report.unknown_lines]
    if options.weights and options.weights.damaged:
        counters["dropped.not-utf8-seeds"] = options.weights.damaged
        examples += [f"not-utf8-seeds\t{where}" for where in options.weights.damaged_lines]
    return column, {"counters": counters, "examples": examples}
