"""From work folders to the files of a plan."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import duckdb

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.database import LEAST, database, limit
from crawlrank.pipeline.data.memory import give_back, require_memory
from crawlrank.pipeline.options import PlanOptions
from crawlrank.pipeline.planning.plan import compared, planned, replayed
from crawlrank.pipeline.planning.report import PlanReport, report_of
from crawlrank.pipeline.planning.schedule_files import (
    describe,
    remove_schedules,
    write_due_pages,
    write_rows,
    write_schedule,
)
from crawlrank.pipeline.planning.visits import read_visits
from crawlrank.pipeline.workfolder.rankings import mark_of
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished, require_same_keys

PAGE_BYTES = 150  # of all columns of a page, with its spans
FIXED = LEAST


def make_plan(
    works: Sequence[Path],
    ranking: Path,
    options: PlanOptions,
    begin: datetime,
    forms: Sequence[str],
    folder: Path,
    tmp: Path,
    budget: int,
) -> tuple[PlanReport, list[Path]]:
    """Write the plan into a folder; what it says of itself, and its files. works: of finished runs,
    the oldest first. ranking: the folder whose scores are the values. budget: bytes of memory.
    Raises BadInput."""
    with database(tmp, budget=budget // 2, threads=os.cpu_count() or 1) as (db, near):
        finished = [open_finished(work, db, near, f"w{n}") for n, work in enumerate(works)]
        for each in finished:
            require_same_keys(each, finished[-1])
            if not each.has_uris:
                what = "a graph without the URIs of pages"
                raise BadInput(str(each.work), what, "a run of archives", "Name such a run.")
        ranked = open_finished(ranking, db, near, "ranking")
        with ranked.reading():
            report = described(db, finished, ranked, options, begin, near, budget)
            give_back()
            limit(db, (budget - FIXED) // 2)
            marks = {str(each.resolve()): mark_of(each) for each in (*works, ranking)}
            return report, write_files(db, report.due, forms, folder, marks)


def described(
    db: duckdb.DuckDBPyConnection,
    works: Sequence[Finished],
    ranking: Finished,
    options: PlanOptions,
    begin: datetime,
    near: Path,
    budget: int,
) -> PlanReport:
    """Make the plan, which is then in the views of `describe`, with what it says of itself. near:
    a folder for numbers, which the views need, under a name that SQL takes as it is."""
    numbers = near / "numbers"
    numbers.mkdir()
    visits = read_visits(db, works, ranking, begin, numbers)
    require_memory("plan", len(visits.ages), PAGE_BYTES, budget, fixed=FIXED)
    give_back()
    plan = planned(visits, options)
    replay = replayed(visits, options)
    report = report_of(visits, plan, options, begin, compared(plan, options), replay)
    rows = numbers / "rows.parquet"
    write_rows(visits, plan, begin, options.due, rows)
    describe(db, rows, visits.spelled)
    return report


def write_files(
    db: duckdb.DuckDBPyConnection,
    due: int,
    forms: Sequence[str],
    folder: Path,
    marks: dict[str, str | None],
) -> list[Path]:
    """due: how many pages are due. marks: of what the plan is made of, by folder. The files of an
    earlier plan are replaced or removed."""
    remove_schedules(folder, forms)
    files = [write_schedule(db, form, folder) for form in dict.fromkeys(forms)]
    return files + write_due_pages(db, due, folder, marks)
