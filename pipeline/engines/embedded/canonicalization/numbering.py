"""Key numbers: the rank of every key among all keys in byte order, and the dataset uris with them.

numbers/PART.npy: for every distinct string of every block of a part of links, the target
dictionary before the source dictionary, its key number; the type's greatest value without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.formats import datasets
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.pipeline.data.arrays import Growing, Int64Array
from crawlrank.pipeline.data.csr import Ids, id_type
from crawlrank.pipeline.data.database import write_behind
from crawlrank.pipeline.data.parquet import CHECKED, schema_of
from crawlrank.pipeline.engines.embedded.canonicalization.part_spellings import CountWork
from crawlrank.pipeline.engines.embedded.canonicalization.partition_spellings import PartitionWork
from crawlrank.pipeline.engines.embedded.canonicalization.spelling_table import UNSEEN, PartCounts

URIS = "uris.parquet"
DELTA = "DELTA_BYTE_ARRAY"
PIECE = 1 << 20  # strings
URIS_SCHEMA = schema_of(datasets.URIS.parquet_columns)


def write_uris(rows: Iterable[pa.Table], path: Path) -> None:
    """Sorted strings share prefixes, which the encoding DELTA leaves out."""
    encodings = {"number": "DELTA_BINARY_PACKED", "key": DELTA, "uri": DELTA}
    with (
        path.open("wb") as stream,
        pq.ParquetWriter(
            stream, URIS_SCHEMA, compression="zstd", use_dictionary=["last"],
            column_encoding=encodings, **CHECKED,
        ) as file,
    ):  # fmt: skip
        write_behind(file, rows)


class KeyNumbers:
    """Numbers the keys of spellings that come in order. sizes: spellings of each partition."""

    def __init__(self, sizes: list[int]) -> None:
        self.firsts = np.cumsum([0, *sizes])  # position of each partition's first spelling
        kind = id_type(int(self.firsts[-1]))
        self.none = np.iinfo(kind).max  # of spellings whose links do not count
        self.by_position = np.zeros(int(self.firsts[-1]), kind)
        self.count = self.uris = 0
        self._key: Any = None  # the latest

    @property
    def nbytes(self) -> int:
        return self.by_position.nbytes

    def numbered(self, rows: pa.RecordBatch) -> pa.Table:
        """Rows of the dataset uris. Where keys fold, the columns gone and unlisted say which links
        do not count, and which rows do not."""
        if "gone" in rows.schema.names:
            self.by_position[rows["position"].filter(rows["gone"]).to_numpy()] = self.none
            return self._numbered(rows.filter(pc.invert(rows["unlisted"])))
        return self._numbered(rows)

    def _numbered(self, rows: pa.RecordBatch) -> pa.Table:
        if not len(rows):
            return URIS_SCHEMA.empty_table()
        keys = rows["key"]
        new = np.ones(len(rows), np.bool_)
        new[1:] = pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
        new[0] = keys[0] != self._key
        self._require_order(keys)
        numbers = self.count - 1 + np.cumsum(new)
        positions = rows["position"].to_numpy()
        if "gone" in rows.schema.names:
            counts = ~rows["gone"].to_numpy(zero_copy_only=False)
            self.by_position[positions[counts]] = numbers[counts]
        else:
            self.by_position[positions] = numbers
        self.uris += len(rows)
        self._key, self.count = keys[-1], int(numbers[-1]) + 1
        digits = pc.utf8_lpad(rows["last"].cast(pa.string()), 14, "0")
        last = pc.if_else(pc.equal(rows["last"], UNSEEN), UNKNOWN.decode(), digits)
        columns = [rows[name] for name in ("key", "uri", "captures", "links")]
        return pa.table([numbers, *columns, last], URIS_SCHEMA)

    def _require_order(self, keys: pa.StringArray) -> None:
        """Numbers of keys out of order would be wrong ids, and nothing would show it."""
        late = self._key is not None and pc.less(keys[0], self._key).as_py()
        if late or pc.any(pc.less(keys[1:], keys[:-1])).as_py():
            raise AssertionError("DuckDB gave keys out of order")


class PartNumbers:
    """Writes the key numbers of the strings of parts, part after part."""

    def __init__(self, merges: list[PartitionWork], keys: KeyNumbers) -> None:
        self._keys = keys
        self._positions = [np.load(work.positions, mmap_mode="r") for work in merges]
        self._begins = [0] * len(merges)

    def write_all(
        self, works: Sequence[CountWork], counts: Sequence[PartCounts], folder: Path
    ) -> None:
        """The files of all parts, in the order of the tables that were merged."""
        for work, part in zip(works, counts, strict=True):
            self.write(work, part, folder)

    def write(self, work: CountWork, counts: PartCounts, folder: Path) -> None:
        """The file of a part in the folder numbers, if the part has links."""
        of_rows = self._of_rows(counts.tables.values())
        if work.links is None:
            return
        rows = np.load(work.rows, mmap_mode="r")
        with Growing(folder / f"{work.links.stem}.npy", of_rows.dtype) as file:
            for begin in range(0, len(rows), PIECE):
                file.write(of_rows[rows[begin : begin + PIECE]])  # row -1 is the last

    def _of_rows(self, tables: Iterable[list[int]]) -> Ids:
        """The key number of each row of a part's tables, and as the last one that of no row."""
        kind, numbers = id_type(self._keys.count), []
        for sizes in tables:
            for partition, size in enumerate(sizes):
                begin = self._begins[partition]
                self._begins[partition] = end = begin + size
                positions = self._positions[partition][begin:end]
                first = self._keys.firsts[partition]
                numbers.append(self._numbers(first + positions, kind))
        return np.concatenate([*numbers, np.full(1, np.iinfo(kind).max, kind)])

    def _numbers(self, positions: Int64Array, kind: type[np.uint32] | type[np.uint64]) -> Ids:
        """By position, in a type that may be smaller, whose greatest value stands for none too."""
        numbers = self._keys.by_position[positions]
        smaller = numbers.astype(np.uint32) if kind is np.uint32 else numbers.astype(np.uint64)
        smaller[numbers == self._keys.none] = np.iinfo(kind).max
        return smaller
