"""Links and captures in Parquet, and back in blocks of numbers over few distinct strings.

links: columns target, source and hop, and where asked for timestamp and reference, all strings.
Pages repeat their menus and a page's links their source, so every column of a row group, here a
block, is dictionary-encoded: any reader of Parquet sees strings, while those of this engine take
the dictionary and an index for each link, and no string is made for a link. anchors: target,
source, words, timestamp and, where asked for, around, likewise. captures: the columns of Capture
(those after the usual ones where asked for), status and offset as numbers, null where unknown.
Renaming parts is left to the caller. URIs are UTF-8, as extraction writes them.
"""

from __future__ import annotations

import contextlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.formats.datasets import ANCHORS, CAPTURES, LINKS
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, UNLINKED_HOPS, AnchorRun, Capture
from crawlrank.jobs.kernel.storage.arrow_files import native_file, parquet_metadata
from crawlrank.pipeline.data.parquet import (
    CHECKED,
    arrow_writer,
    opened_parquet,
    reading_parquet,
    schema_of,
)

BLOCK = 1 << 18  # links
BLOCK_STRINGS = 1 << 25  # bytes of distinct URIs, each of up to 8 KiB
CAPTURES_BLOCK = 1 << 15
DICTIONARY_LIMIT = 1 << 30  # bytes, above what a block holds: beyond it Parquet would write plain
LINK_COLUMNS = tuple(LINKS.first(LINKS.usual))
DATED_COLUMNS = tuple(LINKS.columns)
URI_COLUMNS = ("target", "source", "uri")
CAPTURE_SCHEMA = schema_of(CAPTURES.first(CAPTURES.usual))
WHOLE_CAPTURE_SCHEMA = schema_of(CAPTURES.columns)
ENCODED = pa.dictionary(pa.int32(), pa.string())
EDGES_SCHEMA = pa.schema([("target", pa.int32()), ("source", pa.int32())])

Indices = npt.NDArray[np.int32]


