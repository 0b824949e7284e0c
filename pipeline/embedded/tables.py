"""DuckDB within bounds, for what is sorted or joined by strings and may be larger than memory."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from jobs.kernel.errors import BadInput
from jobs.launch import plain_path

LEAST = 64 << 20  # bytes: with less DuckDB does not sort at all
BATCH = 1 << 17  # rows


@contextlib.contextmanager
def database(
    tmp: Path, *, budget: int, threads: int
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A database in memory that spills into a folder of its own in tmp, and that folder under a
    name that SQL takes as it is. What fails in it, such as a full disk, is told as BadInput."""
    with tempfile.TemporaryDirectory(dir=tmp) as folder, plain_path(Path(folder)) as near:
        try:
            with duckdb.connect() as db:
                db.execute("SET memory_limit = $limit", {"limit": f"{max(LEAST, budget)}B"})
                db.execute("SET threads = $threads", {"threads": threads})
                db.execute("SET temp_directory = $folder", {"folder": str(near / "spilled")})
                yield db, near
        except duckdb.Error as error:
            said = str(error).partition("\n")[0]
            cure = "Make room there, or give more --memory."
            raise BadInput(str(tmp.resolve()), said, "room for a sort", cure) from error


def batches(db: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    """The rows of a query, a batch at a time."""
    rows: Any = db.sql(query)
    if hasattr(rows, "to_arrow_reader"):
        yield from rows.to_arrow_reader(BATCH)
    else:  # its name until DuckDB 1.4
        yield from rows.fetch_arrow_reader(BATCH)
