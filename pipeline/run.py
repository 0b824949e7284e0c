"""`crawlrank run`: all steps in a work folder, each once, going on wherever the last run stopped.

What is done is kept: see step_state.py. Archives are known by their content, so they may be moved;
extraction is kept for each of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from jobs.kernel.captures.choosing import Rules
from jobs.kernel.errors import BadInput
from jobs.kernel.links.pdf_links import require_reader
from jobs.kernel.storage.opening import Place
from jobs.mapreduce.launcher import CLUSTERS
from pipeline.contract import STEPS, Engine, Told
from pipeline.data.allocators import give_back, give_back_at_once
from pipeline.engine_of_run import engine_of
from pipeline.extract_step import ExtractStep
from pipeline.options import PrecedenceOptions, RunOptions, ValidationOptions
from pipeline.precedence.caveats import link_counts
from pipeline.progress import Reporter
from pipeline.rank_report import shared_digits
from pipeline.rank_step import RANK, RankStep
from pipeline.ranking.validation import validate
from pipeline.ranking.validation_report import ValidationReport
from pipeline.reports import write_report
from pipeline.workfolder.imported import SELECT, require_import, steps_of
from pipeline.workfolder.lock import locked
from pipeline.workfolder.manifest import Manifest
from pipeline.workfolder.step_state import Damaged, StepState
from pipeline.workfolder.work_folder import clear_leftovers, refuse_foreign, sweep, temporary

EXTRACT, VALIDATE = "extract-links", "validate-opic"
FORM = {"form": 2}  # of summary and report; folders with an older one make theirs anew


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
        self.extraction = ExtractStep(self.state, engine, options)
        self.ranking = RankStep(self.state, engine, options.stop, reporter)
        self._shown: set[str] = set()  # kept steps that the user was told of

    def all_steps(self, archives: Sequence[Place]) -> None:
        """Every step that is not done; raises the first error, with all before it kept."""
        if self.manifest.imported:
            marks = require_import(self.work, self.manifest, archives, self.options.runner)
            self.state.marks.update(marks)
            self.state.require_imported()
            self._require_no_selection()
        else:
            self.extraction.take(archives)
        self._check_parameters()
        todo = [step for step in self._steps() if step.name not in self.state.marks]
        self.extraction.check()  # the last that may refuse this run
        self.engine.take(self.manifest)
        while not self._pass(todo):
            self._tell_faults()
        self._sweep()

    def _steps(self) -> list[Step]:
        """Those of this run, in order."""
        options, engine = self.options, self.engine
        keep_www, nodes, rules = options.keep_www, options.nodes, options.rules
        steps_in_order = [
            Step(EXTRACT, self.extraction.parameters, self.extraction.work),
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
            Step(RANK, self.ranking.parameters, self.ranking.work),
            Step(
                "join-scores",
                lambda: {"digits": self._digits},
                lambda: engine.join_scores(self._digits),
            ),
            Step(
                "export-precedence",
                lambda: {**asdict(self._precedence), **FORM},
                lambda: engine.export_precedence(self._precedence, link_counts(self.manifest)),
            ),
            Step(VALIDATE, lambda: {**asdict(self._validation), **FORM}, self._opic),
        ]
        here = steps_of(self.manifest, list(STEPS), selects=options.selects)
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
            if not undone.isdisjoint(STEPS[step.name]) or not self._is_done(step):
                undone.add(step.name)
                state.forget(step.name)
        self.extraction.forget()
        manifest.save()
        self._sweep()

    def _sweep(self) -> None:
        """Remove what no step stands for any more."""
        sweep(self.engine.store, self.state.kept(), set(self.manifest.parts))

    def _is_done(self, step: Step) -> bool:
        self.state.mark(step.name, step.parameters())
        pending = step.name == EXTRACT and self.extraction.pending
        return self.state.is_done(step.name) and not pending

    def _pass(self, todo: Sequence[Step]) -> bool:
        """Do what is not done; whether all is. False: a dataset that a step was to read has turned
        out not to be as it was left, and is to be made again."""
        self.extraction.check()
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
            self.extraction.require_readable()
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
        give_back()  # before the next one takes its own share of --memory
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

    # what the parameters of later steps come of

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
        given = self.engine.ranked(self._validation.ties)
        self.report = validate(
            given.graph, given.ranks, self._validation, captured=given.captured,
            preferred=given.preferred,
        )  # fmt: skip
        write_report(self.report, self.work / "report")
        self.report.require()
        classes = self.report.classes
        apart = {"agreement_apart": classes.agreement_apart, "nodes_apart": classes.nodes_apart}
        return {"rows": {"report": 1}, "agreement": classes.agreement, **apart}


def run(work: Path, archives: Sequence[Place], options: RunOptions, reporter: Reporter) -> Run:
    """Run all steps on the archives in the folder `work`; without any, on what was imported."""
    if options.extraction.pdf and options.runner not in CLUSTERS:  # tasks there look for themselves
        require_reader()
    give_back_at_once()
    try:
        with locked(work):
            refuse_foreign(work)
            clear_leftovers(work)
            with temporary(work) as tmp, ExitStack() as stack:
                engine = engine_of(work, options, tmp, reporter, stack)
                this = Run(work, options, engine, reporter)
                this.all_steps(archives)
                return this
    except OSError as error:
        if error.filename is None:  # nobody could say which file it was
            error.filename = str(work)
        raise
    finally:
        reporter.close()


def _shown(value: Any) -> str:
    return "unset" if value is None else str(value)
