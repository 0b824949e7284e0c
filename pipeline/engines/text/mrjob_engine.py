"""The steps of a run by the jobs of `jobs/`, on datasets of text lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from jobs.extract_links import ExtractLinks
from jobs.kernel.captures.choosing import Rules
from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import NotConverged
from jobs.kernel.storage.opening import size_of
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from pipeline.contract import TEXT, ArchiveReport, ArchiveTask, OnRound, Ranked, Round, Stop, Told
from pipeline.data.datasets import move
from pipeline.data.graph import read_graph
from pipeline.engines.text import steps
from pipeline.engines.text.rounds import checkpoint, rank, scores_in
from pipeline.engines.text.selecting import select_links
from pipeline.engines.text.steps import archive_reports, writable_names
from pipeline.options import PrecedenceOptions, Ties
from pipeline.precedence.captured import captured_columns
from pipeline.precedence.caveats import LinkCounts
from pipeline.precedence.files import write_precedence
from pipeline.workfolder.dataset_store import DatasetStore, remove
from pipeline.workfolder.work_folder import WorkFolder, links_of

AT_ONCE = 4  # archives for each process in one job


class MrjobEngine(WorkFolder):
    """One work folder, and a launcher whose temporary folder lies in it."""

    form = "text"
    suffix = ""
    datasets = TEXT

    def __init__(self, work: Path, launcher: Launcher) -> None:
        self.work, self.launcher = work, launcher
        self.store = DatasetStore(work)

    def extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        """Some archives at a time, so that a kill costs no more than those."""
        at_once = AT_ONCE * (self.launcher.processes or 1)
        sizes = [size_of(task.place) for task in tasks]
        for before in range(0, len(tasks), at_once):
            launcher = _counting_from(before, sizes, self.launcher)
            yield from self._extract(tasks[before : before + at_once], options, launcher)

    def _extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions, launcher: Launcher
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        by_path = {str(task.place): task for task in tasks}
        with launcher.scratch("extract-links") as tmp:
            found, seen = tmp / "links", tmp / "captures"
            named = writable_names([task.place for task in tasks], tmp)
            args, side = options.arguments(), {"captures": seen}
            outcome = launch(ExtractLinks, list(named), found, launcher, args, side)
            for report in archive_reports(outcome, named):
                task = by_path[report.path]
                _place(found / report.part, self.path("links") / task.part)
                _place(seen / report.part, self.path("captures") / task.part)
                yield task, report

    def select_links(self, rules: Rules, keep_www: bool) -> Told:
        path = self.path
        remove(path("selected"))
        return asdict(
            select_links(
                [path("links")], [path("captures")], path("selected") if rules.latest else None,
                path("folds"), self.launcher, rules, keep_www=keep_www,
            )
        )  # fmt: skip

    def canonicalize(self, keep_www: bool, folded: bool) -> Told:
        path = self.path
        return asdict(
            steps.canonicalize(
                [links_of(self.work)], [path("captures")], path("canonical_links"), path("uris"),
                self.launcher, folds=[path("folds")] if folded else [], keep_www=keep_www,
            )
        )  # fmt: skip

    def assign_ids(self, nodes: str) -> Told:
        path = self.path
        return asdict(
            steps.assign_ids(
                [path("canonical_links")], [path("uris")], path("input_links"), path("map"),
                self.launcher, nodes=nodes,
            )
        )  # fmt: skip

    def gen_graph(self, nodes: str) -> Told:
        maps = [self.path("map")] if nodes == "all" else []
        links, graph = [self.path("input_links")], self.path("graph")
        return asdict(steps.gen_graph(links, maps, graph, self.launcher))

    def rank(self, stop: Stop, rounds: list[Round], on_round: OnRound) -> list[Round]:
        folder, ranks = self.path("rounds"), self.path("ranks")
        if not rounds:
            remove(folder)
        elif stop.iterations is not None and not (folder / f"round-{len(rounds)}").exists():
            return rounds  # they were moved to `ranks` by a run that ended before it said so
        try:
            _, rounds = rank(self.path("graph"), folder, self.launcher, stop, rounds, on_round)
        except NotConverged:  # for whom they are good enough
            move(scores_in(folder, stop, rounds), ranks)
            raise
        move(scores_in(folder, stop, rounds), ranks)
        return rounds

    def checkpoint(self, stop: Stop, rounds: list[Round]) -> tuple[str, ...]:
        return checkpoint(stop, rounds)

    def join_scores(self, digits: int) -> Told:
        path = self.path
        return asdict(
            steps.join_scores(
                [path("ranks")], [path("map")], path("uris"), path("scores"), self.launcher,
                digits=digits,
            )
        )  # fmt: skip

    def export_precedence(
        self, options: PrecedenceOptions, links: LinkCounts | None = None
    ) -> Told:
        path, tmp = self.path, self.launcher.tmp
        return write_precedence(
            path("scores"), path("uris"), path("precedence.txt"), tmp, options, links=links
        )

    def ranked(self, ties: Ties = "key") -> Ranked:
        graph, ranks = read_graph(self.path("graph")), read_graph(self.path("ranks"))
        tmp = self.launcher.tmp
        captured = captured_columns(
            graph, self.path("uris"), [self.path("map")], tmp, weighed=ties == "links"
        )
        return Ranked(graph, ranks, *captured)


def _place(found: Path, output: Path) -> None:
    output.parent.mkdir(exist_ok=True)
    found.replace(output)


def _counting_from(before: int, sizes: Sequence[int], launcher: Launcher) -> Launcher:
    """The launcher, with progress that counts all archives and not only these. sizes: in bytes."""
    on_task, on_read = launcher.on_task, launcher.on_read
    read_before, size = sum(sizes[:before]), sum(sizes)
    if on_task is not None:
        launcher = replace(
            launcher, on_task=lambda job, done, _: on_task(job, before + done, len(sizes))
        )
    if on_read is not None:
        launcher = replace(launcher, on_read=lambda done, _: on_read(read_before + done, size))
    return launcher
