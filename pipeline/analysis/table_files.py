"""A table as a file, by the end of its name: .csv, .tsv, .jsonl or .parquet.

csv is as pipeline/data/datasets.py writes it. tsv has a header and a tab between
columns, and no quotes: names come from keys, which have no blank and no control character. Numbers
have all digits, which read back the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.datasets import STDOUT, csv_pieces, write_output
from crawlrank.pipeline.data.parquet import parquet_pieces
from crawlrank.pipeline.terminal.text import json_text

HOST_ENDINGS = ("csv", "jsonl", "parquet")
SITE_ENDINGS = ("csv", "tsv", "parquet")
PIECE = 1 << 14  # rows


def _rows(table: pa.RecordBatchReader) -> Iterator[dict[str, object]]:
    for batch in table:
        for begin in range(0, len(batch), PIECE):
            yield from batch.slice(begin, PIECE).to_pylist()


def _csv(table: pa.RecordBatchReader) -> Iterator[bytes]:
    lines = csv_pieces(table.schema.names, (row.values() for row in _rows(table)))
    return map(str.encode, lines)


def _tsv(table: pa.RecordBatchReader) -> Iterator[bytes]:
    yield "\t".join(table.schema.names).encode() + b"\n"
    for row in _rows(table):
        yield "\t".join(map(str, row.values())).encode() + b"\n"


def _jsonl(table: pa.RecordBatchReader) -> Iterator[bytes]:
    for row in _rows(table):
        yield json_text(row).encode() + b"\n"


def _parquet(table: pa.RecordBatchReader) -> Iterator[bytes]:
    return parquet_pieces(table.schema, table)


WRITERS: dict[str, Callable[[pa.RecordBatchReader], Iterator[bytes]]] = {
    "csv": _csv,
    "tsv": _tsv,
    "txt": _tsv,
    "jsonl": _jsonl,
    "parquet": _parquet,
}


def write_table(
    table: pa.Table | pa.RecordBatchReader, output: Path, endings: Sequence[str]
) -> None:
    """Write a table to a file, packed if its name ends in .gz, or to standard output, as the first
    ending says.

    endings: of WRITERS, those that this table can have. Raises BadInput for another one.
    """
    ending = endings[0] if output == STDOUT else output.name.removesuffix(".gz").rpartition(".")[2]
    if ending not in endings:
        *first, last = (f".{each}" for each in endings)
        expected = f"a name that ends in {', '.join(first)} or {last}"
        raise BadInput(str(output), "another ending", expected, "Name the file so.")
    if output != STDOUT:
        output.parent.mkdir(parents=True, exist_ok=True)
    reader = table.to_reader(PIECE) if isinstance(table, pa.Table) else table
    write_output(WRITERS[ending](reader), output)
