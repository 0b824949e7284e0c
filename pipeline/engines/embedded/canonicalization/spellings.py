"""The spellings of links and captures, by parts and then by partitions: the tasks of canonicalize.

**Parts.** The first task of a process gathers the blocks of one part in a table
(spelling_table.py) until the part ends or the table is full; then it writes the table and begins
another. Several tables may have the same spellings; the second task adds these up. Files of part n:
n-0.arrow, n-1.arrow … of tables, each a batch for every partition (a hash of the URI, the same in
all parts) with columns uri, captures, links and last (a timestamp as a number, or UNSEEN); and
n.npy, int64: for each string of each block of links its row in the part, counted through all
batches of all tables, or -1 without one.

**Partitions.** The second task reads one partition of all parts. A URI is in the same partition in
every table. So each partition can be made distinct alone, within the memory, and a key is made once
for each URI. Files of partition p: spellings-p.arrow with columns key, uri, captures, links and
last, a row for each spelling; and spellings-p.npy, uint32: for each row of the partition, table
after table, the position of its spelling.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.formats.rows import UNLINKED_HOPS
from crawlrank.jobs.kernel.keys.keys import KeyFunction, Www, forgetful_key_function
from crawlrank.jobs.kernel.storage.arrow_files import native_file
from crawlrank.pipeline.data.arrays import Growing, Int64Array
from crawlrank.pipeline.data.memory import give_back
from crawlrank.pipeline.data.parquet import arrow_writer, reading_parquet
from crawlrank.pipeline.data.workers import Tell
from crawlrank.pipeline.engines.embedded.canonicalization.spelling_table import (
    PIECE,
    UNSEEN,
    USUAL,
    CaptureIndices,
    LinkIndices,
    PartCounts,
    SpellingTable,
    distinct_strings,
)
from crawlrank.pipeline.engines.embedded.columns import (
    Block,
    Indices,
    capture_blocks,
    edges_of,
    edges_writer,
    link_blocks,
)

TABLE_COPIES = 5  # of the strings, while they are made distinct, sorted and written
MOST_BYTES = 1 << 30  # of strings in one array, whose offsets are 32-bit numbers


class SpellingSetup(NamedTuple):
    """What all tasks of canonicalize share. folder: for their files. keyed: the URIs are keys
    already, and captures stand for keys of which no capture is known. budget: bytes of memory of
    a table in each process. edges: a folder for those of each part, for gen-graph; None: they are
    not kept."""

    folder: Path
    partitions: int
    www: Www
    keyed: bool
    budget: int
    edges: Path | None = None


class CountWork(NamedTuple):
    """One part of links and the part of captures of the same name; one of them may be missing."""

    number: int
    links: Path | None
    captures: Path | None
    setup: SpellingSetup

    @property
    def path(self) -> Path:
        return self.links or self.captures or self.setup.folder

    @property
    def rows(self) -> Path:
        return self.setup.folder / f"{self.number}.npy"


def count_part(work: CountWork, tell: Tell) -> PartCounts:
    """Count the spellings of a part, into files of the folder."""
    with Growing(work.rows, np.int64) as rows:
        counting = _Counting(work, rows)
        if work.links:
            counting.links(work.links)
        if work.captures:
            counting.captures(work.captures)
        counting.end_table()
    give_back()  # the process may have a partition next
    return counting.counts


class _Counting:
    """A part whose blocks go through tables."""

    def __init__(self, work: CountWork, rows: Growing) -> None:
        self._work, self._rows = work, rows
        self._full = min(work.setup.budget // TABLE_COPIES, MOST_BYTES)
        self._table = SpellingTable()
        self.counts = PartCounts()

    def links(self, path: Path) -> None:
        folder = self._work.setup.edges
        with edges_writer(folder / path.name) if folder else contextlib.nullcontext() as kept:
            for block in link_blocks(path):
                self._count_dropped(block)
                edges = edges_of(block)
                if kept:
                    kept(edges)
                indices = LinkIndices(edges.target, edges.source)
                self._add(indices, block.targets, block.sources)

    def _count_dropped(self, block: Block) -> None:
        for number, hop in enumerate(block.hops):
            if hop in UNLINKED_HOPS and (count := int(np.count_nonzero(block.hop == number))):
                self.counts.dropped[f"hop.{hop}"] += count

    def captures(self, path: Path) -> None:
        for block in capture_blocks(path):
            uris = block["uri"].combine_chunks().dictionary_encode()
            with reading_parquet(path):
                times = pc.fill_null(block["timestamp"].cast(pa.int64()), UNSEEN).to_numpy()
            self._add(CaptureIndices(uris.indices.to_numpy(), times), uris.dictionary)

    def _add(self, block: LinkIndices | CaptureIndices, *strings: pa.StringArray) -> None:
        self._table.add(block, *strings)
        if self._table.size > self._full:
            self.end_table()

    def end_table(self) -> None:
        if not self._table:
            return
        setup, before = self._work.setup, self.counts.rows
        self._table.count(self.counts, www=setup.www, keyed=setup.keyed)
        rows, sizes = self._table.partitioned(setup.partitions)
        path = setup.folder / f"{self._work.number}-{len(self.counts.tables)}.arrow"
        _write_batches(path, rows, sizes)
        self.counts.tables[path] = sizes
        for positions in self._table.positions():
            self._rows.write(np.where(positions < 0, -1, positions + before))
        self._table = SpellingTable()


def _write_batches(path: Path, rows: pa.RecordBatch, sizes: list[int]) -> None:
    """A file with a batch of each size."""
    with arrow_writer(path, rows.schema) as file:
        begin = 0
        for size in sizes:
            file.write_batch(rows[begin : begin + size])
            begin += size


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
    with arrow_writer(work.spellings, SCHEMA) as file:
        for begin in range(0, len(uris), PIECE):
            piece = uris[begin : begin + PIECE]
            keys = piece if work.setup.keyed else keys_of(piece, key_of)
            columns = (pa.array(column[begin : begin + PIECE]) for column in counts)
            file.write_batch(pa.record_batch([keys, piece, *columns], SCHEMA))


def keys_of(uris: pa.StringArray, key_of: KeyFunction) -> pa.StringArray:
    """The key of each URI. That of a usual one is the key of its host with its path in lower case,
    and is made without a Python object."""
    lower = pc.ascii_lower(uris)
    usual = pc.match_substring_regex(lower, USUAL)
    pieces = pc.split_pattern(lower.filter(usual), "/", max_splits=3).flatten()
    hosts, paths = pieces[2::4].dictionary_encode(), pieces[3::4]
    origins = [f"http://{host}/".encode() for host in hosts.dictionary.to_pylist()]
    of_hosts = _keys(origins, key_of).take(hosts.indices)
    usual_keys = pc.binary_join_element_wise(of_hosts, paths, "")
    others = pc.invert(usual)
    keys = _keys(uris.filter(others).cast(pa.binary()).to_pylist(), key_of)
    return pc.replace_with_mask(pc.replace_with_mask(uris, usual, usual_keys), others, keys)


def _keys(uris: list[bytes], key_of: KeyFunction) -> pa.StringArray:
    keys = list(map(key_of, uris))
    if not all(keys):
        raise AssertionError(f"no key for {uris[keys.index(None)]!r}, which should have one")
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
