"""The spellings of one partition of all parts: the second task of a process in canonicalize.

A URI is in the same partition in every table. So each partition can be made distinct alone, within
the memory, and a key is made once for each URI.

Files of partition p in the folder: spellings-p.arrow with columns key, uri, captures, links and
last, a row for each spelling; and spellings-p.npy, uint32: for each row of the partition, table
after table, the position of its spelling.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from crawlrank.jobs.kernel.keys.keys import KeyFunction, forgetful_key_function
from crawlrank.jobs.kernel.storage.arrow_files import native_file
from crawlrank.pipeline.data.arrays import Growing, Int64Array
from crawlrank.pipeline.data.workers import Tell
from crawlrank.pipeline.engines.embedded.canonicalization.part_spellings import SpellingSetup
from crawlrank.pipeline.engines.embedded.canonicalization.spelling_table import (
    PIECE,
    UNSEEN,
    distinct_strings,
)
from crawlrank.pipeline.engines.embedded.columns import Indices

PARTITION_COPIES = 6  # of its strings, while they are made distinct and their keys are made
SCHEMA = pa.schema(
    [
        ("key", pa.string()), ("uri", pa.string()), ("captures", pa.int64()),
        ("links", pa.int64()), ("last", pa.int64()),
    ]
)  # fmt: skip
POSITIONED = pa.schema([("position", pa.int64()), *SCHEMA])


class PartitionWork(NamedTuple):
    """A partition of these tables, in their order."""

    number: int
    tables: list[Path]
    setup: SpellingSetup

    @property
    def spellings(self) -> Path:
        return self.setup.folder / f"spellings-{self.number}.arrow"

    @property
    def positions(self) -> Path:
        return self.spellings.with_suffix(".npy")


def merge_partition(work: PartitionWork, tell: Tell) -> int:
    """Make the spellings of a partition distinct, into files beside the tables; their number."""
    batches = [_batch(table, work.number) for table in work.tables]
    batches = [batch for batch in batches if len(batch)]
    uris, indices = distinct_strings([batch["uri"] for batch in batches])
    counts = np.zeros((3, len(uris)), np.int64)
    counts[2] = UNSEEN
    with Growing(work.positions, np.uint32) as positions:
        for rows, batch in zip(indices, batches, strict=True):
            _add(counts, rows, batch)
            positions.write(rows)
    del batches, indices
    _write(work, uris, counts)
    return len(uris)


def _batch(table: Path, number: int) -> pa.RecordBatch:
    with native_file(table) as stream, pa.ipc.open_file(stream) as file:
        return file.get_batch(number)


def _add(counts: Int64Array, rows: Indices, batch: pa.RecordBatch) -> None:
    """The counts of a batch, which has each spelling once."""
    captures, links, last = counts
    captures[rows] += batch["captures"].to_numpy()
    links[rows] += batch["links"].to_numpy()
    last[rows] = np.maximum(last[rows], batch["last"].to_numpy())


def _write(work: PartitionWork, uris: pa.StringArray, counts: Int64Array) -> None:
    key_of = forgetful_key_function(work.setup.www)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with (
        work.spellings.open("wb") as stream,
        pa.ipc.new_file(stream, SCHEMA, options=options) as file,
    ):
        for begin in range(0, len(uris), PIECE):
            piece = uris[begin : begin + PIECE]
            keys = piece if work.setup.keyed else _keys(piece, key_of)
            columns = (pa.array(column[begin : begin + PIECE]) for column in counts)
            file.write_batch(pa.record_batch([keys, piece, *columns], SCHEMA))


def _keys(uris: pa.StringArray, key_of: KeyFunction) -> pa.StringArray:
    keys = list(map(key_of, uris.cast(pa.binary()).to_pylist()))
    if not all(keys):
        raise AssertionError(f"no key for {uris[keys.index(None)]}, which should have one")
    return pa.array(keys, pa.binary()).cast(pa.string())


def spellings(works: list[PartitionWork]) -> Iterator[pa.RecordBatch]:
    """The spellings of all partitions, with their positions among all as the first column."""
    first = 0
    for work in works:
        with native_file(work.spellings) as stream, pa.ipc.open_file(stream) as file:
            for number in range(file.num_record_batches):
                batch = file.get_batch(number)
                positions = pa.array(np.arange(first, first + len(batch)))
                yield pa.record_batch([positions, *batch.columns], POSITIONED)
                first += len(batch)
