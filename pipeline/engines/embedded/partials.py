"""The spellings of one part of links and captures: what a process does first for canonicalize.

Blocks are gathered in a table (spelling_table.py) until the part ends or the table is full; then it
is written, and another begins. That may have the same spellings; partitions.py adds them up.

Files of part n in the folder: n-0.arrow, n-1.arrow … of tables, each a batch for every partition
(a hash of the URI says which, the same in all parts) with columns uri, captures, links and last (a
timestamp as a number, or UNSEEN); and n.npy, int64: for each string of each block of links its row
in the part, counted through all batches of all tables, or -1 without one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.data.growing import Growing
from pipeline.data.parquet import reading_parquet
from pipeline.data.workers import Tell
from pipeline.engines.embedded.columns import Block, capture_blocks, link_blocks
from pipeline.engines.embedded.spelling_table import UNSEEN, Captures, Counted, Links, Table

UNLINKED = "IPC"  # hops that are never edges, as in jobs/canonicalize.py
TABLE_COPIES = 5  # of the strings, while they are made distinct, put in order and written
MOST_BYTES = 1 << 30  # of strings in one array, whose places are 32-bit numbers


@dataclass(frozen=True)
class Part:
    """One part of each dataset, where there is one. number: its place among all parts."""

    number: int
    links: Path | None
    captures: Path | None

    @property
    def name(self) -> str:
        return (self.links or self.captures or Path()).stem

    @property
    def rows(self) -> str:
        """The name of the file of its strings' rows."""
        return f"{self.number}.npy"

    def table(self, number: int) -> str:
        """The name of the file of a table."""
        return f"{self.number}-{number}.arrow"

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(path.stat().st_size for path in (self.links, self.captures) if path)


class PartWork(NamedTuple):
    """What to count, into which folder, for how many partitions. keyed: the URIs are keys already,
    and captures no captures but keys to know of. budget: bytes of memory of the table, the program
    and a block apart."""

    part: Part
    folder: Path
    partitions: int
    keep_www: bool
    keyed: bool
    budget: int


class _Counting:
    """A part on its way through tables."""

    def __init__(self, work: PartWork, rows: Growing) -> None:
        self._work, self._rows = work, rows
        self._full = min(work.budget // TABLE_COPIES, MOST_BYTES)
        self._table = Table()
        self.counted = Counted()

    def links(self, path: Path) -> None:
        for block in link_blocks(path):
            self._add(self._edges(block), block.targets, block.sources)

    def _edges(self, block: Block) -> Links:
        """The links that may be edges; the others are counted."""
        unlinked = block.of_hops(UNLINKED)
        for number, hop in enumerate(block.hops):
            if hop in UNLINKED and (count := int(np.count_nonzero(block.hop == number))):
                self.counted.dropped[f"hop.{hop}"] += count
        if not unlinked.any():
            return Links(block.target, block.source)
        return Links(block.target[~unlinked], block.source[~unlinked])

    def captures(self, path: Path) -> None:
        for block in capture_blocks(path):
            uris = block["uri"].combine_chunks().dictionary_encode()
            with reading_parquet(path):
                numbers = pc.fill_null(block["timestamp"].cast(pa.int64()), UNSEEN).to_numpy()
            self._add(Captures(uris.indices.to_numpy(), numbers), uris.dictionary)

    def _add(self, block: Links | Captures, *strings: pa.StringArray) -> None:
        self._table.add(block, *strings)
        if self._table.size > self._full:
            self.end_table()

    def end_table(self) -> None:
        if not self._table:
            return
        work, before = self._work, self.counted.rows
        self._table.count(self.counted, keep_www=work.keep_www, keyed=work.keyed)
        rows, sizes = self._table.partitioned(work.partitions)
        write_batches(work.folder / work.part.table(len(self.counted.tables)), rows, sizes)
        self.counted.tables.append(sizes)
        for places in self._table.places():
            self._rows.write(np.where(places < 0, -1, places + before))
        self._table = Table()


def write_batches(path: Path, rows: pa.RecordBatch, sizes: list[int]) -> None:
    """A file of batches of these sizes."""
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with path.open("wb") as stream, pa.ipc.new_file(stream, rows.schema, options=options) as file:
        begin = 0
        for size in sizes:
            file.write_batch(rows[begin : begin + size])
            begin += size


def count_part(work: PartWork, tell: Tell) -> Counted:
    """Count the spellings of a part, into files of the folder."""
    part = work.part
    with Growing(work.folder / part.rows, np.int64) as rows:
        counting = _Counting(work, rows)
        if part.links:
            counting.links(part.links)
        if part.captures:
            counting.captures(part.captures)
        counting.end_table()
    return counting.counted
