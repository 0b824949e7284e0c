"""A job made ready so that its next launch follows a ranking.

The order of the steps: read and plan; look up that nothing runs; load the file into the job's state
and look every line up again; write the pages that the crawl begins with, the script that schedules
them, and the beans. So a job whose file does not load keeps its files as they were.

The seeds of the job stay, and with them its scope. The pages are scheduled beside them, with the
hops that they had.
"""

from __future__ import annotations

import difflib
import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import NamedTuple, TextIO

import duckdb

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.heritrix.home import HeritrixFails, HeritrixHome
from crawlrank.pipeline.heritrix.job_beans import JobBeans, Wanted, quota_sheets
from crawlrank.pipeline.heritrix.job_folder import JobFolder, give
from crawlrank.pipeline.heritrix.pages import (
    FirstPage,
    Growth,
    PageRule,
    captured_count,
    choose_none,
    choose_pages,
    chosen_pages,
    left_out,
    other_hosts,
)
from crawlrank.pipeline.heritrix.verification import Verification, load_precedences, verify
from crawlrank.pipeline.precedence.beans import PAGES, PAGES_SCRIPT
from crawlrank.pipeline.steps import SUMMARY
from crawlrank.pipeline.workfolder.rankings import mark_of
from crawlrank.pipeline.workfolder.results.opened import open_finished

IN_SCOPE, ALWAYS, SEED = "in-scope", "always", "seed"  # how a page is scheduled
LOOKED_UP = "looked-up"  # or not
NONE = "-"


@dataclass(frozen=True)
class Recrawl:
    """What is to be done. ranking: the folder of a run, of a ranking or of a plan. rule: which
    pages the crawl begins with; None leaves them to be found. annotate: log the precedence of each
    fetch. is_plan: the file has what is due, and nothing else. grow: the pages become seeds, and
    their folders part of the scope. part: of the sites, and of how many. quotas: of hosts."""

    job: JobFolder
    ranking: Path
    rule: PageRule | None
    annotate: bool
    is_plan: bool = False
    grow: bool = False
    part: tuple[int, int] | None = None
    quotas: Mapping[str, int] = field(default_factory=dict)

    @property
    def precedence(self) -> Path:
        return self.ranking / "precedence.txt"

    def how_of(self, page: FirstPage) -> str:
        """How it is scheduled: what is due, in any case."""
        return ALWAYS if self.is_plan else SEED if self.grow and page.captured else IN_SCOPE


@dataclass(frozen=True)
class PageCounts:
    """How many pages a crawl begins with. uncaptured: only linked to. gone: among the others.
    left_out: lines of the file that are none, by cause: how many, and the first. growth: what
    enters the scope with pages that become seeds. before: URIs that the crawl before captured; None
    for a plan."""

    captured: int
    uncaptured: int
    gone: int
    left_out: dict[str, tuple[int, str]]
    growth: Growth
    before: int | None

    @property
    def count(self) -> int:
        return self.captured + self.uncaptured


@dataclass(frozen=True)
class Preparation:
    """edits: what changes in the beans, a sentence each. beans: the new file. files: those that it
    names, by name. pages: None where the crawl finds them."""

    state: Path
    edits: list[str]
    beans: bytes
    files: dict[str, Path]
    pages: PageCounts | None

    def diff(self, job: JobFolder) -> Iterator[str]:
        """The change of the beans as a unified diff, by line."""
        before, after = (
            data.decode("utf-8", "replace").splitlines()
            for data in (job.beans.read_bytes(), self.beans)
        )
        name = job.beans.name
        yield from difflib.unified_diff(before, after, name, f"{name} (new)", lineterm="")


def prepared(recrawl: Recrawl, tmp: Path) -> Preparation:
    """Read the job and the ranking; nothing is written but files in tmp. Raises BadInput."""
    job = recrawl.job
    _require_precedence(recrawl)
    beans = JobBeans(job.beans.read_bytes(), str(job.beans))
    summary = _summary(recrawl.ranking)
    if recrawl.is_plan:
        _require_plan(recrawl.ranking, summary)
    files = {PAGES: tmp / PAGES, PAGES_SCRIPT: tmp / PAGES_SCRIPT}
    pages = _write_pages(recrawl, summary.bins, beans.seeds(job.path), files[PAGES])
    script = resources.files("crawlrank.pipeline.heritrix").joinpath(PAGES_SCRIPT)
    files[PAGES_SCRIPT].write_bytes(script.read_bytes())
    script_folder = job.folder_of(files)
    sheets = list(quota_sheets(recrawl.quotas))
    wanted = Wanted(summary.unlisted, script_folder, recrawl.annotate, recrawl.part, sheets)
    edits = beans.patched(wanted)
    patched = edits.done()
    if JobBeans(patched, str(job.beans)).patched(wanted).made:
        raise AssertionError("beans that are as wanted are changed again")
    return Preparation(job.path / beans.state_folder(), edits.made, patched, files, pages)


