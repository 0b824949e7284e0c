"""The weights of pages that a ranking is given, by id."""

from __future__ import annotations

import os
from pathlib import Path

from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.memory import Memory, half_of_machine
from crawlrank.pipeline.ranking.inputs import PageFile, PageWeights
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
    "weights": read_weights,
    "seeds": read_seeds,
    "seeds.txt": read_heritrix_seeds,
    "relevance": read_relevance,
}


def page_weights(file: PageFile, path: Path) -> PageWeights:
    """The weights in the file of an option. Raises BadInput."""
    summary = WeightFileSummary()
    lines = tuple(READERS[file.lines](path, summary=summary))
    mark = fingerprint([(line.page, line.weight) for line in lines])
    damaged = tuple(f"{path}, line {number}" for number in summary.damaged)
    return PageWeights(lines, mark, summary.skipped[DAMAGED], damaged)


def weights_by_id(
    work: Path, manifest: Manifest, weights: PageWeights, unnamed: float, memory: Memory | None
) -> tuple[Floats, StepEntry]:
    """float64[N], `unnamed` for pages that are not named; and what the manifest says of pages that
    the graph does not have. Raises BadInput if the graph has none of the pages."""
    budget = (memory or half_of_machine()).budget
    with (
        temporary_folder() as tmp,
        database(tmp, budget=budget, threads=os.cpu_count() or 1) as (db, near),
    ):
        finished = opened(work, manifest, db, near, "weighed")
        column, report = weights_of(weights.lines, finished, default=unnamed)
    counters = {"weights.pages": report.known, "dropped.unknown-pages": report.unknown}
    examples = [f"unknown-pages\t{line.page}" for line in report.unknown_lines]
    if weights.damaged:
        counters["dropped.not-utf8-seeds"] = weights.damaged
        examples += [f"not-utf8-seeds\t{where}" for where in weights.damaged_lines]
    return column, {"counters": counters, "examples": examples}
