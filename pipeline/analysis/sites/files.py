"""The table of sites as a file, by its name: .csv, .tsv or .parquet.

csv is as pipeline/data/output/spreadsheets.py writes it. tsv has a header and a tab between
columns, and no quotes: a key, and so a name, has no blank and no control character. Numbers have
all digits, which read back the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.analysis.sites.table import COLUMNS
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.data.output.spreadsheets import csv_pieces

PIECE = 1 << 14  # rows


def write_sites_file(rows: pa.Table, output: Path) -> None:
    """Write rows of `read_sites` to a file. Raises BadInput for another ending of its name."""
    require_form(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    with replacing(output) as path, path.open("wb") as stream:
        if output.suffix == ".parquet":
            pq.write_table(rows, stream, compression="zstd")
            return
        for text in FORMS[output.suffix](rows):
            stream.write(text.encode())


def require_form(output: Path) -> None:
    """Raises BadInput for a name that says no form."""
    if output.suffix != ".parquet" and output.suffix not in FORMS:
        expected = "a name that ends in .csv, .tsv or .parquet"
        raise BadInput(str(output), "another ending", expected, "Name the file so.")


def _rows(rows: pa.Table) -> Iterator[list[Any]]:
    for begin in range(0, len(rows), PIECE):
        for row in rows.slice(begin, PIECE).to_pylist():
            yield list(row.values())


def _csv(rows: pa.Table) -> Iterator[str]:
    return csv_pieces(COLUMNS, _rows(rows))


def _tsv(rows: pa.Table) -> Iterator[str]:
    yield "\t".join(COLUMNS) + "\n"
    for row in _rows(rows):
        yield "\t".join(map(str, row)) + "\n"


FORMS: dict[str, Callable[[pa.Table], Iterator[str]]] = {".csv": _csv, ".tsv": _tsv}
ENDINGS = ("csv", "tsv", "parquet")
