"""The steps of a run by jobs on a cluster, on datasets of text lines that stay where they lie.

At a URL (`--data`) is a folder for every dataset; those of links and captures have one for each
extraction, named by the archives that it read. In the work folder are what a user takes away,
scores, precedence file and report, and the manifest.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from multiprocessing.pool import ThreadPool
from pathlib import Path
from types import MappingProxyType

from jobs import assign_ids, fold_chains, fold_keys, join_scores, select_links, stores
from jobs.canonicalize import Canonicalize
from jobs.extract_links import ExtractLinks, arguments_of
from jobs.gen_graph import GenGraph
from jobs.kernel.choosing import Rules
from jobs.kernel.extraction import Options
from jobs.kernel.opening import Place, absolute, size_of
from jobs.launch import launch
from jobs.launcher import Launcher
from jobs.select_links import TIMES
from pipeline import steps
from pipeline.captured import captured_nodes
from pipeline.engine import ArchiveTask, OnRound, Ranked, Told
from pipeline.far import NEAR, bringing, links_that_count, of_archives
from pipeline.graph import read_graph
from pipeline.manifest import fingerprint
from pipeline.precedence import Options as PrecedenceOptions
from pipeline.precedence_files import write_precedence
from pipeline.ranking import Round, Stop, rank
from pipeline.steps import ArchiveReport
from pipeline.work_folder import OF_ARCHIVES, remove

FOR_A_TASK = 1 << 28  # bytes of archives; smaller ones share a task, which takes seconds to start
AT_ONCE = 16


class ClusterEngine:
    """One work folder, and a launcher that knows where the data are."""

    form = "text at a URL"
    suffix = ""
    writes: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {
            "extract-links": OF_ARCHIVES,
            "select-links": ("selected", "folds"),
            "canonicalize": ("canonical_links", "uris"),
            "assign-ids": ("input_links", "map"),
            "gen-graph": ("graph",),
            "page-rank": ("ranks",),
            "join-scores": ("scored",),
            "export-precedence": ("precedence.txt",),
            "validate-opic": ("report",),
        }
    )

    def __init__(self, work: Path, launcher: Launcher) -> None:
        self.work, self.launcher = work, launcher
        self.data = launcher.data or ""

    def place(self, dataset: str) -> Place:
        return self.work / dataset if dataset in NEAR else stores.join(self.data, dataset)

    def has(self, dataset: str) -> bool:
        if dataset in OF_ARCHIVES:
            return True  # their parts are looked at one by one
        return stores.exists(self.place(dataset))

    def drop(self, dataset: str) -> None:
        place = self.place(dataset)
        if isinstance(place, Path):
            remove(place)
        else:
            stores.remove(place)

    # archives

    def has_part(self, part: str) -> bool:
        return all(stores.exists(stores.join(self.data, name, part)) for name in OF_ARCHIVES)

    def keep_parts(self, known: Collection[str]) -> None:
        for name in OF_ARCHIVES:
            folder = stores.join(self.data, name)
            for part in stores.folders(folder):
                if part not in known:
                    stores.remove(stores.join(folder, part))

    def extract(
        self, tasks: Sequence[ArchiveTask], options: Options
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        """All in one job; a cluster starts its tasks anew where they fail."""
        if not tasks:
            return
        part = f"archives-{fingerprint('', {}, [task.content for task in tasks])[:12]}"
        named = {absolute(task.place): task for task in tasks}
        with self.launcher.scratch("archives") as near:
            listed = near / "archives.txt"
            listed.write_text("".join(f"{json.dumps(names)}\n" for names in _shared(named)))
            links, captures = (stores.join(self.data, name, part) for name in OF_ARCHIVES)
            args = [*arguments_of(options), "--listed"]
            outcome = launch(
                ExtractLinks, [listed], links, self.launcher, args, {"captures": captures}
            )
        places = {name: task.place for name, task in named.items()}
        tasks_of = {str(task.place): task for task in tasks}
        for report in steps.archive_reports(outcome, places):
            yield tasks_of[report.path]._replace(part=part), report

    # the graph

    def select_links(self, rules: Rules, keep_www: bool) -> Told:
        selected, folds = self.place("selected"), self.place("folds")
        self.drop("selected")
        self.drop("folds")
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
        return asdict(steps.Result(rows, dict(sorted(counters.items()))))

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
        stores.download(self.place("folds"), path.with_name("parts"))
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
        folder, ranks = stores.join(self.data, "rounds"), self.place("ranks")
        if stop.reached(rounds) and stores.exists(ranks):
            return rounds
        stores.remove(ranks)
        if rounds and not stores.exists(stores.join(folder, f"round-{len(rounds)}")):
            rounds = []
        if not rounds:
            stores.remove(folder)
        last, rounds = rank(self.place("graph"), folder, self.launcher, stop, rounds, on_round)
        stores.rename(last, ranks)
        stores.remove(folder)
        return rounds

    def join_scores(self, digits: int) -> Told:
        inputs, uris = [self.place("ranks"), self.place("map")], self.place("uris")
        scored = self._anew("scored")
        outcome = join_scores.run(inputs, uris, scored, self.launcher, digits=digits)
        self._bring_scores()
        return asdict(steps.result_of(outcome, "scores"))

    def _bring_scores(self) -> None:
        near = self.work / "scores"
        remove(near)
        stores.download(self.place("scored"), near)

    def export_precedence(self, options: PrecedenceOptions) -> Told:
        scores, output = self.work / "scores", self.work / "precedence.txt"
        if not scores.exists():
            self._bring_scores()
        with self.launcher.scratch("uris") as tmp:
            brought = bringing(self.work, self.data, tmp)
            return write_precedence(scores, brought("uris"), output, tmp, options)

    def ranked(self) -> Ranked:
        with self.launcher.scratch("ranked") as tmp:
            brought = bringing(self.work, self.data, tmp)
            graph, ranks = read_graph(brought("graph")), read_graph(brought("ranks"))
            captured = captured_nodes(graph, brought("uris"), [brought("map")], tmp)
            return Ranked(graph, ranks, captured)

    def _anew(self, dataset: str) -> Place:
        """The place of a dataset whose step is done again."""
        self.drop(dataset)
        return self.place(dataset)


def _shared(archives: Collection[str]) -> Iterator[list[str]]:
    """The archives in order, so that a task has at least one and about FOR_A_TASK bytes."""
    with ThreadPool(AT_ONCE) as pool:
        sizes = pool.map(size_of, archives)
    group, held = list[str](), 0
    for name, size in zip(archives, sizes, strict=True):
        if group and held + size > FOR_A_TASK:
            yield group
            group, held = [], 0
        group.append(name)
        held += size
    yield group
