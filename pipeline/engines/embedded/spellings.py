"""canonicalize: blocks of links and captures to every spelling of each key, and to key numbers.

uris/uris.parquet: number, key, uri, captures, links and last, sorted by key, then uri, as the job
jobs/canonicalize.py has them in text. A key's number is its rank among all keys in byte order.
numbers/PART.npy: for every distinct string of every block of a part of links, the target
dictionary before the source dictionary, its key number; the type's greatest value without one.
From here on no step of the graph reads a string.

Processes count the spellings of parts (partials.py), then add up those of partitions by a hash of
the URI (partitions.py). Each spelling then has its key and its place among all, and is there once:
DuckDB sorts these by key and uri, one pass over them numbers the keys, and the strings of the parts
get their numbers by place. CPU: proportional to the strings of blocks, in any number of parts, but
for that one sort.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.rows import UNKNOWN
from pipeline.data.csr import id_type
from pipeline.data.database import batches, database, feed, write_behind
from pipeline.data.growing import Growing
from pipeline.data.pairs import Numbers
from pipeline.data.parquet import CHECKED, parquet_batches
from pipeline.data.workers import Answer, Died, answers
from pipeline.engines.embedded.columns import string_bytes
from pipeline.engines.embedded.partials import MOST_BYTES, Part, PartWork, count_part
from pipeline.engines.embedded.partitions import (
    PARTITION_COPIES,
    PLACED,
    PartitionWork,
    merge_partition,
    spellings,
)
from pipeline.engines.embedded.spelling_table import UNSEEN, Counted

URIS = "uris.parquet"
DELTA = "DELTA_BYTE_ARRAY"
PROCESS_BYTES = 150 << 20  # of a process that has imported what it needs, and of a block
LEAST_PARTITION = 1 << 22  # bytes: with smaller ones, starting processes would cost more
PIECE = 1 << 20  # strings
SCHEMA = pa.schema(
    [
        ("number", pa.int64()), ("key", pa.string()), ("uri", pa.string()),
        ("captures", pa.int64()), ("links", pa.int64()), ("last", pa.string()),
    ]
)  # fmt: skip
FOLDED = pa.schema([("key", pa.string()), ("target_key", pa.string())])


@dataclass(frozen=True)
class SpellingCounts:
    """uris: rows of the dataset; keys: distinct ones; links and captures that are kept; dropped:
    links and captures by reason (`no-key`, `hop.I`, `hop.P`); examples: URIs without key."""

    uris: int
    keys: int
    links: int
    captures: int
    dropped: dict[str, int]
    examples: list[str]


def canonicalize(
    links: Path,
    captures: Path,
    uris: Path,
    numbers: Path,
    *,
    budget: int,
    tmp: Path,
    processes: int = 1,
    threads: int = 1,
    keep_www: bool = False,
    keyed: bool = False,
    folds: Path | None = None,
) -> SpellingCounts:
    """Spellings and key numbers of all parts, in new folders `uris` and `numbers`.

    links, captures: folders of parts. keyed: their URIs are keys, see `PartWork`. budget: bytes of
    memory for all processes together. tmp: a folder for what does not fit. Raises BadInput for a
    part that cannot be read.
    """
    for folder in (uris, numbers):
        folder.mkdir(parents=True)
    parts = _parts(links, captures)
    share = budget // processes - PROCESS_BYTES
    with tempfile.TemporaryDirectory(dir=tmp) as name:
        folder, partitions = Path(name), _partitions(parts, share, processes)
        works = [PartWork(part, folder, partitions, keep_www, keyed, share) for part in parts]
        counted = _counted(works, processes)
        tables = [
            folder / part.table(number)
            for part, found in zip(parts, counted, strict=True)
            for number in range(len(found.tables))
        ]
        merges = [PartitionWork(p, tables, keep_www, keyed) for p in range(partitions)]
        numbering = _Numbering(_merged(merges, processes))
        left = budget - numbering.nbytes - PROCESS_BYTES
        with (uris / URIS).open("wb") as stream, _writer(stream) as file:
            write_behind(
                file, map(numbering.numbered, _sorted(merges, folder, left, threads, folds))
            )
        placing = _Placing(merges, numbering)
        for part, found in zip(parts, counted, strict=True):
            of_rows = placing.numbers(found.tables)
            if part.links:
                _write_numbers(folder / part.rows, of_rows, numbers / f"{part.name}.npy")
    total = Counted()
    for found in counted:
        total.add(found)
    return SpellingCounts(
        uris=numbering.uris,
        keys=numbering.keys,
        links=total.links,
        captures=total.captures,
        dropped=dict(sorted(total.dropped.items())),
        examples=[uri.decode("utf-8", "replace") for uri in total.examples],
    )


def _parts(links: Path, captures: Path) -> list[Part]:
    found: dict[str, list[Path | None]] = {}
    for which, folder in enumerate((links, captures)):
        for path in sorted(folder.glob("*.parquet")):
            found.setdefault(path.stem, [None, None])[which] = path
    return [Part(number, *found[name]) for number, name in enumerate(sorted(found))]


def _partitions(parts: list[Part], share: int, processes: int) -> int:
    """So many that a process has room for one of them, even if no table had a string twice; and
    that every process has one, unless they would be small."""
    paths = [path for part in parts for path in (part.links, part.captures) if path]
    size = sum(map(string_bytes, paths))
    room = max(LEAST_PARTITION, min(share // PARTITION_COPIES, MOST_BYTES))
    return max(1 + size // room, min(processes, size // LEAST_PARTITION))


def _counted(works: list[PartWork], processes: int) -> list[Counted]:
    """What each part gave."""
    largest_first = sorted(works, key=lambda work: -work.part.size)
    found: dict[int, Counted] = {}
    for work, answer in answers(count_part, largest_first, processes):
        part = work.part
        found[part.number] = _alive(answer, part.links or part.captures or work.folder)
    return [found[work.part.number] for work in works]


def _merged(works: list[PartitionWork], processes: int) -> list[int]:
    """How many spellings each partition has."""
    if not works[0].tables:
        return []
    found = {
        work.number: _alive(answer, work.spellings)
        for work, answer in answers(merge_partition, works, processes)
    }
    return [found[work.number] for work in works]


def _alive(answer: Answer | Died, path: Path) -> Answer:
    if isinstance(answer, Died):
        raise BadInput(
            str(path),
            f"the process that read it died ({answer.how})",
            "a part that can be read in the memory there is",
            "Run it again with less --memory or fewer --jobs, so that it takes less.",
        )
    return answer


def _sorted(
    merges: list[PartitionWork], folder: Path, budget: int, threads: int, folds: Path | None
) -> Iterator[pa.RecordBatch]:
    """The rows of all partitions by key, then uri; folds: whose keys give way to others."""
    if not merges[0].tables:
        return
    with database(folder, budget=budget, threads=threads) as (db, _):
        feed(db, "spellings", PLACED, spellings(merges))
        rows = "SELECT * FROM spellings"
        if folds:
            feed(db, "folds", FOLDED, parquet_batches(folds, FOLDED.names))
            final = "coalesce(target_key, spellings.key) AS key"
            rows = f"""SELECT spellings.* REPLACE ({final}) FROM spellings
                LEFT JOIN folds ON folds.key = spellings.key"""
        yield from batches(db, f"FROM ({rows}) ORDER BY key, uri")


def _writer(stream: BinaryIO) -> pq.ParquetWriter:
    """Sorted strings share their beginnings, which this encoding leaves out."""
    encodings = {"number": "DELTA_BINARY_PACKED", "key": DELTA, "uri": DELTA}
    return pq.ParquetWriter(
        stream, SCHEMA, compression="zstd", use_dictionary=["last"], column_encoding=encodings,
        **CHECKED,
    )  # fmt: skip


class _Numbering:
    """Spellings in order, whose keys get numbers. sizes: how many there are in each partition."""

    def __init__(self, sizes: list[int]) -> None:
        self.firsts = np.cumsum([0, *sizes])  # places of the partitions' spellings among all
        self.uris = int(self.firsts[-1])
        self.number_of = np.zeros(self.uris, id_type(self.uris))  # by place
        self.keys = 0
        self._key: Any = None  # the latest

    @property
    def nbytes(self) -> int:
        return self.number_of.nbytes

    def numbered(self, rows: pa.RecordBatch) -> pa.Table:
        """Rows of the dataset uris."""
        keys = rows["key"]
        new = np.ones(len(rows), np.bool_)
        new[1:] = pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
        new[0] = keys[0] != self._key
        self._require_order(keys)
        numbers = self.keys - 1 + np.cumsum(new)
        self.number_of[rows["place"].to_numpy()] = numbers
        self._key, self.keys = keys[-1], int(numbers[-1]) + 1
        digits = pc.utf8_lpad(rows["last"].cast(pa.string()), 14, "0")
        last = pc.if_else(pc.equal(rows["last"], UNSEEN), UNKNOWN.decode(), digits)
        columns = [rows[name] for name in ("key", "uri", "captures", "links")]
        return pa.table([numbers, *columns, last], SCHEMA)

    def _require_order(self, keys: pa.StringArray) -> None:
        """Numbers of keys that are not in order would be wrong ids without a sign of it."""
        late = self._key is not None and pc.less(keys[0], self._key).as_py()
        if late or pc.any(pc.less(keys[1:], keys[:-1])).as_py():
            raise AssertionError("DuckDB gave keys out of order")


class _Placing:
    """The key numbers of the rows of tables, asked for table after table."""

    def __init__(self, merges: list[PartitionWork], numbering: _Numbering) -> None:
        self._numbering = numbering
        some = merges if merges[0].tables else []
        self._places = [np.load(work.places, mmap_mode="r") for work in some]
        self._read = [0] * len(some)

    def numbers(self, tables: list[list[int]]) -> Numbers:
        """tables: how many rows each has of every partition. The last number is for no row: the
        type's greatest value."""
        kind, found = id_type(self._numbering.keys), list[Numbers]()
        for sizes in tables:
            for partition, size in enumerate(sizes):
                begin = self._read[partition]
                self._read[partition] = end = begin + size
                places = self._places[partition][begin:end]
                numbers = self._numbering.number_of[self._numbering.firsts[partition] + places]
                found.append(numbers.astype(kind))
        return np.concatenate([*found, np.full(1, np.iinfo(kind).max, kind)])


def _write_numbers(rows: Path, of_rows: Numbers, output: Path) -> None:
    """The key numbers of the strings of a part, for the rows that the file `rows` has."""
    found = np.load(rows, mmap_mode="r")
    with Growing(output, of_rows.dtype) as file:
        for at in range(0, len(found), PIECE):
            file.write(of_rows[found[at : at + PIECE]])  # row -1 is the last
