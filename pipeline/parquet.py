"""Columns of a Parquet dataset, some rows at a time, and what is wrong with one as BadInput."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.kernel.errors import BadInput

BATCH = 1 << 16  # rows
CURE = "Run the step that writes it again."


def parquet_file(where: str | Path) -> Path | None:
    """The file of a dataset that is one file of Parquet, alone or in a folder, as names tell; or
    None for a dataset of text."""
    path = Path(where)
    if path.suffix == ".parquet":
        return path
    inside = sorted(path.glob("*.parquet")) if path.is_dir() else []
    return inside[0] if len(inside) == 1 else None


def parquet_batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """These columns of the file, in the order of its rows. Memory: one row group of them.

    Raises BadInput for a file that is not Parquet or lacks a column.
    """
    try:
        with path.open("rb") as stream, pq.ParquetFile(stream) as file:  # pyarrow: UTF-8 names only
            names = file.schema_arrow.names
            if missing := [name for name in columns if name not in names]:
                found = f"no column {', '.join(missing)}"
                raise BadInput(str(path), found, f"columns {', '.join(columns)}", CURE)
            yield from file.iter_batches(BATCH, columns=list(columns), use_threads=False)
    except pa.ArrowInvalid as error:
        raise BadInput(str(path), "no readable Parquet", "a dataset", CURE) from error
