"""The schedule as files: a row for each page, the next one due first.

csv: a line of names, then RFC 4180 but for ends of lines, which are line feeds; an apostrophe
stands before text that a spreadsheet would take for a formula. jsonl: an object a line. parquet:
times are timestamps of microseconds, UTC. nutch: `URI<TAB>nutch.fetchInterval=SECONDS`, which
`nutch inject` reads; pages that are never fetched are left out, as Nutch would take its own
interval for them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from jobs.kernel.storage.plain_paths import plain_path
from pipeline.data.datasets import replacing
from pipeline.planning.plan import FetchPlan
from pipeline.planning.visits import DAY, Visits

MICROSECONDS = 1_000_000
FAR = 36_500.0  # days; what is due later is not worth a date
LONGEST = 2**31 - 1  # seconds that Java's Integer holds
_ROWS = """CREATE VIEW plan_rows AS SELECT * REPLACE
    (CASE WHEN isfinite(interval_days) THEN interval_days END AS interval_days)
    FROM page JOIN planned USING (row)"""
_SCHEDULE = """CREATE VIEW schedule AS SELECT uri, next_due, interval_days, fetches,
    changes_per_day, changes_low, changes_high, freshness, value, class, visits,
    make_timestamp((last * 1000000)::BIGINT) AS last_visit, key FROM plan_rows"""
_ORDER = "ORDER BY next_due NULLS LAST, value DESC, key"
_ZONED = "strftime(next_due, '{0}') AS next_due, strftime(last_visit, '{0}') AS last_visit".format(
    "%Y-%m-%dT%H:%M:%SZ"
)
_HARMLESS = "CASE WHEN regexp_matches({0}, '^[=+@''\\t\\r-]') THEN '''' || {0} ELSE {0} END AS {0}"
_TEXT = f"SELECT * REPLACE ({_ZONED}) FROM schedule {_ORDER}"
_CSV = f"SELECT * REPLACE ({_ZONED}, {_HARMLESS.format('uri')}, {_HARMLESS.format('key')}) FROM"
_NUTCH = f"""SELECT uri, 'nutch.fetchInterval=' || least({LONGEST}, round(interval_days * 86400))::
    BIGINT FROM schedule WHERE interval_days IS NOT NULL {_ORDER}"""


def describe(visits: Visits, plan: FetchPlan, now: datetime, due: float) -> None:
    """Make the views `schedule` and `plan_rows` in the database of the visits. due: days in which a
    page `is_due`."""
    is_fetched = plan.fetches > 0
    intervals = np.divide(1.0, plan.fetches, out=np.full(len(is_fetched), np.inf), where=is_fetched)
    near = is_fetched & (plan.due.first < FAR)
    days = np.where(near, plan.due.first, 0.0)
    begin = np.datetime64(now.astimezone(timezone.utc).replace(tzinfo=None), "us")
    dates = begin + (days * DAY * MICROSECONDS).astype(np.int64).astype("timedelta64[us]")
    dates[~near] = np.datetime64("NaT")
    columns = {
        "row": np.arange(len(days)),
        "next_due": dates,
        "interval_days": intervals,
        "fetches": plan.due.fetches,
        "changes_per_day": plan.rates.mean,
        "changes_low": plan.rates.low,
        "changes_high": plan.rates.high,
        "freshness": plan.freshness,
        "value": plan.values,
        "class": plan.classes,
        "urgency": plan.urgency,
        "is_due": (plan.due.fetches > 0) & (plan.due.first < due),
    }
    made = pa.table({name: pa.array(column) for name, column in columns.items()})
    visits.db.register("planned", made)
    visits.db.execute(_ROWS)
    visits.db.execute(_SCHEDULE)


def _copied(query: str, options: str) -> Callable[[duckdb.DuckDBPyConnection, Path], None]:
    def write(db: duckdb.DuckDBPyConnection, path: Path) -> None:
        with plain_path(path.parent) as folder:
            db.execute(f"COPY ({query}) TO '{folder / path.name}' ({options})")

    return write


FORMATS: dict[str, Callable[[duckdb.DuckDBPyConnection, Path], None]] = {
    "csv": _copied(f"{_CSV} schedule {_ORDER}", "FORMAT csv, HEADER"),
    "jsonl": _copied(_TEXT, "FORMAT json"),
    "parquet": _copied(f"SELECT * FROM schedule {_ORDER}", "FORMAT parquet, COMPRESSION zstd"),
    "nutch": _copied(_NUTCH, "FORMAT csv, DELIMITER '\t', HEADER false, QUOTE ''"),
}
NAMES = {form: f"schedule.{form}" for form in FORMATS} | {"nutch": "schedule.nutch.txt"}


def write_schedule(db: duckdb.DuckDBPyConnection, form: str, folder: Path) -> Path:
    path = folder / NAMES[form]
    with replacing(path) as part:
        FORMATS[form](db, part)
    return path
