"""`crawlrank run`: all steps in a work folder, each once, going on wherever the last run stopped.

What is done is kept: see step_state.py. Archives are known by their content, so they may be moved;
extraction is kept for each of them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from jobs.extract_links import parameters_of
from jobs.kernel.choosing import Rules
from jobs.kernel.errors import BadInput
from jobs.kernel.opening import Place
from jobs.launcher import Launcher
from jobs.orphans import end_orphans
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
from pipeline.dataset_store import Record
from pipeline.embedded import EMBEDDED
from pipeline.embedded.memory import half_of_machine
from pipeline.engine import Engine, Told
from pipeline.imported import KEYS, SELECT, require_import, steps_of
from pipeline.lock import locked
from pipeline.manifest import Manifest
from pipeline.mrjob_engine import MrjobEngine
from pipeline.precedence import Options as PrecedenceOptions
from pipeline.progress import Reporter
from pipeline.rank_report import shared_digits
from pipeline.ranking import Round
from pipeline.reports import round_line, write_report
from pipeline.run_options import RunOptions
from pipeline.step_state import READS, Damaged, StepState
from pipeline.validation import validate
from pipeline.validation_report import ValidationOptions, ValidationReport
from pipeline.work_folder import clear_leftovers, refuse_foreign, sweep, temporary

EXTRACT, RANK, VALIDATE = "extract-links", "page-rank", "validate-opic"


class Step(NamedTuple):
    """A step of a run. parameters: asked for when the steps that it reads are done, as some come of
    these. work: does it, and returns what the manifest says of it."""

    name: str
    parameters: Callable[[], dict[str, Any]]
    work: Callable[[], Told]


class Run:
    """One run in a locked work folder."""

    def __init__(self, work: Path, options: RunOptions, engine: Engine, reporter: Reporter) -> None:
        self.work, self.options, self.reporter = work, options, reporter
        self.manifest = Manifest(work)
        self.engine = engine
        self.state = StepState(self.manifest, engine)
        self.report: ValidationReport | None = None
        self._given: Given = {}
        self._pending: list[str] = []  # archives to extract, by content
        self._shown: set[str] = set()  # kept steps that the user was told of

    def all_steps(self, archives: Sequence[Place]) -> None:
        """Every step that is not done; raises the first error, with all before it kept."""
        if self.manifest.imported:
            marks = require_import(self.work, self.manifest, archives, self.options.runner)
            self.state.marks.update(marks)
            self.state.require_imported()
            self._require_no_selection()
        else:
            self._given = given_archives(archives)
        self._check_parameters()
        todo = [step for step in self._steps() if step.name not in self.state.marks]
        while not self._pass(todo):
            self._tell_faults()
        self._sweep()

    def _steps(self) -> list[Step]:
        """Those of this run, in order."""
        options, engine = self.options, self.engine
        keep_www, nodes, rules = options.keep_www, options.nodes, options.rules
        steps_in_order = [
            Step(EXTRACT, self._extraction_parameters, self._extract),
            Step(
                SELECT,
                lambda: {**rules._asdict(), "keep_www": keep_www},
                lambda: engine.select_links(rules, keep_www),
            ),
            Step(
                "canonicalize",
                lambda: {"keep_www": keep_www},
                lambda: engine.canonicalize(keep_www, options.selects),
            ),
            Step("assign-ids", lambda: {"nodes": nodes}, lambda: engine.assign_ids(nodes)),
            Step("gen-graph", dict, lambda: engine.gen_graph(nodes)),
            Step(RANK, self._stop_parameters, self._rank),
            Step(
                "join-scores",
                lambda: {"digits": self._digits},
                lambda: engine.join_scores(self._digits),
            ),
            Step(
                "export-precedence",
                lambda: asdict(self._precedence),
                lambda: engine.export_precedence(self._precedence),
            ),
            Step(VALIDATE, lambda: asdict(self._validation), self._opic),
        ]
        here = steps_of(self.manifest, list(READS), selects=options.selects)
        return [step for step in steps_in_order if step.name in here]

    # what is done, and what is to be done

    def _check_parameters(self) -> None:
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

    def _require_no_selection(self) -> None:
        if self.options.selects:
            raise BadInput(
                str(self.work),
                "was made from text files, and --captures latest or --fold is given",
                "archives, which tell when links were found",
                "Use the command select-links on text files.",
            )

    def _check_archives(self) -> None:
        """Which archives are to be extracted. Raises BadInput for others than before, unless
        forced."""
        if not self.manifest.imported:
            self._pending = check_archives(
                self.state.part_is_whole, self.manifest, self._given, self._archive_mark,
                force=self.options.force, skip_bad_files=self.options.skip_bad_files,
            )  # fmt: skip

    def _settle(self, todo: Sequence[Step]) -> None:
        """Forget, in one save with the parameters of this run, every step that these do not leave
        as it is; then remove what it has left."""
        manifest, state = self.manifest, self.state
        manifest.parameters.clear()
        manifest.parameters.update(self.options.parameters())
        names = {step.name for step in todo} | state.marks.keys()
        for name in [name for name in manifest.steps if name not in names]:
            state.forget(name)
        undone: set[str] = set()
        for step in todo:
            if not undone.isdisjoint(READS[step.name]) or not self._is_done(step):
                undone.add(step.name)
                state.forget(step.name)
        forget_archives(manifest, self._given, self._pending)
        manifest.save()
        self._sweep()

    def _sweep(self) -> None:
        """Remove what no step stands for any more."""
        sweep(self.engine.store, self.state.kept(), set(self.manifest.parts))

    def _is_done(self, step: Step) -> bool:
        self.state.mark(step.name, step.parameters())
        return self.state.is_done(step.name) and not (step.name == EXTRACT and self._pending)

    def _pass(self, todo: Sequence[Step]) -> bool:
        """Do what is not done; whether all is. False: a dataset that a step was to read has turned
        out not to be as it was left, and is to be made again."""
        self._check_archives()
        self._settle(todo)
        self._tell_faults()
        for step in todo:
            if self._is_done(step):
                self._keep(step.name)
            elif step.name != VALIDATE or self.options.validate:
                try:
                    self.state.require_inputs(step.name)
                except Damaged:
                    return False
                self._do(step)
        return True

    def _keep(self, name: str) -> None:
        if name == EXTRACT:
            self._require_readable()
        if name not in self._shown:
            self._shown.add(name)
            self.reporter.step(name, skipped=True)

    def _do(self, step: Step) -> None:
        """Do a step whose entry is gone, and enter it when all that it left is on the disk."""
        name, parameters = step.name, step.parameters()
        if self.state.forget(name):
            self.manifest.save()
        self.reporter.step(name)
        started = time.monotonic()
        entry = {"fingerprint": self.state.marks[name], "parameters": parameters, **step.work()}
        entry["datasets"] = self.state.record(name) if name != EXTRACT else {}
        entry["seconds"] = round(time.monotonic() - started, 3)
        self.manifest.done(name, entry | self._starting())
        if name == RANK:
            self.engine.store.drop("rounds")

    def _starting(self) -> dict[str, Any]:
        """What the jobs of the step took to start and to end, where there were jobs."""
        launcher = getattr(self.engine, "launcher", None)
        return launcher.starting.taken() if launcher else {}

    def _tell_faults(self) -> None:
        for fault in self.state.take_faults():
            self.reporter.note(f"{fault}: it is made again")

    # archives

    def _extraction_parameters(self) -> dict[str, Any]:
        options = parameters_of(self.options.extraction)
        return {"form": self.engine.form, "archives": sorted(self._given), **options}

    def _extract(self) -> Told:
        self._extract_pending({content: self._given[content] for content in self._pending})
        self._pending = []
        self._require_readable()
        return extraction_entry(self.options.extraction, self.manifest)

    def _require_readable(self) -> None:
        given = reports(self.manifest, self._given)
        steps.require_readable(given, self.options.skip_bad_files, self.options.strict)

    def _archive_mark(self, content: str) -> str:
        return extraction_mark(self.options.extraction, content, self.engine.form)

    def _extract_pending(self, pending: Given) -> None:
        """Each archive is in the manifest soon after it is done: saving takes a small part of the
        time, however many there are."""
        manifest = self.manifest
        tasks, sizes = archive_tasks(pending, self.engine.suffix), sizes_of(pending)
        try:
            for task, report in self.engine.extract(tasks, self.options.extraction):
                if task.part not in manifest.parts:
                    self.state.record_part(task.part)
                mark = self._archive_mark(task.content)
                size = sizes[task.content]
                manifest.archives[task.content] = entry_of(report, size, task.part, mark)
                if manifest.due:
                    manifest.save()
        finally:
            manifest.save()

    # ranking

    def _stop_parameters(self) -> dict[str, Any]:
        stop = self.options.stop
        tolerance = None if stop.iterations is not None else stop.tolerance
        return {"iterations": stop.iterations, "tolerance": tolerance}

    def _rank(self) -> Told:
        """Rounds from the last one that was entered; each is in the manifest soon after it."""
        stop, mark = self.options.stop, self.state.marks[RANK]
        rounds: list[Round] = []
        records: dict[str, Record] = {}

        def enter(so_far: list[Round]) -> None:
            names = self.engine.checkpoint(stop, so_far)
            kept = {name: records.get(name) or self.engine.store.record(name) for name in names}
            records.clear()
            records.update(kept)
            progress = {"of": mark, "rounds": so_far, "checkpoint": kept}
            self.manifest.begun(RANK, progress)
            self.manifest.save()

        def on_round(_: Round, so_far: list[Round]) -> bool:
            rounds[:] = so_far
            self.reporter.round(round_line(so_far, stop))
            if due := self.manifest.due:
                enter(list(so_far))
            return due

        before = self.state.intact_rounds(RANK, stop)
        try:
            rounds = self.engine.rank(stop, before, on_round)
        except BaseException:
            if len(rounds) > len(before):
                enter(rounds)  # for those who allow more of them
            raise
        return {"rounds": rounds, "rows": {"ranks": rounds[-1]["nodes"] + 1}}

    @property
    def _eta(self) -> float:
        return float(self.manifest.steps[RANK]["rounds"][-1]["eta"])

    @property
    def _digits(self) -> int:
        return shared_digits(self.options.stop, self._eta)

    @property
    def _precedence(self) -> PrecedenceOptions:
        return replace(self.options.precedence, eta=self._eta, digits=self._digits)

    @property
    def _validation(self) -> ValidationOptions:
        cut = self.options.precedence
        return replace(
            self.options.validation, bins=cut.bins, ties=cut.ties, digits=self._digits,
            classes_over=cut.classes_over,
        )  # fmt: skip

    def _opic(self) -> Told:
        graph, ranks, captured = self.engine.ranked()
        self.report = validate(graph, ranks, self._validation, captured=captured)
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
        end_orphans(launcher)
        if options.runner == "emr":
            from pipeline.emr_cluster import cluster_of_run

            cluster = stack.enter_context(cluster_of_run(options.conf, tmp, options.data))
            launcher = replace(launcher, cluster=cluster)
        return ClusterEngine(work, launcher)
    return MrjobEngine(work, launcher)


def _shown(value: Any) -> str:
    return "unset" if value is None else str(value)
