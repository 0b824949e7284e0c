"""Blocks of links and captures to their distinct strings, with what is counted for each.

Strings stay in Arrow. A block is held as indices into its own distinct strings; those of all blocks
of a table are made distinct at once, and counts are added by the indices of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.engines.embedded.columns import Indices
from pipeline.engines.embedded.having_keys import having_keys

UNSEEN = -1
EXAMPLES = 20
PIECE = 1 << 16  # strings as Python has them
STRING_BYTES = 60  # of a table for each string, beside itself: its places and its three counts
SCHEMA = pa.schema(
    [("uri", pa.string()), ("captures", pa.int64()), ("links", pa.int64()), ("last", pa.int64())]
)

Rows = npt.NDArray[np.int64]


@dataclass
class Counted:
    """What a part gave. tables: how many rows each has of every partition. links and captures:
    those that are kept. dropped: by reason; examples: of URIs without key."""

    tables: list[list[int]] = field(default_factory=list)
    links: int = 0
    captures: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    examples: list[bytes] = field(default_factory=list)

    def add(self, other: Counted) -> None:
        self.tables += other.tables
        self.links += other.links
        self.captures += other.captures
        self.dropped += other.dropped
        self.example({*self.examples, *other.examples})

    def example(self, uris: set[bytes]) -> None:
        self.examples = nsmallest(EXAMPLES, uris)

    @property
    def rows(self) -> int:
        return sum(map(sum, self.tables))


class Links(NamedTuple):
    """Links of a block that may be edges, as indices into its two arrays of strings."""

    target: Indices
    source: Indices


class Captures(NamedTuple):
    """Captures of a block, as indices into its strings, and their timestamps."""

    uri: Indices
    timestamps: Rows


class Table:
    """Blocks, and once `count` has been called the distinct strings of all with their counts."""

    def __init__(self) -> None:
        self._strings: list[pa.StringArray] = []
        self._blocks: list[Links | Captures] = []
        self.size = 0  # bytes

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def add(self, block: Links | Captures, *strings: pa.StringArray) -> None:
        self._blocks.append(block)
        self._strings += strings
        self.size += sum(column.nbytes for column in block)
        self.size += sum(some.nbytes + STRING_BYTES * len(some) for some in strings)

    def count(self, counted: Counted, *, keep_www: bool, keyed: bool) -> None:
        """Adds to `counted` all but the rows. keyed: the URIs are keys already, and captures no
        captures but keys to know of."""
        self._make_distinct()
        self._keyed = _not_empty(self.uris) if keyed else having_keys(self.uris, keep_www=keep_www)
        self._counts = np.zeros((3, len(self.uris)), np.int64)  # captures, links, last
        self._counts[2] = UNSEEN
        self._spelled = np.zeros(len(self.uris), np.bool_)  # in a link or capture that is kept
        rows = iter(self._rows)
        for block in self._blocks:
            if isinstance(block, Links):
                self._count_links(block, next(rows), next(rows), counted)
            else:
                self._count_captures(block, next(rows), counted, keyed=keyed)

    def _make_distinct(self) -> None:
        self.uris, self._rows = distinct_strings(self._strings)
        self._strings = []

    def _count_links(
        self, links: Links, targets: Indices, sources: Indices, counted: Counted
    ) -> None:
        target_keyed = self._keyed[targets][links.target]
        kept = target_keyed & self._keyed[sources][links.source]
        if lost := np.flatnonzero(~kept).tolist():
            which = np.where(target_keyed, sources[links.source], targets[links.target])
            self._without_key(which[lost], counted)
        linked = np.bincount(links.target[kept], minlength=len(targets))
        self._counts[1, targets] += linked
        self._spelled[targets[linked > 0]] = True
        linking = np.bincount(links.source[kept], minlength=len(sources))
        self._spelled[sources[linking > 0]] = True
        counted.links += int(np.count_nonzero(kept))

    def _count_captures(
        self, captures: Captures, strings: Indices, counted: Counted, *, keyed: bool
    ) -> None:
        rows = strings[captures.uri]
        kept = self._keyed[rows]
        self._without_key(rows[~kept], counted)
        of_uri, _, last = self._counts
        np.maximum.at(last, rows[kept], captures.timestamps[kept])
        self._spelled[rows[kept]] = True
        if not keyed:
            np.add.at(of_uri, rows[kept], 1)
            counted.captures += int(np.count_nonzero(kept))

    def _without_key(self, rows: Indices, counted: Counted) -> None:
        if len(rows):
            counted.dropped["no-key"] += len(rows)
            lost = self.uris.take(pa.array(np.unique(rows))).cast(pa.binary()).to_pylist()
            counted.example({*counted.examples, *lost})

    def partitioned(self, partitions: int) -> tuple[pa.RecordBatch, list[int]]:
        """The spelled rows by partition, and how many each has; all others are of strings that
        nothing kept. After it `places` tells where a string's row went."""
        spelled = np.flatnonzero(self._spelled)
        partition = _partition(self.uris.take(pa.array(spelled)), partitions)
        kept = spelled[np.argsort(partition, kind="stable")]
        self._places = np.full(len(self.uris), -1)
        self._places[kept] = np.arange(len(kept))
        counts = (pa.array(column[kept]) for column in self._counts)
        batch = pa.record_batch([self.uris.take(pa.array(kept)), *counts], SCHEMA)
        return batch, np.bincount(partition, minlength=partitions).tolist()

    def places(self) -> Iterator[Rows]:
        """For the strings of links, as they were added, their rows, or -1."""
        rows = iter(self._rows)
        for block in self._blocks:
            if isinstance(block, Links):
                yield self._places[next(rows)]
                yield self._places[next(rows)]


def _not_empty(strings: pa.StringArray) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = pc.not_equal(strings, "").to_numpy(zero_copy_only=False)
    return found


def distinct_strings(arrays: list[pa.StringArray]) -> tuple[pa.StringArray, list[Indices]]:
    """The distinct ones of all arrays, and for each array its strings as indices of these."""
    encoded = pa.chunked_array(arrays, pa.string()).dictionary_encode()
    buffers = {tuple(map(_address, chunk.dictionary.buffers())) for chunk in encoded.chunks}
    if len(buffers) > 1:  # not one dictionary for all, as pyarrow gives; this takes much longer
        encoded = encoded.unify_dictionaries()
    strings = encoded.chunks[-1].dictionary if arrays else pa.array([], pa.string())
    return strings, [chunk.indices.to_numpy() for chunk in encoded.chunks]


def _address(buffer: pa.Buffer | None) -> int:
    return buffer.address if buffer else 0


def _partition(uris: pa.StringArray, partitions: int) -> npt.NDArray[np.int64]:
    """The partition of each URI."""
    if partitions == 1:
        return np.zeros(len(uris), np.int64)
    hashes = np.empty(len(uris), np.int64)
    for at in range(0, len(uris), PIECE):
        some = uris[at : at + PIECE].cast(pa.binary()).to_pylist()
        hashes[at : at + PIECE] = np.fromiter(map(crc32, some), np.int64, len(some))
    return hashes % partitions
