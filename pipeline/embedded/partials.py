"""The spellings of one part of links and captures: what a process does for canonicalize.

Keys are made of the distinct strings of blocks, about a tenth as many as links, and counts are
added by their indices. A table holds what was counted for each spelling, until the part ends or
the table is full; it then begins anew, and the same spelling has several rows, to be added later.

Files of part n in the folder: n-0.parquet, n-1.parquet … with columns part, row, key, uri,
captures, links and last (a timestamp as a number, or UNSEEN); and n.npy, int64: for each string of
each block of links its row in the part, counted through all tables, or -1 without one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import nsmallest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.kernel.keys import KeyFunction, forgetful_key_function
from pipeline.embedded.columns import Block, capture_blocks, link_blocks
from pipeline.embedded.growing import Growing
from pipeline.workers import Tell

UNLINKED = "IP"  # hops that are never edges, as in jobs/canonicalize.py
UNSEEN = -1
EXAMPLES = 20
ROW_BYTES = 400  # of a table, beside the strings: two objects, their places, three counts
NO_KEY = b""

Rows = npt.NDArray[np.int64]


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

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(path.stat().st_size for path in (self.links, self.captures) if path)


class PartWork(NamedTuple):
    """What to count, into which folder. keyed: the URIs are keys already, and captures no captures
    but keys to know of. budget: bytes of memory of the table, the program and a block apart."""

    part: Part
    folder: Path
    keep_www: bool
    keyed: bool
    budget: int


@dataclass
class Counted:
    """What a part gave. rows: in all its tables; links and captures: those that are kept.
    dropped: by reason; examples: of URIs without key."""

    rows: int = 0
    links: int = 0
    captures: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    examples: list[bytes] = field(default_factory=list)

    def add(self, other: Counted) -> None:
        self.rows += other.rows
        self.links += other.links
        self.captures += other.captures
        self.dropped += other.dropped
        self.example({*self.examples, *other.examples})

    def example(self, uris: set[bytes]) -> None:
        self.examples = nsmallest(EXAMPLES, uris)


class _Table:
    """Spellings by their row, with the key of each (NO_KEY without) and its counts."""

    def __init__(self, key_of: KeyFunction) -> None:
        self._key_of = key_of
        self._row_of: dict[bytes, int] = {}
        self.uris: list[bytes] = []
        self._keys: list[bytes] = []
        self.size = 0  # bytes
        self.counts = np.zeros((3, 0), np.int64)  # captures, links, last
        self.keyed = np.zeros(0, np.bool_)
        self.spelled = np.zeros(0, np.bool_)  # in a link or capture that is kept

    def __len__(self) -> int:
        return len(self.uris)

    def rows(self, uris: pa.StringArray) -> Rows:
        """The rows of distinct URIs, new ones where they are new."""
        given = uris.cast(pa.binary()).to_pylist()
        row_of = self._row_of
        self._add([uri for uri in given if uri not in row_of])
        return np.fromiter(map(row_of.__getitem__, given), np.int64, len(given))

    def _add(self, uris: list[bytes]) -> None:
        keys = [key or NO_KEY for key in map(self._key_of, uris)]
        self._row_of.update(zip(uris, range(len(self), len(self) + len(uris)), strict=True))
        self.uris += uris
        self._keys += keys
        self.size += sum(map(len, uris)) + sum(map(len, keys)) + ROW_BYTES * len(uris)
        keyed = np.fromiter(map(bool, keys), np.bool_, len(keys))
        self.keyed = np.concatenate((self.keyed, keyed))
        self.spelled = np.concatenate((self.spelled, np.zeros(len(keys), np.bool_)))
        nothing = np.array([[0], [0], [UNSEEN]]).repeat(len(keys), axis=1)
        self.counts = np.concatenate((self.counts, nothing), axis=1)

    def columns(self, first: int) -> pa.Table:
        """The spelled rows, numbered from `first`; all others are of strings that nothing kept."""
        spelled = pa.array(np.flatnonzero(self.spelled))
        captures, links, last = (pa.array(column).take(spelled) for column in self.counts)
        return pa.table(
            {
                "row": pc.add(spelled, first),
                "key": _strings(self._keys).take(spelled),
                "uri": _strings(self.uris).take(spelled),
                "captures": captures,
                "links": links,
                "last": last,
            }
        )


def _itself(key: bytes) -> bytes:
    return key


def _strings(values: list[bytes]) -> pa.LargeStringArray:
    """UTF-8, as all keys are and all URIs that have one."""
    ends = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, values), np.int64, len(values)), out=ends[1:])
    return pa.LargeStringArray.from_buffers(
        len(values), pa.py_buffer(ends), pa.py_buffer(b"".join(values))
    )


class _Counting:
    """A part on its way through tables."""

    def __init__(self, work: PartWork) -> None:
        self._part, self._folder = work.part, work.folder
        self._full = work.budget // 2  # a full table is copied to be written
        self._keyed = work.keyed
        self._key_of = _itself if work.keyed else forgetful_key_function(work.keep_www)
        self._table = _Table(self._key_of)
        self._tables = 0
        self.counted = Counted()

    def links(self, path: Path) -> None:
        with Growing(self._folder / self._part.rows, np.int64) as file:
            for block in link_blocks(path):
                targets, sources = map(self._table.rows, (block.targets, block.sources))
                self._add(block, targets, sources)
                rows = np.concatenate((targets, sources))
                file.write(np.where(self._table.spelled[rows], rows + self.counted.rows, -1))
                self._end_block()

    def captures(self, path: Path) -> None:
        for block in capture_blocks(path):
            uris = block["uri"].combine_chunks().dictionary_encode()
            strings = self._table.rows(uris.dictionary)
            rows = strings[uris.indices.to_numpy()]
            keyed = self._table.keyed[rows]
            self._without_key(rows[~keyed])
            numbers = pc.fill_null(block["timestamp"].cast(pa.int64()), UNSEEN).to_numpy()
            captures, _, last = self._table.counts
            np.add.at(captures, rows[keyed], not self._keyed)
            np.maximum.at(last, rows[keyed], numbers[keyed])
            self._table.spelled[rows[keyed]] = True
            self.counted.captures += int(np.count_nonzero(keyed)) if not self._keyed else 0
            self._end_block()

    def _add(self, block: Block, targets: Rows, sources: Rows) -> None:
        """Count the links of a block for their spellings."""
        edges = ~block.of_hops(UNLINKED)
        for number, hop in enumerate(block.hops):
            if hop in UNLINKED and (count := int(np.count_nonzero(block.hop == number))):
                self.counted.dropped[f"hop.{hop}"] += count
        target_keyed = self._table.keyed[targets][block.target]
        kept = edges & target_keyed & self._table.keyed[sources][block.source]
        if lost := np.flatnonzero(edges & ~kept).tolist():
            which = np.where(target_keyed, sources[block.source], targets[block.target])
            self._without_key(which[lost])
        linked = np.bincount(block.target[kept], minlength=len(targets))
        self._table.counts[1, targets] += linked
        self._table.spelled[targets[linked > 0]] = True
        linking = np.bincount(block.source[kept], minlength=len(sources))
        self._table.spelled[sources[linking > 0]] = True
        self.counted.links += int(np.count_nonzero(kept))

    def _without_key(self, rows: Rows) -> None:
        if len(rows):
            self.counted.dropped["no-key"] += len(rows)
            lost = {self._table.uris[row] for row in np.unique(rows).tolist()}
            self.counted.example({*self.counted.examples, *lost})

    def _end_block(self) -> None:
        if self._table.size > self._full:
            self.end_table()

    def end_table(self) -> None:
        columns = self._table.columns(self.counted.rows)
        if len(columns):
            numbers = pa.array(np.full(len(columns), self._part.number, np.int32))
            _write(
                columns.append_column("part", numbers),
                self._folder / f"{self._part.number}-{self._tables}.parquet",
            )
        self._tables += 1
        self.counted.rows += len(self._table)
        self._table = _Table(self._key_of)


def _write(columns: pa.Table, path: Path) -> None:
    with path.open("wb") as stream:
        pq.write_table(
            columns, stream, compression="lz4", use_dictionary=False, write_statistics=False
        )


def count_part(work: PartWork, tell: Tell) -> Counted:
    """Count the spellings of a part, into files of the folder."""
    counting = _Counting(work)
    if work.part.links:
        counting.links(work.part.links)
    if work.part.captures:
        counting.captures(work.part.captures)
    counting.end_table()
    return counting.counted