class _Column:
    """A column of a block: its distinct strings, numbered as they come, and the number of one for
    every row. size: bytes of the strings."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = defaultdict(count().__next__)
        self.indices, self.size = array("i"), 0

    def add(self, values: Sequence[bytes] | bytes, begin: int, end: int) -> None:
        """Add the rows from begin to end of these values, or as many of one value."""
        numbers, known = self._numbers, len(self._numbers)
        if isinstance(values, bytes):
            self.indices.extend(array("i", [numbers[values]]) * (end - begin))
        else:
            self.indices.extend(map(numbers.__getitem__, values[begin:end]))
        if new := len(numbers) - known:
            self.size += sum(map(len, islice(reversed(numbers), new)))

    def taken(self) -> pa.DictionaryArray:
        """The column, which begins anew."""
        strings = pa.array(list(self._numbers), pa.binary()).cast(pa.string())  # checks the UTF-8
        indices = pa.Array.from_buffers(
            pa.int32(), len(self.indices), [None, pa.py_buffer(self.indices)]
        )
        self.__init__()  # type: ignore[misc]
        return pa.DictionaryArray.from_arrays(indices, strings, safe=False)


class _Writer(contextlib.AbstractContextManager[Any]):
    """A Parquet file, written row group by row group; not to be used if an error comes. passing:
    only to be appended to another soon, and as Arrow has it in memory."""

    def __init__(self, path: Path, schema: pa.Schema, *, passing: bool, **options: Any) -> None:
        self.rows, self.schema = 0, schema
        self._stream = path.open("wb")  # pyarrow takes names in UTF-8 only
        if passing:
            self._file = pa.ipc.new_stream(self._stream, schema)
        else:
            options = {**CHECKED, **options}
            self._file = pq.ParquetWriter(self._stream, schema, compression="zstd", **options)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._stream, self._file:
            if kind is None:
                self._flush()

    def append(self, path: Path) -> None:
        """The rows of a passing file, while none were added one by one."""
        with native_file(path) as stream, pa.ipc.open_stream(stream) as reader:
            for batch in reader:
                self._write(pa.Table.from_batches([batch]))
                self.rows += len(batch)

    def _write(self, table: pa.Table) -> None:
        if len(table):  # a row group has rows
            self._file.write_table(table, len(table))

    def _flush(self) -> None:
        raise NotImplementedError


def encoded(names: Iterable[str]) -> pa.Schema:
    return pa.schema([pa.field(name, ENCODED, nullable=False) for name in names])


OF_STRINGS: Mapping[str, Any] = MappingProxyType(
    {
        "dictionary_pagesize_limit": DICTIONARY_LIMIT,
        "write_statistics": False,  # the least and greatest of a block, which nobody asks for
        "store_schema": False,  # so that all see strings
    }
)


class LinksWriter(_Writer):
    """Writes links, page by page. rows: how many so far. Memory: a block and its strings.

    block: links of a row group. dated: with a timestamp and kinds of references for each
    link. Raises ValueError for a URI that is not UTF-8, at the end of its block.
    """

    most_strings = BLOCK_STRINGS

    def __init__(
        self, path: Path, block: int = BLOCK, *, dated: bool = False, passing: bool = False
    ) -> None:
        names = DATED_COLUMNS if dated else LINK_COLUMNS
        super().__init__(path, encoded(names), passing=passing, **OF_STRINGS)
        self._block = block
        self._columns = [_Column() for _ in names]

    def add(
        self,
        source: bytes,
        targets: Sequence[bytes],
        hops: Sequence[bytes] | bytes,
        timestamp: bytes = UNKNOWN,
        references: Sequence[bytes] | None = None,
    ) -> None:
        """The links of a page: a target, a hop and, where asked for, kinds of references each. One
        hop is that of all."""
        size, (target, page, *_) = len(targets), self._columns
        rows = targets, source, hops, timestamp, references or UNKNOWN
        begin = 0
        while begin < size:
            end = min(size, begin + self._block - len(target.indices))
            for column, values in zip(self._columns, rows, strict=False):
                column.add(values, begin, end)
            begin = end
            if len(target.indices) >= self._block or target.size + page.size >= self.most_strings:
                self._flush()
        self.rows += size

    def _flush(self) -> None:
        columns = [column.taken() for column in self._columns]
        if len(columns[0]):
            self._write(pa.table(columns, self.schema))

    def add_block(self, block: Block, kept: npt.NDArray[np.bool_]) -> None:
        """Links of a block that has no timestamps any more."""
        if kept.any():
            table = pa.table(block.columns(kept), self.schema)
            self._write(table)
            self.rows += len(table)


class AnchorsWriter(_Writer):
    """Writes the words of links, page by page, each pair of target and words of a page once. The
    strings of a page are joined at once, while they are in the processor's cache, and numbered by
    Arrow when a block is full."""

    block, most_strings = 1 << 17, BLOCK_STRINGS

    def __init__(self, path: Path, *, columns: int = ANCHORS.usual, passing: bool = False) -> None:
        super().__init__(path, encoded(ANCHORS.first(columns)), passing=passing, **OF_STRINGS)
        self._begin()

    def _begin(self) -> None:
        # of each page; counts: of links
        self._targets, self._words, self._around = list[bytes](), list[bytes](), list[bytes]()
        self._sources, self._timestamps, self._counts = list[bytes](), list[bytes](), list[int]()
        self._count = self._size = 0

    def add(self, run: AnchorRun) -> None:
        """No target may have a line feed."""
        each, source, words, timestamp, around = run
        targets, count = b"\n".join([*each, b""]), len(each)
        self._targets.append(targets)
        self._words.append(words)
        self._around.append(around)
        self._sources.append(source)
        self._timestamps.append(timestamp)
        self._counts.append(count)
        self._count += count
        self._size += len(targets) + len(words) + len(around)
        if self._count >= self.block or self._size >= self.most_strings:
            self._flush()

    def _flush(self) -> None:
        if self._counts:
            pages = np.repeat(np.arange(len(self._counts)), self._counts)
            target, words = _split(self._targets), _split(self._words)
            rows = _rows_of(pages, target, words)
            source, timestamp = (
                _taken(_coded(each), pages[rows]) for each in (self._sources, self._timestamps)
            )
            columns = [_taken(target, rows), source, _taken(words, rows), timestamp]
            if len(self.schema) > len(columns):
                columns.append(_taken(_split(self._around), rows))
            self._write(pa.table(columns, self.schema))
            self.rows += len(rows)
        self._begin()


def _coded(values: Sequence[bytes]) -> pa.DictionaryArray:
    return pa.array(values).cast(pa.string()).dictionary_encode()


def _split(texts: Sequence[bytes]) -> pa.DictionaryArray:
    """The lines of texts that end with line feeds. Raises ValueError for what is not UTF-8."""
    text = b"".join(texts)
    ends = np.array([0, len(text) - 1], np.int32)
    whole = pa.StringArray.from_buffers(1, pa.py_buffer(ends), pa.py_buffer(text))
    whole.validate(full=True)
    return pc.split_pattern(whole, "\n").values.dictionary_encode()


def _taken(column: pa.DictionaryArray, rows: npt.NDArray[np.int64]) -> pa.DictionaryArray:
    """These rows, by numpy and its buffer: Arrow's own take, and an Arrow array of a numpy one,
    cost 8 ms each when they are first asked for."""
    indices = column.indices.to_numpy()[rows]
    numbers = pa.Array.from_buffers(column.indices.type, len(rows), [None, pa.py_buffer(indices)])
    return pa.DictionaryArray.from_arrays(numbers, column.dictionary, safe=False)


def _rows_of(
    pages: npt.NDArray[np.int64], target: pa.DictionaryArray, words: pa.DictionaryArray
) -> npt.NDArray[np.int64]:
    """The first link of a page with each target and words, of those that have both, in order."""
    code = pages
    for column in (target, words):
        code = code * len(column.dictionary) + column.indices.to_numpy()
    kept = np.zeros(len(code), np.bool_)
    kept[np.unique(code, return_index=True)[1]] = True
    for column in (target, words):
        kept &= (pc.binary_length(column.dictionary).to_numpy() > 0)[column.indices.to_numpy()]
    return np.flatnonzero(kept)


class CapturesWriter(_Writer):
    """Writes captures; rows: how many so far. columns: the first of Capture. Memory: a block of
    captures."""

    block = CAPTURES_BLOCK

    def __init__(self, path: Path, *, columns: int = CAPTURES.usual, passing: bool = False) -> None:
        super().__init__(path, schema_of(CAPTURES.first(columns)), passing=passing)
        self._rows: list[Capture] = []

    def add(self, captures: Iterable[Capture]) -> None:
        """Captures as extraction gives them. Raises ValueError for a field of another type."""
        for capture in captures:
            self._rows.append(capture)
            if len(self._rows) >= self.block:
                self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        columns = [
            pa.array([None if value == UNKNOWN else value for value in column], pa.binary())
            .cast(pa.string())
            .cast(field.type)
            for column, field in zip(zip(*self._rows, strict=True), self.schema, strict=False)
        ]
        self._write(pa.table(columns, self.schema))
        self.rows += len(self._rows)
        self._rows = []


@dataclass(frozen=True, eq=False)
class Block:
    """Links as numbers: link i leads from sources[source[i]] to targets[target[i]] by
    hops[hop[i]]; where told, timestamps and kinds of references are so too (`-` if unknown). The
    strings are distinct; some may be of no link."""

    targets: pa.StringArray
    target: Indices
    sources: pa.StringArray
    source: Indices
    hops: list[str]
    hop: Indices
    timestamps: pa.StringArray | None = None
    timestamp: Indices | None = None
    references: pa.StringArray | None = None
    reference: Indices | None = None

    def of_hops(self, letters: str) -> npt.NDArray[np.bool_]:
        """Which links are of one of these hops."""
        numbers = [number for number, hop in enumerate(self.hops) if hop in letters]
        return np.isin(self.hop, numbers) if numbers else np.zeros(len(self.hop), np.bool_)

    def columns(self, kept: npt.NDArray[np.bool_]) -> list[pa.DictionaryArray]:
        """Target, source and hop of some links, with no strings but theirs."""
        strings = (self.targets, self.sources, pa.array(self.hops, pa.string()))
        indices = (self.target, self.source, self.hop)
        return [_encoding(one[kept], those) for one, those in zip(indices, strings, strict=True)]


class Edges(NamedTuple):
    """The links of a block that may be edges: an index into its targets and one into its sources
    for each. targets, sources: how many strings the block has."""

    targets: int
    sources: int
    target: Indices
    source: Indices


def edges_of(block: Block) -> Edges:
    """The links of a block without those of UNLINKED_HOPS."""
    target, source, unlinked = block.target, block.source, block.of_hops(UNLINKED_HOPS)
    if unlinked.any():
        target, source = target[~unlinked], source[~unlinked]
    return Edges(len(block.targets), len(block.sources), target, source)


@contextlib.contextmanager
def edges_writer(path: Path) -> Iterator[Callable[[Edges], None]]:
    """A function that writes the edges of a block, for a later step of the same run: a batch of
    indices, 4 to 8 bytes a link."""
    with arrow_writer(path, EDGES_SCHEMA) as file:

        def write(edges: Edges) -> None:
            columns = [pa.array(edges.target), pa.array(edges.source)]
            sizes = {"targets": str(edges.targets), "sources": str(edges.sources)}
            file.write_batch(pa.record_batch(columns, EDGES_SCHEMA), sizes)

        yield write


def written_edges(path: Path) -> Iterator[Edges]:
    """The edges that `edges_writer` has written."""
    with native_file(path) as stream, pa.ipc.open_file(stream) as file:
        for number in range(file.num_record_batches):
            batch, sizes = file.get_batch_with_custom_metadata(number)
            target, source = (column.to_numpy() for column in batch.columns)
            yield Edges(int(sizes[b"targets"]), int(sizes[b"sources"]), target, source)


def link_blocks(path: Path, columns: Sequence[str] = LINK_COLUMNS) -> Iterator[Block]:
    """The blocks of a part of links. Raises BadInput for a file that is none."""
    for table in _row_groups(path, columns, encoded=True):
        (targets, target), (sources, source), (hops, hop), *more = map(_encoded, table.columns)
        yield Block(targets, target, sources, source, hops.to_pylist(), hop, *chain(*more))


def dated_blocks(path: Path) -> Iterator[Block]:
    """The blocks of a part with timestamps, and kinds of references if it has them."""
    with _reading(path):
        kinds = DATED_COLUMNS[-1] in parquet_metadata(path).schema.names
    return link_blocks(path, DATED_COLUMNS if kinds else DATED_COLUMNS[:-1])


def capture_blocks(path: Path, columns: Sequence[str] = ("uri", "timestamp")) -> Iterator[pa.Table]:
    """Columns of the captures of a part, by row groups, of their types. Raises BadInput."""
    schema = pa.schema([WHOLE_CAPTURE_SCHEMA.field(name) for name in columns])
    for table in _row_groups(path, columns):
        with _reading(path):
            rows = table if table.schema == schema else table.cast(schema)
        yield rows


def _encoding(indices: Indices, strings: pa.StringArray) -> pa.DictionaryArray:
    used, positions = np.unique(indices, return_inverse=True)
    numbers = pa.array(positions.astype(np.int32))
    return pa.DictionaryArray.from_arrays(numbers, strings.take(pa.array(used)))


def _encoded(column: pa.ChunkedArray) -> tuple[pa.StringArray, Indices]:
    """Distinct strings, and the index of one for every row; of what `_row_groups` has checked."""
    whole = column.unify_dictionaries().combine_chunks()
    return whole.dictionary, whole.indices.to_numpy()


def string_bytes(path: Path) -> int:
    """Bytes of the URIs of a part, those of each block once. Raises BadInput."""
    with _reading(path):
        metadata = parquet_metadata(path)
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        columns = [group.column(i) for group in groups for i in range(metadata.num_columns)]
        sizes = [c.total_uncompressed_size for c in columns if c.path_in_schema in URI_COLUMNS]
        if any(size < 0 for size in sizes):
            raise ValueError("a column of less than no bytes")
        return sum(sizes)


def _reading(path: Path) -> contextlib.AbstractContextManager[None]:
    cure = "Remove it and run extract-links again."
    return reading_parquet(path, "a part of the dataset", cure)


def _row_groups(path: Path, columns: Sequence[str], *, encoded: bool = False) -> Iterator[pa.Table]:
    """Tables that may be gone by. encoded: of dictionaries, whose indices are in them, and without
    nulls."""
    names = columns if encoded else ()
    with _reading(path), opened_parquet(path, columns, encoded=names) as file:
        for number in range(file.num_row_groups):
            group = file.read_row_group(number, list(columns), use_threads=False).select(columns)
            for column in group.columns:
                column.validate(full=True)
            if encoded and not all(map(_is_encoded, group.columns)):
                raise ValueError("columns that are no strings, or have nulls")
            if len(group):
                yield group


def _is_encoded(column: pa.ChunkedArray) -> bool:
    return column.type == ENCODED and not column.null_count
