"""Blocks of links and captures to their distinct strings, with counts for each.

Strings stay in Arrow. A block is held as indices into its own distinct strings. The strings of all
blocks of a table are made distinct at once, and counts are added by their new indices.

Which URIs have a key, for many at a time and mostly without making the key.

An http URI with a host name, of plain ASCII, without escaped letters, dot segments, brackets and
session ids, always has a key; for these a regular expression over the whole column is enough. For
all others the key is made, by jobs/kernel/keys/keys.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nsmallest
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.formats.rows import MAX_EXAMPLES
from crawlrank.jobs.kernel.keys.keys import KeyFunction, Www, forgetful_key_function
from crawlrank.pipeline.data.arrays import Int64Array
from crawlrank.pipeline.data.graph import Mask
from crawlrank.pipeline.engines.embedded.columns import Indices

UNSEEN = -1
PIECE = 1 << 16  # strings that are Python objects at once
STRING_BYTES = 60  # of a table for each string, beside itself: its indices and three counts
SCHEMA = pa.schema(
    [("uri", pa.string()), ("captures", pa.int64()), ("links", pa.int64()), ("last", pa.int64())]
)


@dataclass
class PartCounts:
    """Counts of a part. tables: for each file the number of rows in every partition. links and
    captures: those that are kept. dropped: by reason; examples: of URIs without key."""

    tables: dict[Path, list[int]] = field(default_factory=dict)
    links: int = 0
    captures: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    examples: list[bytes] = field(default_factory=list)

    def add(self, part: PartCounts) -> None:
        self.links += part.links
        self.captures += part.captures
        self.dropped += part.dropped
        self.add_examples(part.examples)

    def add_examples(self, uris: list[bytes]) -> None:
        self.examples = nsmallest(MAX_EXAMPLES, {*self.examples, *uris})

    @property
    def rows(self) -> int:
        return sum(map(sum, self.tables.values()))


class LinkIndices(NamedTuple):
    """Links of a block that may be edges, as indices into its two arrays of strings."""

    target: Indices
    source: Indices


class CaptureIndices(NamedTuple):
    """Captures of a block, as indices into its strings, and their timestamps."""

    uri: Indices
    timestamps: Int64Array


class SpellingTable:
    """Blocks, and after `count` the distinct strings of all with their counts."""

    def __init__(self) -> None:
        self._strings: list[pa.StringArray] = []
        self._blocks: list[LinkIndices | CaptureIndices] = []
        self.size = 0  # bytes

    def __bool__(self) -> bool:
        return bool(self._blocks)

    def add(self, block: LinkIndices | CaptureIndices, *strings: pa.StringArray) -> None:
        self._blocks.append(block)
        self._strings += strings
        self.size += sum(column.nbytes for column in block)
        self.size += sum(array.nbytes + STRING_BYTES * len(array) for array in strings)

    def count(self, counts: PartCounts, *, www: Www, keyed: bool) -> None:
        """Add to `counts` all but the tables. keyed: see `SpellingSetup`."""
        self._make_distinct()
        self._keyed = _not_empty(self.uris) if keyed else having_keys(self.uris, www=www)
        self._counts = np.zeros((3, len(self.uris)), np.int64)  # captures, links, last
        self._counts[2] = UNSEEN
        self._spelled = np.zeros(len(self.uris), np.bool_)  # in a link or capture that is kept
        rows = iter(self._rows)
        for block in self._blocks:
            if isinstance(block, LinkIndices):
                self._count_links(block, next(rows), next(rows), counts)
            else:
                self._count_captures(block, next(rows), counts, keyed=keyed)

    def _make_distinct(self) -> None:
        self.uris, self._rows = distinct_strings(self._strings)
        self._strings = []

    def _count_links(
        self, links: LinkIndices, targets: Indices, sources: Indices, counts: PartCounts
    ) -> None:
        target_keyed = self._keyed[targets][links.target]
        kept = target_keyed & self._keyed[sources][links.source]
        if lost := np.flatnonzero(~kept).tolist():
            which = np.where(target_keyed, sources[links.source], targets[links.target])
            self._without_key(which[lost], counts)
        linked = np.bincount(links.target[kept], minlength=len(targets))
        self._counts[1, targets] += linked
        self._spelled[targets[linked > 0]] = True
        linking = np.bincount(links.source[kept], minlength=len(sources))
        self._spelled[sources[linking > 0]] = True
        counts.links += int(np.count_nonzero(kept))

    def _count_captures(
        self, captures: CaptureIndices, strings: Indices, counts: PartCounts, *, keyed: bool
    ) -> None:
        rows = strings[captures.uri]
        kept = self._keyed[rows]
        self._without_key(rows[~kept], counts)
        of_uri, _, last = self._counts
        np.maximum.at(last, rows[kept], captures.timestamps[kept])
        self._spelled[rows[kept]] = True
        if not keyed:
            np.add.at(of_uri, rows[kept], 1)
            counts.captures += int(np.count_nonzero(kept))

    def _without_key(self, rows: Indices, counts: PartCounts) -> None:
        if len(rows):
            counts.dropped["no-key"] += len(rows)
            lost = self.uris.take(pa.array(np.unique(rows))).cast(pa.binary()).to_pylist()
            counts.add_examples(lost)

    def partitioned(self, partitions: int) -> tuple[pa.RecordBatch, list[int]]:
        """The rows by partition, without strings that no kept link or capture has; and how many
        rows each partition has. Afterwards `positions` has the new positions of rows."""
        spelled = np.flatnonzero(self._spelled)
        partition = _partition(self.uris.take(pa.array(spelled)), partitions)
        kept = spelled[np.argsort(partition, kind="stable")]
        self._positions = np.full(len(self.uris), -1)
        self._positions[kept] = np.arange(len(kept))
        counts = (pa.array(column[kept]) for column in self._counts)
        batch = pa.record_batch([self.uris.take(pa.array(kept)), *counts], SCHEMA)
        return batch, np.bincount(partition, minlength=partitions).tolist()

    def positions(self) -> Iterator[Int64Array]:
        """For the strings of links, as they were added, the positions of their rows, or -1."""
        rows = iter(self._rows)
        for block in self._blocks:
            if isinstance(block, LinkIndices):
                yield self._positions[next(rows)]
                yield self._positions[next(rows)]


def _not_empty(strings: pa.StringArray) -> Mask:
    filled: Mask = pc.not_equal(strings, "").to_numpy(zero_copy_only=False)
    return filled


def distinct_strings(arrays: list[pa.StringArray]) -> tuple[pa.StringArray, list[Indices]]:
    """The distinct strings of all arrays, and for each array its strings as indices of these."""
    encoded = pa.chunked_array(arrays, pa.string()).dictionary_encode()
    buffers = {tuple(map(_address, chunk.dictionary.buffers())) for chunk in encoded.chunks}
    if len(buffers) > 1:  # pyarrow gives one dictionary for all today; unifying takes much longer
        encoded = encoded.unify_dictionaries()
    strings = encoded.chunks[-1].dictionary if arrays else pa.array([], pa.string())
    return strings, [chunk.indices.to_numpy() for chunk in encoded.chunks]


def _address(buffer: pa.Buffer | None) -> int:
    return buffer.address if buffer else 0


def _partition(uris: pa.StringArray, partitions: int) -> Int64Array:
    """The partition of each URI."""
    if partitions == 1:
        return np.zeros(len(uris), np.int64)
    hashes = np.empty(len(uris), np.int64)
    for begin in range(0, len(uris), PIECE):
        piece = uris[begin : begin + PIECE].cast(pa.binary()).to_pylist()
        hashes[begin : begin + PIECE] = np.fromiter(map(crc32, piece), np.int64, len(piece))
    return hashes % partitions


ESCAPE = "%(?:[0189a-f][0-9a-f]|2[0-46-9a-df]|3[0-9a-f])"  # of no letter, dot or `%`
PLAIN = rf"""(?i)^https?://(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*/(?:[!"$&')-~]|{ESCAPE})*$"""
#: a character of a path, but `/`, `.` and those that a rule of keys may change: `%`, `?` and `(`
_CHARACTER = r"""!"$&')-,0->@-~-"""
_NAME = rf"[{_CHARACTER}][{_CHARACTER}.]*"
#: in lower case: a host name without port, and a path without query and empty names
USUAL = rf"^https?://(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*/(?:{_NAME}(?:/{_NAME})*)?$"
# URIs to which a special rule of surt may apply
RARE = r"(?i)/\.\.?(?:[/?]|$)|sid=|sessionid|cftoken="


def having_keys(
    uris: pa.StringArray, *, www: Www, key_of: KeyFunction | None = None
) -> npt.NDArray[np.bool_]:
    """Whether each URI has a key. key_of: makes the key of one."""
    usual = pc.match_substring_regex(pc.ascii_lower(uris), USUAL)
    keyed: npt.NDArray[np.bool_] = usual.to_numpy(zero_copy_only=False).copy()
    unusual = uris.filter(pc.invert(usual))
    plain = pc.match_substring_regex(unusual, PLAIN)
    rare = pc.match_substring_regex(unusual, RARE)
    keyed[~keyed] = pc.and_not(plain, rare).to_numpy(zero_copy_only=False)
    key_of = key_of or forgetful_key_function(www)
    others = np.flatnonzero(~keyed)
    unsure = uris.take(pa.array(others)).cast(pa.binary()).to_pylist()
    keyed[others] = np.fromiter((bool(key_of(uri)) for uri in unsure), np.bool_, len(unsure))
    return keyed