def load_and_verify(home: HeritrixHome, recrawl: Recrawl, state: Path) -> Verification:
    """Load the precedence file into the state of the job, and look up all of it. Raises BadInput,
    HeritrixFails; NotConverged where Heritrix does not find what was loaded."""
    loaded = load_precedences(home, recrawl.precedence, state)
    give(state, recrawl.job.beans)
    verification = verify(home, state, recrawl.precedence)
    if loaded != (lines := verification.counts["lines"]):
        raise HeritrixFails(
            str(state), f"{count_of(loaded, 'line')} loaded", f"{lines:,}, those of the file"
        )
    verification.require(state)
    return verification


def write(recrawl: Recrawl, made: Preparation, tmp: Path) -> bool:
    """Write the files of the job, with what `undo` needs; whether that changes any."""
    beans = tmp / recrawl.job.beans.name
    beans.write_bytes(made.beans)
    return recrawl.job.write(beans, made.files)


def launch_command(home: HeritrixHome, job: JobFolder) -> str:
    """What runs the job to its end without the console."""
    words = ["java", f"-Dheritrix.home={home.folder}", "-cp", home.classes]
    words += ["org.archive.crawler.Heritrix", "-a", "admin:PASSWORD"]
    return shlex.join([*words, "-j", str(job.path.resolve().parent), "-r", job.name])


def _require_precedence(recrawl: Recrawl) -> None:
    if not recrawl.precedence.is_file():
        raise BadInput(
            str(recrawl.precedence), "not there", "the precedence file of a run, ranking or plan",
            "Make it with `crawlrank run`, `rank` or `plan`; a plan has one if a page is due.",
        )  # fmt: skip


class _Summary(NamedTuple):
    """bins: the last class. unlisted: the precedence of URIs that are not in the file.
    planned_from: of a plan, the marks of the rankings that it was made of, by folder."""

    bins: int
    unlisted: int
    planned_from: dict[str, str | None] | None


def _summary(ranking: Path) -> _Summary:
    path = ranking / SUMMARY
    try:
        data = json.loads(path.read_text())
        return _Summary(int(data["bins"]), int(data["unlisted"]), data.get("planned_from"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        cure = "Make it anew with `crawlrank run` or `crawlrank export`."
        raise BadInput(
            str(path), "not there, or damaged", "the summary of the file", cure
        ) from error


def _require_plan(folder: Path, summary: _Summary) -> None:
    """Raise BadInput for what is no plan, or one of rankings that were made anew since. A work
    folder may be on another machine by now."""
    if summary.planned_from is None:
        cure = "A work folder is the argument WORK. Make an older plan anew."
        raise BadInput(str(folder), "no plan", "a folder that `crawlrank plan` has made", cure)
    for work, mark in summary.planned_from.items():
        if Path(work).is_dir() and mark_of(Path(work)) != mark:
            cure = "Make the plan anew with `crawlrank plan`."
            raise BadInput(
                str(folder), f"{work} was ranked anew since", "a plan of what it is", cure
            )


def _write_pages(
    recrawl: Recrawl, bins: int, seeds: Sequence[str], path: Path
) -> PageCounts | None:
    """The pages that the crawl begins with, a line each, as schedule_pages.groovy reads them; then
    a line of each host that has none, which is only looked up. None where no page is scheduled."""
    counts, budget, threads = None, half_of_machine().budget, os.cpu_count() or 1
    with (
        database(path.parent, budget=budget, threads=threads) as (db, spill_dir),
        path.open("w", encoding="utf-8") as file,
    ):
        if recrawl.rule:
            run = (
                None if recrawl.is_plan else open_finished(recrawl.ranking, db, spill_dir, "ranked")
            )
            choose_pages(db, recrawl.precedence, run, recrawl.rule, bins, seeds)
            counts = _write_chosen(recrawl, db, seeds, file)
        else:
            choose_none(db, recrawl.precedence)
        for precedence, uri in other_hosts(db):
            file.write(f"{precedence}\t{uri}\t{NONE}\t{NONE}\t{LOOKED_UP}\n")
    return counts


def _write_chosen(
    recrawl: Recrawl, db: duckdb.DuckDBPyConnection, seeds: Sequence[str], file: TextIO
) -> PageCounts:
    captured, uncaptured, gone, growth = 0, 0, 0, Growth(seeds)
    for page in chosen_pages(db):
        how = recrawl.how_of(page)
        way = (NONE, NONE) if how == SEED else (page.hops or NONE, page.via or NONE)
        fields = (str(page.precedence), page.uri, *way, how)
        file.write("\t".join(fields) + "\n")
        captured += page.captured
        uncaptured += not page.captured
        gone += page.gone
        if how == SEED:
            growth.add(page.uri)
    others, before = left_out(db), None if recrawl.is_plan else captured_count(db)
    if not captured + uncaptured:
        raise BadInput(
            str(recrawl.precedence), "no page of it was captured", "at least one, to begin with",
            "Give more classes or pages, or --seeds-only to let the crawl find them.",
        )  # fmt: skip
    return PageCounts(captured, uncaptured, gone, others, growth, before)
