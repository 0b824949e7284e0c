"""From work folders to the files of a plan."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pipeline.contract import PRECEDENCE
from pipeline.data.database import LEAST, database, limit
from pipeline.data.memory import require_memory
from pipeline.options import PlanOptions
from pipeline.planning.due_pages import write_due_pages
from pipeline.planning.plan import compared, planned
from pipeline.planning.replay import replayed
from pipeline.planning.report import PlanReport
from pipeline.planning.schedule_files import describe, write_schedule
from pipeline.planning.visits import Visits, read_visits
from pipeline.workfolder.results.opened import open_finished

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
        ranked = open_finished(ranking, db, near, "ranking")
        with ranked.reading():
            visits = read_visits(db, finished, ranked, begin)
        pages = len(visits.ages)
        require_memory("plan", pages, PAGE_BYTES, budget, fixed=FIXED)
        limit(db, budget - FIXED - PAGE_BYTES * pages)
        return write_plan(visits, options, begin, forms, folder)


def write_plan(
    visits: Visits, options: PlanOptions, begin: datetime, forms: Sequence[str], folder: Path
) -> tuple[PlanReport, list[Path]]:
    """The same from visits; their database is open."""
    plan = planned(visits, options)
    describe(visits, plan, begin, options.due)
    files = [write_schedule(visits.db, form, folder) for form in dict.fromkeys(forms)]
    due = write_due_pages(visits.db, folder)
    files += [folder / name for name in PRECEDENCE if due]
    replay = replayed(visits, options)
    return PlanReport(visits, options, begin, plan, compared(plan, options), replay, due), files
