"""Links and captures as Parquet: zstd, dictionaries where they pay, a row group at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.formats.datasets import Dataset
from crawlrank.jobs.kernel.formats.reading import parts
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.kernel.formats.tables import is_table
from crawlrank.jobs.kernel.storage.arrow_files import native_bytes
from crawlrank.pipeline.data.datasets import deliver, is_file, replacing
from crawlrank.pipeline.data.parquet import schema_of

ROW_GROUP = 2**24  # bytes of a row group in memory, about
BLOCK = 2**21  # bytes of text that become columns at once; longer than any line


def deliver_rows(
    folder: Path, output: Path, dataset: Dataset, *, tables: bool, columns: int | None = None
) -> None:
    """Make the folder of parts of lines the dataset `output`: a Parquet file where its name says
    so, a folder of them where asked for, text otherwise. columns: of Parquet, the first; by
    default the usual ones."""
    if is_table(output):
        output.parent.mkdir(parents=True, exist_ok=True)
        write_table(parts(folder), output, dataset, columns)
    elif tables and not is_file(output):
        converted = folder.with_name(f"{folder.name}-tables")
        converted.mkdir()
        for part in parts(folder):
            table = converted / f"{part.name}.parquet"
            write_table([part], table, dataset, columns)
        deliver(converted, output, None)
    else:
        deliver(folder, output, None)


def write_table(
    texts: Sequence[Path], output: Path, dataset: Dataset, columns: int | None = None,
    row_group: int = ROW_GROUP,
) -> None:  # fmt: skip
    """Parts of lines, one after the other, as one Parquet file. row_group: bytes of a row group.

    Memory: some times a row group, whatever the size of the dataset.
    """
    schema = schema_of(dataset.first(columns or dataset.usual))
    with (
        replacing(output) as path,
        path.open("wb") as stream,  # pyarrow takes names in UTF-8 only
        pq.ParquetWriter(stream, schema, compression="zstd") as file,
    ):
        group: list[pa.RecordBatch] = []
        for batch in _batches(texts, dataset.separator, schema):
            group.append(batch)
            if sum(batch.nbytes for batch in group) >= row_group:
                file.write_table(pa.Table.from_batches(group))
                group.clear()
        if group:
            file.write_table(pa.Table.from_batches(group))


def _batches(texts: Sequence[Path], separator: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Lines are a table of comma-separated values without quotes, escapes and commas."""
    reading = csv.ReadOptions(use_threads=False, block_size=2 * BLOCK, column_names=schema.names)
    parsing = csv.ParseOptions(delimiter=separator, quote_char=False, escape_char=False)
    values = csv.ConvertOptions(column_types=schema, null_values=["-"], strings_can_be_null=True)
    for text in texts:
        with text.open("rb") as file:
            while block := file.read(BLOCK):
                lines = _padded(block + file.readline(), separator.encode(), len(schema))
                yield from csv.read_csv(native_bytes(lines), reading, parsing, values).to_batches()


def _padded(lines: bytes, separator: bytes, columns: int) -> bytes:
    """Lines with as many fields as columns: those behind the usual ones are left out of a line
    where none is known, as of an ARC, which has no record ids."""
    if lines.count(separator) == lines.count(b"\n") * (columns - 1):
        return lines
    missing = separator + UNKNOWN
    rows = (line + missing * (columns - 1 - line.count(separator)) for line in lines.splitlines())
    return b"\n".join(rows) + b"\n"
