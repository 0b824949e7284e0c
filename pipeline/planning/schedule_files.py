"""The schedule as files: a row for each page, the next one due first.

csv: a line of names, then RFC 4180 except for ends of lines, which are line feeds; text that a
spreadsheet would take for a formula as in pipeline/data/datasets.py. jsonl: an object a
line. parquet: times are timestamps of microseconds, UTC. nutch: a folder with a file for each day
on which pages are due, `later.txt` after the last, as `nutch inject` reads no dates and makes due
at once what it gets; a line is `URI<TAB>nutch.score=VALUE<TAB>nutch.fetchInterval=SECONDS`. Pages
that are never fetched are left out, as Nutch would take its own interval for them.

The precedence file of what is due: the pages of the first days of a plan, the most urgent ones
first, with the beans that make Heritrix use it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.storage.arrow_files import open_parquet
from crawlrank.jobs.kernel.storage.temporary import plain_path, temporary_folder
from crawlrank.pipeline.data.database import BATCH, batches
from crawlrank.pipeline.data.datasets import harmless, move, replacing
from crawlrank.pipeline.data.parquet import parquet_writer
from crawlrank.pipeline.planning.plan import FetchPlan
from crawlrank.pipeline.planning.visit_numbers import DAY
from crawlrank.pipeline.planning.visits import Visits, named
from crawlrank.pipeline.precedence.export import export_precedence
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.scored import SCORED
from crawlrank.pipeline.steps import PRECEDENCE, SUMMARY
from crawlrank.pipeline.workfolder.dataset_store import remove

MICROSECONDS = 1_000_000
FAR = 36_500.0  # days; what is due later is not worth a date
LONGEST = 2**31 - 1  # seconds that Java's Integer holds
_ROWS = "CREATE VIEW plan_rows AS {named}"
_SCHEDULE = """CREATE VIEW schedule AS SELECT uri, next_due, interval_days, fetches,
    changes_per_day, changes_low, changes_high, freshness, value, class, visits::BIGINT AS visits,
    make_timestamp(last * 1000000) AS last_visit, key FROM plan_rows"""
_ORDER = "ORDER BY next_due NULLS LAST, value DESC, key"
_ZONED = "strftime(next_due, '{0}') AS next_due, strftime(last_visit, '{0}') AS last_visit".format(
    "%Y-%m-%dT%H:%M:%SZ"
)
_TEXT = f"SELECT * REPLACE ({_ZONED}) FROM schedule {_ORDER}"
_CELLS = ", ".join(f"{harmless(name)} AS {name}" for name in ("uri", "key"))  # all of its text
_CSV = f"SELECT * REPLACE ({_ZONED}, {_CELLS}) FROM"
MOST_DAYS = 366  # files for Nutch
LATER = "later"
# a float of Java holds no more digits
_NUTCH = f"""SELECT uri, printf('nutch.score=%.9g', value), 'nutch.fetchInterval='
    || least({LONGEST}, round(interval_days * 86400))::BIGINT
    FROM schedule WHERE interval_days IS NOT NULL AND {{when}} {_ORDER}"""


def write_rows(visits: Visits, plan: FetchPlan, now: datetime, due: float, path: Path) -> None:
    """Write the numbers of all pages, from which `describe` makes rows. due: days in which a page
    `is_due`."""
    begin, at = np.datetime64(now.astimezone(timezone.utc).replace(tzinfo=None), "us"), 0
    with ExitStack() as stack:
        file, writer = stack.enter_context(open_parquet(visits.file)), None
        for batch in file.iter_batches(BATCH):
            block = slice(at, at + len(batch))
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            table = pa.table(columns | _columns(plan, block, begin, due))
            writer = writer or stack.enter_context(
                pq.ParquetWriter(path, table.schema, compression="none", use_dictionary=False)
            )
            writer.write_table(table)
            at = block.stop


def _columns(
    plan: FetchPlan, block: slice, begin: np.datetime64, due: float
) -> dict[str, pa.Array]:
    """The columns of the pages of a block."""
    fetches, first, planned = plan.fetches[block], plan.due.first[block], plan.due.fetches[block]
    is_fetched = fetches > 0
    intervals = np.divide(1.0, fetches, out=np.full(len(fetches), np.inf), where=is_fetched)
    near = is_fetched & (first < FAR)
    microseconds = (np.where(near, first, 0.0) * DAY * MICROSECONDS).astype(np.int64)
    columns = {
        "fetches": planned.astype(np.int64),
        "changes_per_day": plan.rates.mean[block],
        "changes_low": plan.rates.low[block],
        "changes_high": plan.rates.high[block],
        "freshness": plan.freshness[block],
        "value": plan.values[block],
        "class": plan.classes[block],
        "urgency": plan.urgency[block],
        "is_due": (planned > 0) & (first < due),
    }
    arrays = {name: pa.array(column) for name, column in columns.items()}
    dates = begin + microseconds.astype("timedelta64[us]")
    arrays["next_due"] = pa.array(dates, mask=~near)
    arrays["interval_days"] = pa.array(intervals, mask=~np.isfinite(intervals))
    return arrays


def describe(db: duckdb.DuckDBPyConnection, rows: Path, spelled: str) -> None:
    """Make the views `schedule` and `plan_rows` from the file of `write_rows`. spelled: of
    Visits."""
    db.execute(_ROWS.format(named=named(rows, spelled)))
    db.execute(_SCHEDULE)


def _copied(query: str, options: str) -> Callable[[duckdb.DuckDBPyConnection, Path], None]:
    def write(db: duckdb.DuckDBPyConnection, path: Path) -> None:
        with plain_path(path.parent) as folder:
            db.execute(f"COPY ({query}) TO '{folder / path.name}' ({options})")

    return write


def _nutch(db: duckdb.DuckDBPyConnection, folder: Path) -> None:
    days = "SELECT DISTINCT next_due::DATE::VARCHAR FROM schedule WHERE next_due IS NOT NULL"
    first = [day for (day,) in db.execute(f"{days} ORDER BY 1 LIMIT {MOST_DAYS}").fetchall()]
    files = {day: f"next_due::DATE = '{day}'" for day in first}
    files[LATER] = f"coalesce(next_due::DATE > '{first[-1]}', true)" if first else "true"
    for name, when in files.items():
        query = _NUTCH.format(when=when)
        _copied(query, "FORMAT csv, DELIMITER '\t', HEADER false, QUOTE ''")(
            db, folder / f"{name}.txt"
        )


FORMATS: dict[str, Callable[[duckdb.DuckDBPyConnection, Path], None]] = {
    "csv": _copied(f"{_CSV} schedule {_ORDER}", "FORMAT csv, HEADER"),
    "jsonl": _copied(_TEXT, "FORMAT json"),
    "parquet": _copied(f"SELECT * FROM schedule {_ORDER}", "FORMAT parquet, COMPRESSION zstd"),
    "nutch": _nutch,
}
FOLDERS = ("nutch",)


def remove_schedules(folder: Path, forms: Collection[str]) -> None:
    """Remove the schedules of an earlier plan that are in other forms than these."""
    for form in FORMATS.keys() - forms:
        remove(folder / f"schedule.{form}")


def write_schedule(db: duckdb.DuckDBPyConnection, form: str, folder: Path) -> Path:
    """The file, or the folder in place of what had its name."""
    path = folder / f"schedule.{form}"
    if form in FOLDERS:
        with temporary_folder(folder) as tmp:
            part = Path(tmp, path.name)
            part.mkdir()
            FORMATS[form](db, part)
            move(part, path)
        return path
    with replacing(path) as part:
        FORMATS[form](db, part)
    return path


_DUE = "SELECT key, uri, urgency AS score FROM plan_rows WHERE is_due ORDER BY score DESC, key"


def write_due_pages(
    db: duckdb.DuckDBPyConnection, due: int, folder: Path, marks: dict[str, str | None]
) -> list[Path]:
    """The files. due: how many pages are due; without one, files of an earlier plan are removed.
    marks: of the rankings that the plan is made of, by folder; the summary has them. Raises
    BadInput."""
    files = [folder / name for name in PRECEDENCE]
    if not due:
        for file in files:
            file.unlink(missing_ok=True)
        return []
    with temporary_folder(folder) as tmp:
        scores = Path(tmp, "scores.parquet")
        with parquet_writer(scores, SCORED, compression="snappy") as file:
            for batch in batches(db, _DUE):
                file.write_batch(batch.cast(SCORED))
        summary = export_precedence(scores, None, files[0], tmp, PrecedenceOptions())
        summary.planned_from = marks
        summary.write(folder / SUMMARY)
    return files
