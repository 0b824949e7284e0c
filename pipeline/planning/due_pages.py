"""The precedence file of what is due: the pages of the first days of a plan, the most urgent ones
first, with the beans that make Heritrix use it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.data.database import batches
from crawlrank.pipeline.data.parquet import CHECKED
from crawlrank.pipeline.precedence.export import export_precedence
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.scored import SCORED
from crawlrank.pipeline.steps import PRECEDENCE, SUMMARY

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
        with scores.open("wb") as stream, pq.ParquetWriter(stream, SCORED, **CHECKED) as file:
            for batch in batches(db, _DUE):
                file.write_batch(batch.cast(SCORED))
        summary = export_precedence(scores, None, files[0], tmp, PrecedenceOptions())
        summary.planned_from = marks
        summary.write(folder / SUMMARY)
    return files
