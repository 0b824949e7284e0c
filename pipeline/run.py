"""`crawlrank run`: all steps in a work folder, each once, going on wherever the last run stopped.

A step's mark is the fingerprint of its parameters and of the marks of the steps it reads; a step
whose mark is in the manifest is not run again. Archives are known by their content, so they may be
moved; extraction is kept for each of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from jobs.extract_links import parameters_of
from jobs.kernel.choosing import Rules
from jobs.kernel.errors import BadInput
from jobs.kernel.opening import Place
from jobs.launcher import Launcher
from pipeline import steps
from pipeline.archives import (
    Given,
    archive_tasks,
    check_archives,
    entry_of,
    extraction_entry,
    extraction_mark,
    forget_archives,
    given_archives,
    reports,
    sizes_of,
)
from pipeline.claim import claim
from pipeline.cluster_engine import ClusterEngine
from pipeline.embedded import EMBEDDED
from pipeline.embedded.memory import half_of_machine
from pipeline.engine import Engine
from pipeline.imported import KEYS, SELECT, require_import, steps_of
from pipeline.lock import locked
from pipeline.manifest import Manifest, fingerprint
from pipeline.mrjob_engine import MrjobEngine
from pipeline.progress import Reporter
from pipeline.rank_report import shared_digits
from pipeline.ranking import Round
from pipeline.reports import round_line, write_report
from pipeline.run_options import RunOptions
from pipeline.validation import validate
from pipeline.validation_report import ValidationOptions, ValidationReport
from pipeline.work_folder import DATASETS, clear_leftovers, refuse_foreign, remove, temporary

#: step -> the steps that it reads
READS: dict[str, tuple[str, ...]] = {
    "extract-links": (),
    SELECT: ("extract-links",),  # in runs that ask for it
    "canonicalize": ("extract-links", SELECT),
    "assign-ids": ("canonicalize",),
    "gen-graph": ("assign-ids",),
    "page-rank": ("gen-graph",),
    "join-scores": ("page-rank", "canonicalize"),
    "export-precedence": ("join-scores", "canonicalize"),
    "validate-opic": ("page-rank", "assign-ids", "canonicalize"),
}
STEPS = tuple(step for step in READS if step != SELECT)


class Run:
    """One run in a locked work folder."""

    def __init__(self, work: Path, options: RunOptions, engine: Engine, reporter: Reporter) -> None:
        self.work, self.options, self.reporter = work, options, reporter
        self.manifest = Manifest(work)
        self.engine = engine
        self.marks: dict[str, str] = {}
        self.report: ValidationReport | None = None

    def all_steps(self, archives: Sequence[Place]) -> None:
        """Every step that is not done; raises the first error, with all before it kept."""
        if self.manifest.imported:
            self.marks = require_import(self.work, self.manifest, archives, self.options.runner)
        steps_here = steps_of(self.manifest, STEPS)
        self._accept_parameters()
        if not self.marks:
            self._extract(archives)
        self._select()
        if "canonicalize" in steps_here:
            self._graph()
        self._rank()
        self._scores()
        if "export-precedence" in steps_here:
            self._precedence()
        self._validate()

    def path(self, dataset: str) -> Path:
        return self.work / dataset

    def _accept_parameters(self) -> None:
        """Refuse other parameters than those the folder was made with, unless forced."""
        before, now = self.manifest.parameters, self.options.parameters()
        made = self.manifest.archives or self.manifest.steps
        asked = now if not self.manifest.imported or len(before) > 1 else []  # by the first run
        usual = Rules().parameters()  # of folders that were made before there were these
        old = {**usual, **before}
        changed = [name for name in asked if made and old.get(name) != now[name]]
        if changed and not self.options.force:
            name = changed[0]
            raise BadInput(
                str(self.work),
                f"was made with {name} {_shown(old.get(name))}, now it is {_shown(now[name])}",
                "the same options, or a new work folder",
                "With --force, the steps that this changes are done again.",
            )
        if "--runner" in changed:
            self._remove_others()
        before.clear()
        before.update(now)
        self.manifest.save()

    def _remove_others(self) -> None:
        """Datasets that another engine made and this one would leave as they are, for others to
        take for its own."""
        ours = {name for names in self.engine.writes.values() for name in names}
        for name in set(DATASETS) - ours:
            remove(self.path(name))

    def _is_done(self, name: str) -> bool:
        datasets = set(self.engine.writes[name])
        if not self.options.rules.latest:
            datasets.discard("selected")
        there = all(self.engine.has(dataset) for dataset in datasets)
        return there and self.manifest.is_done(name, self.marks[name])

    def _mark(self, name: str, parameters: dict[str, Any]) -> str:
        return fingerprint(
            name, parameters, [self.marks[step] for step in READS[name] if step in self.marks]
        )

    def _begin(self, name: str) -> None:
        """Announce a step; what was made of its earlier output is done no longer."""
        self.reporter.step(name)
        self.manifest.forget(later_steps(name))

    def _step(self, name: str, parameters: dict[str, Any], work: Callable[[], Any]) -> None:
        """Do a step unless its mark says that it was done; record what it returns."""
        mark = self._mark(name, parameters)
        self.marks[name] = mark
        if self._is_done(name):
            self.reporter.step(name, skipped=True)
            return
        self._begin(name)
        started = time.monotonic()
        told = work()
        entry = {"fingerprint": mark, "parameters": parameters, **told}
        entry["seconds"] = round(time.monotonic() - started, 3)
        self.manifest.done(name, entry | self._starting())

    def _extract(self, archives: Sequence[Place]) -> None:
        options, extraction, manifest = self.options, self.options.extraction, self.manifest
        given, skip = given_archives(archives), options.skip_bad_files
        pending = check_archives(
            self.engine, manifest, given, self._archive_mark,
            force=options.force, skip_bad_files=skip,
        )  # fmt: skip
        mark = fingerprint(self.engine.form, parameters_of(extraction), sorted(given))
        self.marks["extract-links"] = mark
        if not pending and self._is_done("extract-links"):
            steps.require_readable(reports(manifest, given), skip, options.strict)
            self.reporter.step("extract-links", skipped=True)
            return
        self._begin("extract-links")
        started = time.monotonic()
        forget_archives(self.engine, manifest, given, pending)
        self._extract_pending({content: given[content] for content in pending})
        steps.require_readable(reports(manifest, given), skip, options.strict)
        entry = extraction_entry(extraction, manifest)
        entry.update(fingerprint=mark, seconds=round(time.monotonic() - started, 3))
        manifest.done("extract-links", entry | self._starting())

    def _starting(self) -> dict[str, Any]:
        """What the jobs of the step took to start and to end, where there were jobs."""
        launcher = getattr(self.engine, "launcher", None)
        return launcher.starting.taken() if launcher else {}

    def _archive_mark(self, content: str) -> str:
        return extraction_mark(self.options.extraction, content, self.engine.form)

    def _extract_pending(self, pending: Given) -> None:
        """Each archive is in the manifest soon after it is done: saving takes a small part of the
        time, however many there are."""
        tasks, sizes = archive_tasks(pending, self.engine.suffix), sizes_of(pending)
        for task, report in self.engine.extract(tasks, self.options.extraction):
            mark = self._archive_mark(task.content)
            self.manifest.archives[task.content] = entry_of(
                report, sizes[task.content], task.part, mark
            )
            self.manifest.save_in_time()
        self.manifest.save()

    def _select(self) -> None:
        """The links that count and what folds; what an earlier run left of either goes if this one
        does not ask for it."""
        rules, keep_www = self.options.rules, self.options.keep_www
        if not self.options.selects:
            if SELECT in self.manifest.steps:
                self.manifest.forget([SELECT, *later_steps(SELECT)])
            for dataset in self.engine.writes[SELECT]:
                self.engine.drop(dataset)
            return
        if self.manifest.imported:
            raise BadInput(
                str(self.work),
                "was made from text files, and --captures latest or --fold is given",
                "archives, which tell when links were found",
                "Use the command select-links on text files.",
            )
        parameters = {**rules._asdict(), "keep_www": keep_www}
        self._step(SELECT, parameters, lambda: self.engine.select_links(rules, keep_www))

    def _graph(self) -> None:
        engine, keep_www, nodes = self.engine, self.options.keep_www, self.options.nodes
        folded = self.options.selects
        self._step(
            "canonicalize", {"keep_www": keep_www}, lambda: engine.canonicalize(keep_www, folded)
        )
        self._step("assign-ids", {"nodes": nodes}, lambda: engine.assign_ids(nodes))
        self._step("gen-graph", {}, lambda: engine.gen_graph(nodes))

    def _rank(self) -> None:
        stop = self.options.stop
        parameters = {
            "iterations": stop.iterations,
            "tolerance": None if stop.iterations is not None else stop.tolerance,
        }
        self._step("page-rank", parameters, lambda: self._rounds(parameters))

    def _rounds(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Rounds from the last one finished; each is in the manifest before the next begins."""
        stop = self.options.stop
        mark = fingerprint("rounds", self.marks["gen-graph"], parameters)
        entry = self.manifest.steps.get("page-rank", {})
        before: list[Round] = entry.get("rounds", []) if entry.get("of") == mark else []

        def save(_: Round, so_far: list[Round]) -> None:
            self.manifest.begun("page-rank", {"of": mark, "rounds": so_far})
            self.reporter.round(round_line(so_far, stop))

        try:
            rounds = self.engine.rank(stop, before, save)
        finally:
            self.manifest.save()  # the last rounds too, for those who allow more of them
        return {"of": mark, "rounds": rounds, "rows": {"ranks": rounds[-1]["nodes"] + 1}}

    @property
    def _eta(self) -> float:
        return float(self.manifest.steps["page-rank"]["rounds"][-1]["eta"])

    @property
    def _digits(self) -> int:
        return shared_digits(self.options.stop, self._eta)

    def _scores(self) -> None:
        digits = self._digits
        self._step("join-scores", {"digits": digits}, lambda: self.engine.join_scores(digits))

    def _precedence(self) -> None:
        options = replace(self.options.precedence, eta=self._eta, digits=self._digits)
        self._step(
            "export-precedence", asdict(options), lambda: self.engine.export_precedence(options)
        )

    def _validate(self) -> None:
        cut = self.options.precedence
        options = replace(
            self.options.validation, bins=cut.bins, ties=cut.ties, digits=self._digits,
            classes_over=cut.classes_over,
        )  # fmt: skip
        name, parameters = "validate-opic", asdict(options)
        self.marks[name] = self._mark(name, parameters)
        if not self._is_done(name):
            self.manifest.forget([name])  # nobody is shown an old one, whatever comes of this
        if self.options.validate:
            self._step(name, parameters, lambda: self._opic(options))

    def _opic(self, options: ValidationOptions) -> dict[str, Any]:
        graph, ranks, captured = self.engine.ranked()
        self.report = validate(graph, ranks, options, captured=captured)
        write_report(self.report, self.work / "report")
        self.report.require()
        return {"rows": {"report": 1}, "agreement": self.report.classes.agreement}


