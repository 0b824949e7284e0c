"""`crawlrank run`: all steps in a work folder, each once, resumed where the last run stopped.

Finished steps are kept (step_state.py), and extraction for each archive, known by its content. The
runner determines the engine.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.links.pdf_links import require_reader
from crawlrank.jobs.mapreduce.launcher import CLUSTERS, Launcher, out_of_reach
from crawlrank.pipeline.data.memory import (
    give_back,
    give_back_at_once,
    half_of_machine,
    peak_memory,
    require_memory_for_text,
)
from crawlrank.pipeline.engines.contract import Engine
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.precedence.caveats import link_counts
from crawlrank.pipeline.progress.reporter import Reporter, ReporterGroup
from crawlrank.pipeline.progress.run_state import Running
from crawlrank.pipeline.ranking.inputs import COMBINE, Combination
from crawlrank.pipeline.ranking.methods import method_of
from crawlrank.pipeline.ranking.validation.report import ValidationReport
from crawlrank.pipeline.ranking.validation.validate import validate
from crawlrank.pipeline.run.extract_step import ExtractStep
from crawlrank.pipeline.run.parameters import (
    LaterParameters,
    check_parameters,
    parameters_of,
    require_no_selection,
    take_parameters,
)
from crawlrank.pipeline.run.rank_step import RankStep
from crawlrank.pipeline.run.reports import write_report
from crawlrank.pipeline.run.step_state import DamagedDataset, StepState
from crawlrank.pipeline.steps import EMBEDDED, RANK, STEPS, StepEntry
from crawlrank.pipeline.workfolder.lock import Lock, locked
from crawlrank.pipeline.workfolder.manifest import (
    KEYS,
    SELECT,
    Invocation,
    Manifest,
    add_run,
    require_import,
    require_manifest,
    steps_of,
)
from crawlrank.pipeline.workfolder.rankings import new_ranking, take_graph
from crawlrank.pipeline.workfolder.received import Given
from crawlrank.pipeline.workfolder.work_folder import (
    OF_RANKING,
    clear_leftovers,
    drop_unknown,
    refuse_foreign,
    sweep,
    temporary,
)

MakeEngine = Callable[[Path, RunOptions, Path, Reporter, ExitStack], Engine]


def engine_of(
    work: Path, options: RunOptions, tmp: Path, reporter: Reporter, stack: ExitStack
) -> Engine:
    """The engine. What it starts ends with the stack."""
    if options.runner == EMBEDDED:
        from crawlrank.pipeline.engines.embedded.engine import EmbeddedEngine  # slow to import

        memory = options.memory or half_of_machine()
        keyed = Manifest(work).imported.get("kind") == KEYS
        return EmbeddedEngine(work, tmp, memory, options.processes, reporter.read, keyed=keyed)
    from crawlrank.pipeline.engines.text.engine import TextEngine  # slow to import, as mrjob is

    launcher = Launcher(
        options.runner, tmp, options.processes, on_task=reporter.task, on_read=reporter.read
    )
    if options.data:
        if why := out_of_reach(options.runner, options.data):
            raise BadInput(options.data, why, "a URL that the runner reaches")
        launcher = replace(
            launcher, data=options.data, ranges=options.reducers, conf=options.conf, on_read=None
        )
        if options.conf:  # its package is in the same folder
            os.environ.setdefault("CRAWLRANK_PACKAGE", str(options.conf.resolve().parent))
        if launcher.traits.held_cluster:
            from crawlrank.pipeline.engines.text.engine import cluster_of_run

            cluster = stack.enter_context(cluster_of_run(options.conf, tmp, options.data))
            launcher = replace(launcher, cluster=cluster)
        if launcher.traits.held_application:
            from crawlrank.jobs.mapreduce.runners.spark import APPLICATION

            stack.callback(APPLICATION.end)
    return TextEngine(work, launcher)


EXTRACT, VALIDATE = "extract-links", "validate-opic"
FORM = {"form": 2}  # of summary and report; a folder with an older form writes both again


class RunStep(NamedTuple):
    """A step of a run. parameters: called when the steps before it are done, because some depend on
    their results. work: does the step and returns its manifest entry."""

    name: str
    parameters: Callable[[], dict[str, Any]]
    work: Callable[[], StepEntry]


class PipelineRun:
    """One run in a locked work folder."""

    def __init__(
        self, work: Path, options: RunOptions, engine: Engine, reporter: Reporter, running: Running
    ) -> None:
        self.work, self.options, self.reporter, self.running = work, options, reporter, running
        self.manifest = Manifest(work)
        self.engine, self.method = engine, method_of(options.ranking_parameters())
        self.state = StepState(self.manifest, engine)
        self.later = LaterParameters(self.manifest, options)
        self.report: ValidationReport | None = None
        self.extraction = ExtractStep(self.state, engine, options, reporter)
        self.ranking = RankStep(self.state, engine, options, reporter)
        self._shown: set[str] = set()  # kept steps that were reported to the user

    def all_steps(self, archives: Sequence[Given]) -> None:
        """Do every step that is not done. Raises the first error; the steps before it are kept."""
        if self.manifest.ranking:
            self.state.take_shared()
        elif self.manifest.imported:
            marks = require_import(self.work, self.manifest, archives, self.options.runner)
            self.state.marks.update(marks)
            self.state.require_imported()
            require_no_selection(self.work, self.options)
        else:
            self.extraction.take(archives)
        check_parameters(self.work, self.manifest, self.options)
        todo = [step for step in self._steps() if step.name not in self.state.marks]
        self._check_archives()  # the last check that may refuse this run
        self.reporter.steps([step.name for step in todo if self._wanted(step)])
        self.engine.take(self.manifest)
        while not self._pass(todo):
            self._report_faults()
        self._sweep()

    def _steps(self) -> list[RunStep]:
        """The steps of this run, in order."""
        options, engine = self.options, self.engine
        www, nodes, rules = options.www, options.nodes, options.rules
        steps_in_order = [
            RunStep(EXTRACT, self.extraction.parameters, self.extraction.work),
            RunStep(
                SELECT,
                lambda: {**rules._asdict(), "www": www},
                lambda: engine.select_links(rules, www),
            ),
            RunStep(
                "canonicalize",
                lambda: {"www": www},
                lambda: engine.canonicalize(www, options.selects),
            ),
            RunStep("assign-ids", lambda: {"nodes": nodes}, lambda: self.extraction.ids(nodes)),
            RunStep("gen-graph", dict, lambda: engine.gen_graph(nodes)),
            RunStep(RANK, self.ranking.parameters, self.ranking.work),
            RunStep(
                "join-scores",
                lambda: {"digits": self.later.digits},
                lambda: engine.join_scores(self.later.digits),
            ),
            RunStep(
                "export-precedence",
                lambda: {**asdict(self.later.precedence), **FORM},
                lambda: engine.export_precedence(self.later.precedence, link_counts(self.manifest)),
            ),
            RunStep(VALIDATE, lambda: {**asdict(self.later.validation), **FORM}, self._opic),
        ]
        every = list(STEPS)
        selects = None if self.manifest.ranking else options.selects
        names = steps_of(self.manifest, every, selects=selects, method=self.method)
        return [step for step in steps_in_order if step.name in names]

    # which steps are done

    def _settle(self, todo: Sequence[RunStep]) -> None:
        """Forget every step that the parameters of this run change, and save the manifest once with
        both; then remove the datasets of those steps."""
        manifest, state = self.manifest, self.state
        parameters = parameters_of(self.work, self.manifest, self.options)
        manifest.parameters.clear()
        manifest.parameters.update(parameters)
        names = {step.name for step in todo} | state.marks.keys()
        for name in [name for name in manifest.steps if name not in names]:
            state.forget(name)
        undone: set[str] = set()
        for step in todo:
            if not undone.isdisjoint(STEPS[step.name]) or not self._is_done(step):
                undone.add(step.name)
                state.forget(step.name)
        if not manifest.ranking:
            self.extraction.forget()
        manifest.save()
        self._sweep()

    def _check_archives(self) -> None:
        if not self.manifest.ranking:
            self.extraction.check()

    def _sweep(self) -> None:
        """Remove datasets that belong to no step any more."""
        if self.manifest.ranking:
            drop_unknown(self.engine.store, self.state.kept(), OF_RANKING)
        else:
            parts = {name for records in self.manifest.parts.values() for name in records}
            sweep(self.engine.store, self.state.kept(), parts)

    def _is_done(self, step: RunStep) -> bool:
        self.state.mark(step.name, step.parameters())
        pending = step.name == EXTRACT and self.extraction.pending
        return self.state.is_done(step.name) and not pending

    def _pass(self, todo: Sequence[RunStep]) -> bool:
        """Do the steps that are not done. Returns False when a dataset that a step reads turns out
        to be changed or damaged, so that another pass has to make it again."""
        self._check_archives()
        self._settle(todo)
        self._report_faults()
        for step in todo:
            if self._is_done(step):
                self._keep(step.name)
            elif self._wanted(step):
                try:
                    self.state.require_inputs(step.name)
                except DamagedDataset:
                    return False
                self._do(step)
        return True

    def _wanted(self, step: RunStep) -> bool:
        return step.name != VALIDATE or self.options.validate

    def _keep(self, name: str) -> None:
        if name == EXTRACT:
            self.extraction.require_readable()
        if name not in self._shown:
            self._shown.add(name)
            self.reporter.step(name, skipped=True)

    def _do(self, step: RunStep) -> None:
        """Do a step, and enter it in the manifest when all its datasets are on the disk."""
        name, parameters = step.name, step.parameters()
        if self.state.forget(name):
            self.manifest.save()
        self.reporter.step(name)
        started = time.monotonic()
        entry = {"fingerprint": self.state.marks[name], "parameters": parameters, **step.work()}
        give_back()  # before the next step takes its share of --memory
        entry["datasets"] = self.state.record(name) if name != EXTRACT else {}
        entry["seconds"] = round(time.monotonic() - started + self.running.before, 3)
        entry |= {"memory": peak_memory(), "python": platform.python_version()}
        self.manifest.done(name, entry | self._starting())
        self.reporter.done(name, entry)
        if name == RANK:
            self.engine.store.drop("rounds")

    def _starting(self) -> dict[str, Any]:
        """The seconds that the jobs of the step took to start and to end, if it had jobs."""
        launcher = getattr(self.engine, "launcher", None)
        return launcher.starting.taken() if launcher else {}

    def _report_faults(self) -> None:
        for fault in self.state.take_faults():
            self.reporter.note(f"{fault}: it is made again")

    def _opic(self) -> StepEntry:
        options = self.later.validation
        if self.options.runner != EMBEDDED:
            counts = self.manifest.steps.get("gen-graph", {}).get("counters", {})
            sizes = counts.get("edges", 0), counts.get("nodes", 0)
            require_memory_for_text(VALIDATE, *sizes, cure="--no-validate")
        data = self.engine.validation_input(options.ties)
        ranked = data.graph, data.ranks, options
        self.report = validate(*ranked, captured=data.captured, preferred=data.preferred)
        write_report(self.report, self.work / "report")
        self.report.require()
        names = ("agreement", "agreement_apart", "nodes_apart", "nodes_open")
        return {"rows": {"report": 1}} | {n: getattr(self.report.classes, n) for n in names}


def rank(
    work: Path, label: str, options: RunOptions, reporter: Reporter,
    invocation: Invocation | None = None,
) -> PipelineRun:  # fmt: skip
    """Make a ranking beside that of the run in the folder `work`, with the options that a ranking
    has; the others are those of the run. Raises BadInput where there is no graph to rank."""
    require_manifest(work)
    folder = new_ranking(work, label)
    with locked(work), locked(folder) as lock:
        made_of: Combination | None = options.inputs.get(COMBINE.option)
        take_graph(work, folder, dict(made_of.marks) if made_of else {})
        take_parameters(folder)
        return _locked_run(folder, (), options, reporter, lock, invocation)


def run(
    work: Path,
    archives: Sequence[Given],
    options: RunOptions,
    reporter: Reporter,
    invocation: Invocation | None = None,
    make_engine: MakeEngine = engine_of,
) -> PipelineRun:
    """Run all steps in the folder `work`, on the archives, or without any on what was imported.
    invocation: the command that asks for it, for `crawlrank status`. make_engine: its engine."""
    if options.extraction.pdf and options.runner not in CLUSTERS:  # there each task checks
        require_reader()
    refuse_foreign(work)
    with locked(work) as lock:
        return _locked_run(work, archives, options, reporter, lock, invocation, make_engine)


def _locked_run(
    work: Path,
    archives: Sequence[Given],
    options: RunOptions,
    reporter: Reporter,
    lock: Lock,
    invocation: Invocation | None,
    make_engine: MakeEngine = engine_of,
) -> PipelineRun:
    give_back_at_once()
    reporter = ReporterGroup(running := Running(lock, Manifest(work), invocation), reporter)
    try:
        clear_leftovers(work)
        with temporary(work) as tmp, ExitStack() as stack:
            engine = make_engine(work, options, tmp, reporter, stack)
            pipeline_run = PipelineRun(work, options, engine, reporter, running)
            add_run(pipeline_run.manifest, invocation, lock.last)
            pipeline_run.all_steps(archives)
            return pipeline_run
    except BaseException as error:
        if isinstance(error, OSError) and type(error) is not BrokenPipeError and not error.filename:
            error.filename = str(work)  # the system does not say which
        reporter.failed(error)
        raise
    finally:
        reporter.close()
