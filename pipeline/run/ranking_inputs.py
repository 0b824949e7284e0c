"""Inputs of a ranking that need the work folder: weights of pages by id, and the scores of other
rankings combined.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.memory import Memory, half_of_machine
from crawlrank.pipeline.ranking.bounds import rounded
from crawlrank.pipeline.ranking.combination import combine
from crawlrank.pipeline.ranking.inputs import Combination, CombineBy, PageFile, PageWeights
from crawlrank.pipeline.steps import RANK, StepEntry
from crawlrank.pipeline.workfolder.manifest import Manifest, fingerprint
from crawlrank.pipeline.workfolder.rankings import parts_of, ranking_folder
from crawlrank.pipeline.workfolder.results.dataset_folders import finished_manifest
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished, opened
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


def combination(work: Path, label: str, weights: Mapping[str, float]) -> Combination:
    """The rankings to make the one of this label of, as they are now. Raises BadInput for one that
    is not there, not finished or stale, or that is made of this one."""
    for part in weights:
        if label in (part, *_made_of(work, part)):
            what = f"{part}, which is made of {label}" if part != label else "itself"
            expected = "a combined ranking that does not include itself"
            raise BadInput(f"--name {label}", f"made of {what}", expected, "Name it otherwise.")
    manifests = [finished_manifest(ranking_folder(work, label)) for label in weights]
    marks = [str(manifest.steps[RANK]["fingerprint"]) for manifest in manifests]
    return Combination(tuple(weights.items()), tuple(zip(weights, marks, strict=True)))


def _made_of(work: Path, label: str) -> Iterator[str]:
    """The rankings that one is made of, and those that these are made of."""
    for part in parts_of(Manifest(ranking_folder(work, label))):
        yield part
        yield from _made_of(work, part)


def _told(part: Finished, how: CombineBy) -> Floats:
    """Its scores; by position, only what is proved of them, as their noise would be an order."""
    scores = part.scores()
    return rounded(scores, part.proved_digits) if how == "position" else scores


def combined_scores(
    work: Path, chosen: Combination, how: CombineBy, memory: Memory | None
) -> Floats:
    """float64[N]. work: the folder around the rankings. Raises BadInput."""
    budget = (memory or half_of_machine()).budget // 2
    with (
        temporary_folder() as tmp,
        database(tmp, budget=budget, threads=os.cpu_count() or 1) as (db, near),
    ):
        every = [
            (open_finished(ranking_folder(work, label), db, near, f"r{at}"), weight)
            for at, (label, weight) in enumerate(chosen.parts)
        ]
        parts = [(_told(part, how), weight) for part, weight in every]
    try:
        return combine(parts, how)
    except ValueError as error:
        cure = f"Combine them by {'position' if how == 'probability' else 'probability'}."
        raise BadInput(str(work), str(error), "scores of one graph", cure) from error
