"""`crawlrank run`: all steps in a work folder, each once, going on wherever the last run stopped.

A step's mark is the fingerprint of its parameters and of the marks of the steps it reads; a step
whose mark is in the manifest is not run again. Archives are known by their content, so they may be
moved; extraction is kept for each of them.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from jobs.kernel.errors import BadInput
from jobs.kernel.opening import Place
from jobs.launch import Launcher, plain_path
from pipeline import steps
from pipeline.archives import Extraction, check_archives, given_archives, reports
from pipeline.beans import beans_fragment
from pipeline.captured import captured_nodes
from pipeline.datasets import move, require_name, write_file
from pipeline.graph import read_graph
from pipeline.lock import locked
from pipeline.manifest import Manifest, fingerprint
from pipeline.precedence import Options as PrecedenceOptions
from pipeline.precedence import export_precedence
from pipeline.progress import Reporter
from pipeline.rank_report import shared_digits
from pipeline.ranking import Round, Stop, rank
from pipeline.reports import round_line, write_report
from pipeline.validation import validate
from pipeline.validation_report import ValidationOptions, ValidationReport

#: step -> the steps that it reads
READS: dict[str, tuple[str, ...]] = {
    "extract-links": (),
    "canonicalize": ("extract-links",),
    "assign-ids": ("canonicalize",),
    "gen-graph": ("assign-ids",),
    "page-rank": ("gen-graph",),
    "join-scores": ("page-rank", "canonicalize"),
    "export-precedence": ("join-scores", "canonicalize"),
    "validate-opic": ("page-rank", "assign-ids", "canonicalize"),
}
#: step -> what it leaves in the work folder
WRITES: dict[str, tuple[str, ...]] = {
    "extract-links": ("links", "captures"),
    "canonicalize": ("canonical_links", "uris"),
    "assign-ids": ("input_links", "map"),
    "gen-graph": ("graph",),
    "page-rank": ("ranks",),
    "join-scores": ("scores",),
    "export-precedence": ("precedence.txt",),
    "validate-opic": ("report",),
}
STEPS = tuple(READS)
BEANS = "crawler-beans-fragment.xml"
TMP = ".crawlrank-tmp"
FILES = ("manifest.json", "precedence.summary.json", BEANS)


@dataclass(frozen=True)
class RunOptions:
    """What a run is asked for. Runner, processes, the bound on rounds and what to do about damage
    do not change results and may differ from one run in a folder to the next."""

    runner: str = "local"
    processes: int | None = None
    extraction: Extraction = field(default_factory=Extraction)
    keep_www: bool = False
    nodes: str = "linked"
    stop: Stop = field(default_factory=Stop)
    precedence: PrecedenceOptions = field(default_factory=PrecedenceOptions)
    validation: ValidationOptions = field(default_factory=ValidationOptions)
    validate: bool = True
    strict: bool = False
    skip_bad_files: bool = False
    force: bool = False

    def parameters(self) -> dict[str, Any]:
        """What results depend on, by option name."""
        stop, precedence = self.stop, self.precedence
        return {
            **self.extraction.parameters(),
            "--keep-www": self.keep_www,
            "--nodes": self.nodes,
            "--iterations": stop.iterations,
            "--tolerance": None if stop.iterations is not None else stop.tolerance,
            "--bins": precedence.bins,
            "--unlisted": precedence.unlisted_precedence,
            "--classes-over": precedence.classes_over,
            "--ties": precedence.ties,
            "--spellings": precedence.spellings,
        }


class Run:
    """One run in a locked work folder."""

    def __init__(self, work: Path, options: RunOptions, reporter: Reporter) -> None:
        self.work, self.options, self.reporter = work, options, reporter
        self.manifest = Manifest(work)
        self.launcher = Launcher(
            options.runner, work / TMP, options.processes, on_task=reporter.task
        )
        self.marks: dict[str, str] = {}
        self.report: ValidationReport | None = None

    def all_steps(self, archives: Sequence[Place]) -> None:
        """Every step that is not done; raises the first error, with all before it kept."""
        self._refuse_foreign_folder()
        self._accept_parameters()
        self._clear_leftovers()
        tmp = self.launcher.tmp
        tmp.mkdir(exist_ok=True)
        try:
            with plain_path(tmp) as near:
                self.launcher = replace(self.launcher, tmp=near)
                self._extract(archives)
                self._graph()
                self._rank()
                self._scores()
                self._precedence()
                self._validate()
        finally:
            shutil.rmtree(tmp, ignore_errors=True)

    def path(self, dataset: str) -> Path:
        return self.work / dataset

    def _refuse_foreign_folder(self) -> None:
        """A folder without manifest is no work folder: what is in it would be overwritten. Nor is
        one inside a work folder: it could be a dataset of that."""
        for parent in self.work.resolve().parents:
            if (parent / "manifest.json").exists() and (parent / ".lock").exists():
                raise BadInput(
                    str(self.work),
                    f"lies inside the work folder {parent}",
                    "a folder of its own",
                    "Name another one with --work.",
                )
        there = [name for names in WRITES.values() for name in names if self.path(name).exists()]
        if there and not self.manifest.path.exists():
            raise BadInput(
                str(self.work),
                f"holds `{there[0]}`, but no manifest.json",
                "a new folder, or one that `crawlrank run` has made",
                "Name another one with --work.",
            )

    def _clear_leftovers(self) -> None:
        """Remove what a killed run could not, by the names that only crawlrank gives."""
        names = [name for written in WRITES.values() for name in written] + list(FILES)
        patterns = [f".{name}.{end}" for name in names for end in ("part", "[0-9]*.part", "old")]
        patterns += [".crawlrank-*", "report/.report.json.[0-9]*.part"]
        for path in [path for pattern in patterns for path in self.work.glob(pattern)]:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()

    def _accept_parameters(self) -> None:
        """Refuse other parameters than those the folder was made with, unless forced."""
        before, now = self.manifest.parameters, self.options.parameters()
        made = self.manifest.archives or self.manifest.steps
        changed = [name for name in now if made and before.get(name) != now[name]]
        if changed and not self.options.force:
            name = changed[0]
            raise BadInput(
                str(self.work),
                f"was made with {name} {_shown(before.get(name))}, now it is {_shown(now[name])}",
                "the same options, or a new work folder",
                "With --force, the steps that this changes are done again.",
            )
        before.clear()
        before.update(now)
        self.manifest.save()

    def _is_done(self, name: str) -> bool:
        there = all(self.path(dataset).exists() for dataset in WRITES[name])
        return there and self.manifest.is_done(name, self.marks[name])

    def _mark(self, name: str, parameters: dict[str, Any]) -> str:
        return fingerprint(name, parameters, [self.marks[step] for step in READS[name]])

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
        self.manifest.done(name, entry)

    def _extract(self, archives: Sequence[Place]) -> None:
        given, options, extraction = given_archives(archives), self.options, self.options.extraction
        skip = options.skip_bad_files
        pending = check_archives(
            self.work, self.manifest, given, extraction, force=options.force, skip_bad_files=skip
        )
        mark = fingerprint(extraction.parameters(), sorted(given))
        self.marks["extract-links"] = mark
        if not pending and self._is_done("extract-links"):
            steps.require_readable(reports(self.manifest, given), skip, options.strict)
            self.reporter.step("extract-links", skipped=True)
            return
        self._begin("extract-links")
        started = time.monotonic()
        kept = extraction.run(self.work, self.manifest, given, pending, self.launcher)
        steps.require_readable(kept, skip, options.strict)
        entry = extraction.entry(self.manifest)
        entry.update(fingerprint=mark, seconds=round(time.monotonic() - started, 3))
        self.manifest.done("extract-links", entry)

    def _graph(self) -> None:
        path, launcher, nodes = self.path, self.launcher, self.options.nodes
        keep_www = self.options.keep_www
        self._step(
            "canonicalize",
            {"keep_www": keep_www},
            lambda: asdict(
                steps.canonicalize(
                    [path("links")], [path("captures")], path("canonical_links"), path("uris"),
                    launcher, keep_www=keep_www,
                )
            ),
        )  # fmt: skip
        self._step(
            "assign-ids",
            {"nodes": nodes},
            lambda: asdict(
                steps.assign_ids(
                    [path("canonical_links")], [path("uris")], path("input_links"), path("map"),
                    launcher, nodes=nodes,
                )
            ),
        )  # fmt: skip
        maps = [path("map")] if nodes == "all" else []
        self._step(
            "gen-graph",
            {},
            lambda: asdict(
                steps.gen_graph([path("input_links")], maps, path("graph"), launcher)
            ),
        )  # fmt: skip

    def _rank(self) -> None:
        stop = self.options.stop
        parameters = {
            "iterations": stop.iterations,
            "tolerance": None if stop.iterations is not None else stop.tolerance,
        }
        self._step("page-rank", parameters, lambda: self._rounds(parameters))

    def _rounds(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Rounds from the last one finished; each is in the manifest before the next begins."""
        stop, folder, ranks = self.options.stop, self.work / "rounds", self.path("ranks")
        mark = fingerprint("rounds", self.marks["gen-graph"], parameters)
        entry = self.manifest.steps.get("page-rank", {})
        rounds: list[Round] = entry.get("rounds", []) if entry.get("of") == mark else []
        moved = stop.reached(rounds) and ranks.exists()
        if not rounds or not (moved or (folder / f"round-{len(rounds)}").exists()):
            rounds = []
            shutil.rmtree(folder, ignore_errors=True)

        def save(_: Round, so_far: list[Round]) -> None:
            self.manifest.done("page-rank", {"of": mark, "rounds": so_far})
            self.reporter.round(round_line(so_far, stop))

        last, rounds = rank(self.path("graph"), folder, self.launcher, stop, rounds, save)
        if last.exists():  # otherwise a run was stopped between this move and its entry
            move(last, ranks)
        shutil.rmtree(folder, ignore_errors=True)
        return {"of": mark, "rounds": rounds, "rows": {"ranks": rounds[-1]["nodes"] + 1}}

    @property
    def _eta(self) -> float:
        return float(self.manifest.steps["page-rank"]["rounds"][-1]["eta"])

    @property
    def _digits(self) -> int:
        return shared_digits(self.options.stop, self._eta)

    def _scores(self) -> None:
        digits, path = self._digits, self.path
        self._step(
            "join-scores",
            {"digits": digits},
            lambda: asdict(
                steps.join_scores(
                    [path("ranks")], [path("map")], path("uris"), path("scores"), self.launcher,
                    digits=digits,
                )
            ),
        )  # fmt: skip

    def _precedence(self) -> None:
        asked = self.options.precedence
        options = replace(asked, eta=self._eta, digits=self._digits)
        self._step(
            "export-precedence",
            asdict(options),
            lambda: write_precedence(
                self.path("scores"), self.path("uris"), self.work / "precedence.txt",
                self.launcher.tmp, options,
            ),
        )  # fmt: skip

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
        graph, ranks = read_graph(self.path("graph")), read_graph(self.path("ranks"))
        captured = captured_nodes(graph, self.path("uris"), [self.path("map")], self.launcher.tmp)
        self.report = validate(graph, ranks, options, captured=captured)
        write_report(self.report, self.work / "report")
        self.report.require()
        return {"rows": {"report": 1}, "agreement": self.report.classes.agreement}


def write_precedence(
    scores: Path, uris: Path | None, output: Path, tmp: Path, options: PrecedenceOptions
) -> dict[str, Any]:
    """The precedence file, and beside it the beans that use it and the summary."""
    require_name(output)
    plain = output.with_suffix("") if output.suffix == ".gz" else output
    beans = beans_fragment(unlisted=options.unlisted_precedence)
    summary = export_precedence(scores, uris, output, tmp, options)
    summary.write(plain.with_suffix(".summary.json"))
    write_file([beans.encode()], output.with_name(BEANS))
    return {"rows": {"precedence": summary.uris}}


def run(work: Path, archives: Sequence[Place], options: RunOptions, reporter: Reporter) -> Run:
    """Run all steps on the archives in the folder `work`."""
    try:
        with locked(work):
            this = Run(work, options, reporter)
            this.all_steps(archives)
            return this
    finally:
        reporter.close()


def later_steps(name: str) -> list[str]:
    """The steps that read what this one writes, or what those write."""
    later = [name]
    for step, reads in READS.items():
        if not set(reads).isdisjoint(later):
            later.append(step)
    return later[1:]


def _shown(value: Any) -> str:
    return "unset" if value is None else str(value)
