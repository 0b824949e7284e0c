"""The spellings of one partition of all parts: what a process does second for canonicalize.

A URI is in the same partition in every table, so that each partition can be made distinct alone, in
the memory there is, and a key is made once for each URI.

Files of partition p in the folder: spellings-p.arrow with columns key, uri, captures, links and
last, a row for each spelling; and spellings-p.npy, uint32: for each row of the partition, table
after table, which of the spellings it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.kernel.keys.keys import KeyFunction, forgetful_key_function
from pipeline.data.growing import Growing
from pipeline.data.workers import Tell
from pipeline.engines.embedded.columns import Indices
from pipeline.engines.embedded.spelling_table import PIECE, UNSEEN, Rows, distinct_strings

PARTITION_COPIES = 6  # of its strings, while they are made distinct and keys made of them
SCHEMA = pa.schema(
    [
        ("key", pa.string()), ("uri", pa.string()), ("captures", pa.int64()),
        ("links", pa.int64()), ("last", pa.int64()),
    ]
)  # fmt: skip


class PartitionWork(NamedTuple):
    """Which partition of which tables, in their order. keyed: the URIs are keys already."""

    number: int
    tables: list[Path]
    keep_www: bool
    keyed: bool

    @property
    def spellings(self) -> Path:
        return self.tables[0].with_name(f"spellings-{self.number}.arrow")

    @property
    def places(self) -> Path:
        return self.spellings.with_suffix(".npy")


def merge_partition(work: PartitionWork, tell: Tell) -> int:
    """Make the spellings of a partition distinct, into files beside the tables; how many."""
    batches = [_batch(table, work.number) for table in work.tables]
    batches = [batch for batch in batches if len(batch)]
    uris, indices = distinct_strings([batch["uri"] for batch in batches])
    counts = np.zeros((3, len(uris)), np.int64)
    counts[2] = UNSEEN
    with Growing(work.places, np.uint32) as places:
        for rows, batch in zip(indices, batches, strict=True):
            _add(counts, rows, batch)
            places.write(rows)
    del batches, indices
    _write(work, uris, counts)
    return len(uris)


def _batch(table: Path, number: int) -> pa.RecordBatch:
    with table.open("rb") as stream, pa.ipc.open_file(stream) as file:
        return file.get_batch(number)


def _add(counts: Rows, rows: Indices, batch: pa.RecordBatch) -> None:
    """The counts of a batch, which has each spelling once."""
    captures, links, last = counts
    captures[rows] += batch["captures"].to_numpy()
    links[rows] += batch["links"].to_numpy()
    last[rows] = np.maximum(last[rows], batch["last"].to_numpy())


def _write(work: PartitionWork, uris: pa.StringArray, counts: Rows) -> None:
    key_of = forgetful_key_function(work.keep_www)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with (
        work.spellings.open("wb") as stream,
        pa.ipc.new_file(stream, SCHEMA, options=options) as file,
    ):
        for at in range(0, len(uris), PIECE):
            some = uris[at : at + PIECE]
            keys = some if work.keyed else _keys(some, key_of)
            columns = (pa.array(column[at : at + PIECE]) for column in counts)
            file.write_batch(pa.record_batch([keys, some, *columns], SCHEMA))


def _keys(uris: pa.StringArray, key_of: KeyFunction) -> pa.StringArray:
    keys = list(map(key_of, uris.cast(pa.binary()).to_pylist()))
    if not all(keys):
        raise AssertionError(f"no key for {uris[keys.index(None)]}, which was to have one")
    return pa.array(keys, pa.binary()).cast(pa.string())


def spellings(works: list[PartitionWork]) -> Iterator[pa.RecordBatch]:
    """The spellings of all partitions, with their places among all as the first column."""
    first = 0
    for work in works:
        with work.spellings.open("rb") as stream, pa.ipc.open_file(stream) as file:
            for number in range(file.num_record_batches):
                batch = file.get_batch(number)
                places = pa.array(np.arange(first, first + len(batch)))
                yield pa.record_batch([places, *batch.columns], PLACED)
                first += len(batch)


PLACED = pa.schema([("place", pa.int64()), *SCHEMA])
