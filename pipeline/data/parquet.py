"""Columns of Parquet datasets, read and written a row group at a time; damage is BadInput.

Pages that this package writes have checksums, which are verified where they are read here. What has
none, footers and the heads of pages, may still be damaged: whatever pyarrow makes of it is either
refused, or columns of the right types without nulls, whose strings are UTF-8 and whose indices are
in their dictionaries.

Links and captures are written with zstd, and with dictionaries where they pay.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import FOLDS, MAP, SCORES, URIS, Dataset
from crawlrank.jobs.kernel.formats.reading import is_table, parts
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.kernel.storage.arrow_files import native_bytes, open_parquet, parquet_metadata
from crawlrank.pipeline.data.datasets import deliver, is_file, replacing

ReadRow = TypeVar("ReadRow")
BATCH = 1 << 16  # rows
CURE = "Run the step that writes it again."
CHECKED = MappingProxyType({"write_page_checksum": True})  # of every writer of a dataset


@contextlib.contextmanager
def parquet_writer(
    path: Path, schema: pa.Schema, *, compression: str = "zstd", **options: Any
) -> Iterator[pq.ParquetWriter]:
    """A new file of a dataset, with checksums. options: of pyarrow."""
    options = {"compression": compression, **CHECKED, **options}
    with (
        path.open("wb") as stream,  # pyarrow takes names in UTF-8 only
        pq.ParquetWriter(stream, schema, **options) as file,
    ):
        yield file


@contextlib.contextmanager
def arrow_writer(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatchFileWriter]:
    """A new file of Arrow, with lz4, for a later task of the same step."""
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with path.open("wb") as stream, pa.ipc.new_file(stream, schema, options=options) as file:
        yield file


def schema_of(columns: Mapping[str, str]) -> pa.Schema:
    """Columns of the table of datasets as Parquet has them."""
    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in columns.items()])


#: types of the columns of the datasets that are one file; other types are cast to them
TYPES = MappingProxyType(
    {
        column.name: column.type
        for dataset in (FOLDS, MAP, SCORES, URIS)
        for column in schema_of(dataset.parquet_columns)
    }
)


def parquet_file(dataset: str | Path) -> Path | None:
    """The file of a dataset that is one file of Parquet, alone or in a folder, by its name. None
    for a dataset of text."""
    path = Path(dataset)
    if path.suffix == ".parquet":
        return path
    inside = sorted(path.glob("*.parquet")) if path.is_dir() else []
    return inside[0] if len(inside) == 1 else None


def parquet_batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """These columns of the file, in the order of its rows. Memory: one row group of them.

    Raises BadInput for a file that is not Parquet, is damaged, lacks a column or has nulls in one.
    """
    with reading_parquet(path), opened_parquet(path, columns) as file:
        for batch in file.iter_batches(BATCH, columns=list(columns), use_threads=False):
            arrays = [_typed(batch[name], name) for name in columns]
            yield pa.record_batch(arrays, names=list(columns))


def _typed(column: pa.Array, name: str) -> pa.Array:
    column.validate(full=True)
    if column.null_count:
        raise pa.ArrowInvalid(f"nulls in the column {name}")
    kind = TYPES.get(name, column.type)
    return column if column.type == kind else column.cast(kind)


@contextlib.contextmanager
def opened_parquet(
    path: Path, columns: Sequence[str], *, encoded: Sequence[str] = ()
) -> Iterator[pq.ParquetFile]:
    """The file, to be read within `reading_parquet`. encoded: columns to be read as dictionaries.

    Raises BadInput where it lacks one of the columns.
    """
    metadata = parquet_metadata(path)
    if missing := [name for name in columns if name not in metadata.schema.names]:
        what = f"no column {', '.join(missing)}"
        raise BadInput(str(path), what, f"columns {', '.join(columns)}", CURE)
    with open_parquet(
        path, metadata=metadata, read_dictionary=list(encoded), page_checksum_verification=True
    ) as file:
        yield file


@contextlib.contextmanager
def reading_parquet(path: Path, expected: str = "a dataset", cure: str = CURE) -> Iterator[None]:
    """Whatever is wrong with the file is BadInput, other than an error of the system with it."""
    try:
        yield
    except DAMAGE as error:
        if isinstance(error, OSError) and error.errno:
            raise
        reason = str(error).partition("\n")[0][:200]
        raise BadInput(str(path), f"no readable Parquet ({reason})", expected, cure) from error


def reading(path: Path, rows: Iterator[ReadRow]) -> Iterator[ReadRow]:
    """What is made of the rows of a file, where that fails if one of them is damaged."""
    with reading_parquet(path):
        yield from rows


#: what pyarrow raises for bytes that it cannot read; OSError without a number, too, and for a size
#: that a flipped bit made huge an error of memory
DAMAGE: tuple[Any, ...] = (
    pa.ArrowException, OSError, ValueError, OverflowError, MemoryError, KeyError, TypeError,
)  # fmt: skip


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
    """Lines with as many fields as columns: those after the usual ones are left out of a line
    where none is known, as of an ARC, which has no record ids."""
    if lines.count(separator) == lines.count(b"\n") * (columns - 1):
        return lines
    missing = separator + UNKNOWN
    rows = (line + missing * (columns - 1 - line.count(separator)) for line in lines.splitlines())
    return b"\n".join(rows) + b"\n"


ROWS = 1 << 17  # of a row group


class _Growing:
    """A file that only grows: what was written since it was last taken."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._at += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        """All is there at once."""

    def close(self) -> None:
        """The reader takes what is left."""

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def parquet_pieces(
    schema: pa.Schema, rows: Iterable[pa.RecordBatch], **options: Any
) -> Iterator[bytes]:
    """The bytes of a file of Parquet, some at a time. options: of pyarrow."""
    growing = _Growing()
    with pq.ParquetWriter(growing, schema, compression="zstd", **options) as writer:
        for batch in rows:
            writer.write_batch(batch, row_group_size=ROWS)
            yield growing.take()
    yield growing.take()
