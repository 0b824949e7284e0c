"""The step page-rank of a run: its rounds are entered in the manifest, and continued from there.

Inputs of a ranking that need the work folder are made here: weights of pages by id, and the scores
of other rankings combined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.rows import MAX_EXAMPLES
from crawlrank.jobs.kernel.rank.rounding import rounded
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.memory import Memory, half_of_machine
from crawlrank.pipeline.engines.contract import Engine, Ranking
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.ranking.combination import combine
from crawlrank.pipeline.ranking.inputs import (
    COMBINE_BY,
    TOPIC,
    Combination,
    CombineBy,
    PageFile,
    PageWeights,
)
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.topic import TopicLinks
from crawlrank.pipeline.ranking.topic_words import TopicWords
from crawlrank.pipeline.run.step_state import StepState
from crawlrank.pipeline.steps import RANK, StepEntry
from crawlrank.pipeline.workfolder.dataset_store import DatasetRecord
from crawlrank.pipeline.workfolder.manifest import Manifest, fingerprint
from crawlrank.pipeline.workfolder.rankings import parts_of, ranking_folder
from crawlrank.pipeline.workfolder.results.dataset_folders import finished_manifest
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished, opened, temporary_database
from crawlrank.pipeline.workfolder.results.topics import topic_of
from crawlrank.pipeline.workfolder.results.weights import weights_of
from crawlrank.pipeline.workfolder.weight_files import (
    read_heritrix_seeds,
    read_relevance,
    read_seeds,
    read_weights,
    read_words,
)


class RankStep:
    """Rounds from the last one that was entered; each is in the manifest soon after it."""

    def __init__(
        self, state: StepState, engine: Engine, options: RunOptions, reporter: Reporter
    ) -> None:
        self.state, self.engine, self.reporter = state, engine, reporter
        self.method, self.stop, self.options = METHODS[options.method], options.stop, options
        self.manifest = state.manifest
        self._records: dict[str, DatasetRecord] = {}  # of the checkpoint that was entered last

    def parameters(self) -> dict[str, Any]:
        return {**self.stop.parameters(), **self.method.fingerprint(self.options.inputs)}

    def work(self) -> StepEntry:
        rounds: list[Round] = []

        def on_round(_: Round, so_far: list[Round]) -> bool:
            rounds[:] = so_far
            self.reporter.round(so_far, self.stop)
            if due := self.manifest.due:
                self._enter(so_far)
            return due

        before = self._before()
        if before:
            self.reporter.resume()
        inputs, entry = self._inputs()
        ranking = Ranking(self.method, self.stop, inputs)
        try:
            rounds = self.engine.rank(ranking, before, on_round)
        except BaseException:
            if len(rounds) > len(before):
                self._enter(rounds)  # for those who allow more of them
            raise
        return {"rounds": rounds, "rows": {"ranks": rounds[-1]["nodes"] + 1}, **entry}

    def _inputs(self) -> tuple[dict[str, Any], StepEntry]:
        """The inputs of the Ranking, and what the manifest says of them."""
        options, work = self.options, self.engine.store.work
        given, entry = dict(self.method.given(options.inputs)), StepEntry()
        inputs = {each.name: value for each, value in given.items()}
        for each, value in given.items():
            if isinstance(value, PageWeights):
                unnamed = self.method.unnamed
                to = (work, self.manifest, value, unnamed, options.memory)
                inputs[each.name], entry = weights_by_id(*to)
            if isinstance(value, TopicWords):
                inputs[each.name], inputs[TOPIC], entry = topic_by_id(
                    work, self.manifest, value, options.memory
                )
            if isinstance(value, Combination):
                how = given[COMBINE_BY]
                inputs[each.name] = combined_scores(work.parents[1], value, how, options.memory)
        return inputs, entry

    def _before(self) -> list[Round]:
        """Rounds to resume from. From now on `rounds/` belongs to this fingerprint."""
        mark = self.state.marks[RANK]
        if not self.manifest.progress(RANK, mark):
            self.engine.store.drop("rounds")
            self.manifest.begun(RANK, {"of": mark, "rounds": []})
            self.manifest.save()
        return self.state.intact_rounds(RANK, self.stop)

    def _enter(self, rounds: list[Round]) -> None:
        """Save the rounds with the records of what continues after them, unless that is just being
        moved to where it is to end."""
        store, names = self.engine.store, self.engine.checkpoint(self.stop, rounds)
        if all(map(store.exists, names)):
            self._records = {name: self._records.get(name) or store.record(name) for name in names}
            entry = {"of": self.state.marks[RANK], "rounds": list(rounds)}
            self.manifest.begun(RANK, {**entry, "checkpoint": self._records})
            self.manifest.save()


READERS = {
    "weights": read_weights,
    "seeds": read_seeds,
    "seeds.txt": read_heritrix_seeds,
    "relevance": read_relevance,
}


def page_weights(file: PageFile, path: Path) -> PageWeights:
    """The weights in the file of an option. Raises BadInput."""
    damaged = list[int]()
    lines = tuple(READERS[file.lines](path, damaged))
    mark = fingerprint([(line.page, line.weight) for line in lines])
    examples = tuple(f"{path}, line {number}" for number in damaged[:MAX_EXAMPLES])
    return PageWeights(lines, mark, len(damaged), examples)


def weights_by_id(
    work: Path, manifest: Manifest, weights: PageWeights, unnamed: float, memory: Memory | None
) -> tuple[Floats, StepEntry]:
    """float64[N], `unnamed` for pages that are not named; and what the manifest says of pages that
    the graph does not have. Raises BadInput if the graph has none of the pages."""
    with temporary_database((memory or half_of_machine()).budget) as (db, near):
        finished = opened(work, manifest, db, near, "weighed")
        column, report = weights_of(weights.lines, finished, default=unnamed)
    counters = {"weights.pages": report.known, "dropped.unknown-pages": report.unknown}
    examples = [f"unknown-pages\t{line.page}" for line in report.unknown_lines]
    if weights.damaged:
        counters["dropped.not-utf8-seeds"] = weights.damaged
        examples += [f"not-utf8-seeds\t{where}" for where in weights.damaged_lines]
    return column, {"counters": counters, "examples": examples}


def topic_words(path: Path) -> TopicWords:
    """The words in the file of an option. Raises BadInput."""
    phrases = read_words(path)
    return TopicWords(tuple(phrases), fingerprint(phrases))


def topic_by_id(
    work: Path, manifest: Manifest, words: TopicWords, memory: Memory | None
) -> tuple[Floats, TopicLinks, StepEntry]:
    """As of `topic_of`, and what the manifest says of it. Raises BadInput."""
    with temporary_database((memory or half_of_machine()).budget) as (db, near):
        pages, links = topic_of(opened(work, manifest, db, near, "topic"), words)
    counters = {"topic.pages": int(np.count_nonzero(pages)), "topic.links": len(links.sources)}
    return pages, links, {"counters": counters}


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
    with temporary_database((memory or half_of_machine()).budget) as (db, near):
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
