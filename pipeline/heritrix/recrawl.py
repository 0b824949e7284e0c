"""A job made ready so that its next launch follows a ranking.

The order of the steps: read and plan; look up that nothing runs; load the file into the job's state
and look every line up again; write seeds and beans. So a job whose file does not load keeps its
files as they were.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from jobs.kernel.errors import BadInput, count_of
from pipeline.contract import SUMMARY
from pipeline.data.database import database
from pipeline.data.memory import half_of_machine
from pipeline.heritrix import precedence_store
from pipeline.heritrix.home import HeritrixFails, HeritrixHome
from pipeline.heritrix.job_beans import JobBeans, Wanted
from pipeline.heritrix.job_folder import JobFolder
from pipeline.heritrix.pages import SeedRule, seeds
from pipeline.heritrix.verification import Verification, verify
from pipeline.workfolder.results.opened import open_finished

SEEDS = "seeds.txt"


@dataclass(frozen=True)
class Recrawl:
    """What is to be done. ranking: the folder of a run, of a ranking or of a plan. rule: which
    pages become seeds; None keeps the job's seeds. annotate: log the precedence of each fetch.
    is_plan: the file has what is due, and nothing else."""

    job: JobFolder
    ranking: Path
    rule: SeedRule | None
    annotate: bool
    is_plan: bool = False

    @property
    def precedence(self) -> Path:
        return self.ranking / "precedence.txt"


@dataclass(frozen=True)
class Preparation:
    """edits: what changes in the beans, a sentence each. beans: the new file. seeds: how many, in
    the file seeds_file; None where they stay. gone: how many of them are gone."""

    state: Path
    edits: list[str]
    beans: bytes
    seeds: int | None
    gone: int
    seeds_file: Path

    def diff(self, job: JobFolder) -> Iterator[str]:
        """The change of the beans as a unified diff, by line."""
        before, after = (
            data.decode("utf-8", "replace").splitlines()
            for data in (job.beans.read_bytes(), self.beans)
        )
        name = job.beans.name
        yield from difflib.unified_diff(before, after, name, f"{name} (new)", lineterm="")


def prepared(recrawl: Recrawl, tmp: Path) -> Preparation:
    """Read the job and the ranking; nothing is written but a file of seeds in tmp. Raises
    BadInput."""
    job = recrawl.job
    _require_precedence(recrawl)
    beans = JobBeans(job.beans.read_bytes(), str(job.beans))
    summary = _summary(recrawl.ranking)
    wanted = Wanted(summary.unlisted, SEEDS if recrawl.rule else None, recrawl.annotate)
    edits = beans.patched(wanted)
    patched = edits.done()
    if JobBeans(patched, str(job.beans)).patched(wanted).made:
        raise AssertionError("beans that are as wanted are changed again")
    count, gone = None, 0
    if recrawl.rule:
        count, gone = _write_seeds(recrawl, recrawl.rule, summary.bins, tmp)
    state = job.path / beans.state_folder()
    return Preparation(state, edits.made, patched, count, gone, tmp / SEEDS)


def load_and_verify(home: HeritrixHome, recrawl: Recrawl, state: Path) -> Verification:
    """Load the precedence file into the state of the job, and look up all of it. Raises BadInput,
    HeritrixFails; NotConverged where Heritrix does not find what was loaded."""
    loaded = precedence_store.load(home, recrawl.precedence, state)
    verification = verify(home, state, recrawl.precedence)
    if loaded != (lines := verification.counts["lines"]):
        raise HeritrixFails(
            str(state), f"{count_of(loaded, 'line')} loaded", f"{lines:,}, those of the file"
        )
    verification.require(state)
    return verification


def write(recrawl: Recrawl, made: Preparation) -> list[str]:
    """Write seeds and beans, with copies for `undo`; the names of the files that changed."""
    beans = made.seeds_file.with_name("beans.cxml")
    beans.write_bytes(made.beans)
    files = {SEEDS: made.seeds_file} if made.seeds is not None else {}
    return recrawl.job.write({**files, recrawl.job.beans.name: beans})


def launch_command(home: HeritrixHome, job: JobFolder) -> str:
    """What runs the job to its end without the console."""
    return (
        f'java -Dheritrix.home="{home.folder}" -cp "{home.classes}" org.archive.crawler.Heritrix'
        f' -a admin:PASSWORD -j "{job.path.resolve().parent}" -r {job.name}'
    )


def _require_precedence(recrawl: Recrawl) -> None:
    if not recrawl.precedence.is_file():
        raise BadInput(
            str(recrawl.precedence), "not there", "the precedence file of a run, ranking or plan",
            "Make it with `crawlrank run`, `rank` or `plan`; a plan has one if a page is due.",
        )  # fmt: skip


class _Summary(NamedTuple):
    """bins: the last class. unlisted: the precedence of URIs that are not in the file."""

    bins: int
    unlisted: int


def _summary(ranking: Path) -> _Summary:
    path = ranking / SUMMARY
    try:
        data = json.loads(path.read_text())
        return _Summary(int(data["bins"]), int(data["unlisted"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        cure = "Make it anew with `crawlrank run` or `crawlrank export-precedence`."
        raise BadInput(
            str(path), "not there, or damaged", "the summary of the file", cure
        ) from error


def _write_seeds(recrawl: Recrawl, rule: SeedRule, bins: int, tmp: Path) -> tuple[int, int]:
    """How many were written, and how many of them are gone."""
    count, gone, threads = 0, 0, os.cpu_count() or 1
    budget = half_of_machine().budget
    with (
        database(tmp, budget=budget, threads=threads) as (db, near),
        (tmp / SEEDS).open("w", encoding="utf-8") as file,
    ):
        run = None if recrawl.is_plan else open_finished(recrawl.ranking, db, near, "ranked")
        for uri, is_gone in seeds(db, recrawl.precedence, run, rule, bins):
            file.write(f"{uri}\n")
            count += 1
            gone += is_gone
    if not count:
        raise BadInput(
            str(recrawl.precedence), "no page of it was captured", "at least one, for the seeds",
            "Give more classes or pages, or --keep-seeds for the seeds that the job has.",
        )  # fmt: skip
    return count, gone