def run(work: Path, archives: Sequence[Place], options: RunOptions, reporter: Reporter) -> Run:
    """Run all steps on the archives in the folder `work`; without any, on what was imported."""
    try:
        with locked(work):
            refuse_foreign(work)
            clear_leftovers(work)
            with temporary(work) as tmp, ExitStack() as stack:
                engine = _engine(work, options, tmp, reporter, stack)
                this = Run(work, options, engine, reporter)
                this.all_steps(archives)
                return this
    except OSError as error:
        if error.filename is None:  # nobody could say which file it was
            error.filename = str(work)
        raise
    finally:
        reporter.close()


def _engine(
    work: Path, options: RunOptions, tmp: Path, reporter: Reporter, stack: ExitStack
) -> Engine:
    """What it starts ends with the stack."""
    if options.runner == EMBEDDED:
        from pipeline.embedded.engine import EmbeddedEngine  # what it imports takes a while

        processes = options.processes or os.cpu_count() or 1
        memory = options.memory or half_of_machine()
        keyed = Manifest(work).imported.get("kind") == KEYS
        return EmbeddedEngine(work, tmp, memory, processes, reporter.read, keyed=keyed)
    launcher = Launcher(
        options.runner, tmp, options.processes, on_task=reporter.task, on_read=reporter.read
    )
    if options.data:
        claim(options.data, Manifest(work))
        launcher = replace(
            launcher, data=options.data, ranges=options.reducers, conf=options.conf, on_read=None
        )
        if options.conf:  # its package lies beside it
            os.environ.setdefault("CRAWLRANK_PACKAGE", str(options.conf.resolve().parent))
        if options.runner == "emr":
            from pipeline.emr_cluster import cluster_of_run

            cluster = stack.enter_context(cluster_of_run(options.conf, tmp))
            launcher = replace(launcher, cluster=cluster)
        return ClusterEngine(work, launcher)
    return MrjobEngine(work, launcher)


def later_steps(name: str) -> list[str]:
    """The steps that read what this one writes, or what those write."""
    later = [name]
    for step, reads in READS.items():
        if not set(reads).isdisjoint(later):
            later.append(step)
    return later[1:]


def _shown(value: Any) -> str:
    return "unset" if value is None else str(value)
