"""The precedence file of what is due: the pages of the first days of a plan, the most urgent ones
first, with the beans that make Heritrix use it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from pipeline.contract import PRECEDENCE
from pipeline.data.database import batches
from pipeline.data.parquet import CHECKED
from pipeline.options import PrecedenceOptions
from pipeline.precedence.export import export_precedence
from pipeline.precedence.scored import SCORED

_DUE = "SELECT key, uri, urgency AS score FROM plan_rows WHERE is_due ORDER BY score DESC, key"


def write_due_pages(db: duckdb.DuckDBPyConnection, due: int, folder: Path) -> list[Path]:
    """The files. due: how many pages are due; without one, files of an earlier plan are removed.
    Raises BadInput."""
    files = [folder / name for name in PRECEDENCE]
    if not due:
        for file in files:
            file.unlink(missing_ok=True)
        return []
    with tempfile.TemporaryDirectory(prefix=".crawlrank-", dir=folder) as tmp:
        scores = Path(tmp, "scores.parquet")
        with scores.open("wb") as stream, pq.ParquetWriter(stream, SCORED, **CHECKED) as file:
            for batch in batches(db, _DUE):
                file.write_batch(batch.cast(SCORED))
        export_precedence(scores, None, files[0], Path(tmp), PrecedenceOptions())
    return files
