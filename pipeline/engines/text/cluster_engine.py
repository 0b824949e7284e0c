"""The steps of a run by jobs on a cluster, on datasets of text lines that stay where they lie.

At a URL (`--data`) is a folder for every dataset; those of links and captures have one for each
extraction, named by the archives that it read. In the work folder are what a user takes away,
scores, precedence file and report, and the manifest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from jobs import assign_ids, fold_chains, fold_keys, join_scores, select_links
from jobs.canonicalize import Canonicalize
from jobs.gen_graph import GenGraph
from jobs.kernel.captures.choosing import Rules
from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import NotConverged
from jobs.kernel.formats import downloading
from jobs.kernel.storage import stores
from jobs.kernel.storage.opening import Place
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.orphans import end_orphans
from jobs.select_links import TIMES
from pipeline.contract import (
    TEXT_AT_URL,
    ArchiveReport,
    ArchiveTask,
    OnRound,
    Ranked,
    Round,
    StepResult,
    Stop,
    Told,
)
from pipeline.data.graph import read_graph
from pipeline.engines.text import steps
from pipeline.engines.text.cluster_extraction import Extraction
from pipeline.engines.text.rounds import checkpoint, rank, scores_in
from pipeline.options import PrecedenceOptions, Ties
from pipeline.precedence.captured import captured_columns
from pipeline.precedence.caveats import LinkCounts
from pipeline.precedence.files import write_precedence
from pipeline.workfolder.claim import claim
from pipeline.workfolder.dataset_store import DatasetStore, remove
from pipeline.workfolder.far import bringing, links_that_count, of_archives
from pipeline.workfolder.manifest import Manifest
from pipeline.workfolder.work_folder import OF_ARCHIVES


class ClusterEngine:
    """One work folder, and a launcher that knows where the data are."""

    form = "text at a URL"
    suffix = ""
    datasets = TEXT_AT_URL

    def __init__(self, work: Path, launcher: Launcher) -> None:
        self.work, self.launcher = work, launcher
        self.data = launcher.data or ""
        self.store = DatasetStore(work, self.data)

    def take(self, manifest: Manifest) -> None:
        """The folder at the URL becomes the work folder's own, and nobody writes there any more."""
        claim(self.data, manifest)
        end_orphans(self.launcher)

    def place(self, dataset: str) -> Place:
        return self.store.location(dataset)

    # archives

    def extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        """All in one job, and what its task failed on by itself in another."""
        if tasks:
            yield from Extraction(self.launcher, self.data, options).all_of(tasks)

    # the graph

    def select_links(self, rules: Rules, keep_www: bool) -> Told:
        selected, folds = self.place("selected"), self.place("folds")
        self.store.drop("selected")
        self.store.drop("folds")
        links, captures = (of_archives(self.data, name) for name in OF_ARCHIVES)
        with self.launcher.workplace("candidates") as tmp:
            outcome, candidates = select_links.run(
                links, captures, selected, tmp, self.launcher, rules, keep_www=keep_www
            )
            for name in TIMES:
                outcome.counters.pop(name, 0)
            ended = fold_chains.run(candidates, folds, self.launcher)
        rows = {"selected": outcome.rows["main"]} if rules.latest else {}
        counters = Counter({**outcome.counters, **ended.counters})
        rows["folds"] = ended.rows["main"]
        return asdict(StepResult(rows, dict(sorted(counters.items()))))

    def canonicalize(self, keep_www: bool, folded: bool) -> Told:
        links, uris = self._anew("canonical_links"), self._anew("uris")
        inputs = [*links_that_count(self.data), *of_archives(self.data, "captures")]
        args = ["--keep-www"] * keep_www
        if not folded:
            outcome = launch(Canonicalize, inputs, links, self.launcher, args, {"uris": uris})
            return asdict(steps.canonicalized(outcome))
        if self.launcher.is_small([self.place("folds")], fold_chains.IN_MEMORY):
            with self.launcher.scratch("folds") as near:
                args += ["--folds", str(self._few_folds(near / "folds.txt"))]
                outcome = launch(Canonicalize, inputs, links, self.launcher, args, {"uris": uris})
            return asdict(steps.canonicalized(outcome))
        with self.launcher.workplace("canonicalize") as tmp:
            whole_links, whole_uris = stores.join(tmp, "links"), stores.join(tmp, "uris")
            side = {"uris": whole_uris}
            whole = launch(Canonicalize, inputs, whole_links, self.launcher, args, side)
            folds = [self.place("folds")]
            outcome = fold_keys.run(whole_links, whole_uris, folds, links, uris, self.launcher)
        outcome.notes = whole.notes
        outcome.counters = Counter({**whole.counters, **outcome.counters})
        return asdict(steps.canonicalized(outcome))

    def _few_folds(self, path: Path) -> Path:
        """All folds, brought here as one file, for each task of a job to hold."""
        downloading.download(self.place("folds"), path.with_name("parts"))
        with path.open("wb") as file:
            for part in sorted(path.with_name("parts").iterdir()):
                file.write(part.read_bytes())
        return path

    def assign_ids(self, nodes: str) -> Told:
        inputs = [self.place("canonical_links"), *[self.place("uris")] * (nodes == "all")]
        links, mapped = self._anew("input_links"), self._anew("map")
        outcome = assign_ids.run(inputs, links, mapped, self.launcher, nodes=nodes)
        steps.require_nodes(outcome, inputs, nodes)
        return asdict(steps.result_of(outcome, "input_links"))

    def gen_graph(self, nodes: str) -> Told:
        inputs = [self.place("input_links"), *[self.place("map")] * (nodes == "all")]
        outcome = launch(GenGraph, inputs, self._anew("graph"), self.launcher)
        return asdict(steps.result_of(outcome, "graph"))

    # scores

    def rank(self, stop: Stop, rounds: list[Round], on_round: OnRound) -> list[Round]:
        folder, ranks = f"{self.data}/rounds", self.place("ranks")
        if not rounds:
            stores.remove(folder)
        elif stop.iterations is not None and not stores.exists(
            stores.join(folder, f"round-{len(rounds)}")
        ):
            return rounds  # they were renamed to `ranks` by a run that ended before it said so
        stores.remove(ranks)
        try:
            _, rounds = rank(self.place("graph"), folder, self.launcher, stop, rounds, on_round)
        except NotConverged:  # for whom they are good enough
            stores.rename(scores_in(folder, stop, rounds), ranks)
            raise
        stores.rename(scores_in(folder, stop, rounds), ranks)
        return rounds

    def checkpoint(self, stop: Stop, rounds: list[Round]) -> tuple[str, ...]:
        return checkpoint(stop, rounds)

    def join_scores(self, digits: int) -> Told:
        inputs, uris = [self.place("ranks"), self.place("map")], self.place("uris")
        scored = self._anew("scored")
        outcome = join_scores.run(inputs, uris, scored, self.launcher, digits=digits)
        self._bring_scores()
        return asdict(steps.result_of(outcome, "scores"))

    def _bring_scores(self) -> None:
        near = self.work / "scores"
        remove(near)
        downloading.download(self.place("scored"), near)

    def export_precedence(
        self, options: PrecedenceOptions, links: LinkCounts | None = None
    ) -> Told:
        scores, output = self.work / "scores", self.work / "precedence.txt"
        with self.launcher.scratch("uris") as tmp:
            brought = bringing(self.work, self.data, tmp)
            return write_precedence(scores, brought("uris"), output, tmp, options, links=links)

    def ranked(self, ties: Ties = "key") -> Ranked:
        with self.launcher.scratch("ranked") as tmp:
            brought = bringing(self.work, self.data, tmp)
            graph, ranks = read_graph(brought("graph")), read_graph(brought("ranks"))
            captured = captured_columns(
                graph, brought("uris"), [brought("map")], tmp, weighed=ties == "links"
            )
            return Ranked(graph, ranks, *captured)

    def _anew(self, dataset: str) -> Place:
        """The place of a dataset whose step is done again."""
        self.store.drop(dataset)
        return self.place(dataset)
