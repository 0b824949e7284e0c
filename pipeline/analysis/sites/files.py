"""The table of sites as a file, by its name: .csv, .tsv or .parquet.

csv is RFC 4180 with a header, and an apostrophe before a name that a spreadsheet would take for a
formula (score_formats.py). tsv has a header and a tab between columns, and no quotes: a key, and so
a name, has no blank and no control character. Numbers have all digits, which read back the same.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from jobs.kernel.errors import BadInput
from pipeline.analysis.sites.table import COLUMNS
from pipeline.data.datasets import replacing
from pipeline.precedence.score_formats import as_text

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


def _csv(rows: pa.Table) -> Iterator[str]:
    for begin in range(0, max(1, len(rows)), PIECE):
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\r\n")
        if not begin:
            writer.writerow(COLUMNS)
        for row in rows.slice(begin, PIECE).to_pylist():
            row["site"] = as_text(row["site"])
            writer.writerow(row.values())
        yield text.getvalue()


def _tsv(rows: pa.Table) -> Iterator[str]:
    yield "\t".join(COLUMNS) + "\n"
    for begin in range(0, len(rows), PIECE):
        for row in rows.slice(begin, PIECE).to_pylist():
            yield "\t".join(map(str, row.values())) + "\n"


FORMS: dict[str, Callable[[pa.Table], Iterator[str]]] = {".csv": _csv, ".tsv": _tsv}
