"""canonicalize: blocks of links and captures to every spelling of each key, and to key numbers.

Datasets: uris/uris.parquet has number, key, uri, captures, links and last, sorted by key, then uri:
the rows of jobs/canonicalize.py, with a number for each key. The number is the rank of the key
among all keys in byte order. numbers/PART.npy has, for every distinct string of every block of a
part of links, the target dictionary before the source dictionary, its key number; the type's
greatest value without one. No later step of the graph reads a string.

Processes count the spellings of parts, then add up those of partitions by a hash of the URI
(spellings.py). Each spelling then has its key and its position among all, and is there once: DuckDB
sorts these by key and uri, one pass over them numbers the keys, and the strings of the parts get
their numbers by position. CPU: proportional to the strings of blocks, in any number of parts,
except for that one sort.

Some keys were linked to in another charset than they were captured in. An uncaptured key whose
query is no UTF-8 folds into the only captured key that it is in UTF-8, for some charset, as in
jobs/respell.py.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.captures.choosing import NOTHING_LEFT, UNLISTED
from crawlrank.jobs.kernel.formats import datasets
from crawlrank.jobs.kernel.formats.datasets import FOLDS
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.kernel.keys.keys import (
    BEYOND_ASCII,
    KeyFunction,
    Www,
    forgetful_key_function,
    in_utf_8,
    is_foreign,
)
from crawlrank.pipeline.data.arrays import Growing, Int64Array
from crawlrank.pipeline.data.csr import Ids, id_type
from crawlrank.pipeline.data.database import batches, database, feed, read_ahead, write_behind
from crawlrank.pipeline.data.parquet import parquet_batches, parquet_writer, schema_of
from crawlrank.pipeline.data.workers import Workers
from crawlrank.pipeline.engines.embedded.canonicalization.spelling_table import UNSEEN, PartCounts
from crawlrank.pipeline.engines.embedded.canonicalization.spellings import (
    MOST_BYTES,
    PARTITION_COPIES,
    POSITIONED,
    CountWork,
    PartitionWork,
    SpellingSetup,
    count_part,
    merge_partition,
    spellings,
)
from crawlrank.pipeline.engines.embedded.columns import string_bytes
from crawlrank.pipeline.engines.embedded.extraction import PROCESS_BYTES, part_results

LEAST_PARTITION = 1 << 22  # bytes: with smaller ones, starting processes would cost more
FOLDED = schema_of(FOLDS.first(2))

PartPaths = tuple[Path | None, Path | None]  # of links and captures, where there are such


@dataclass
class SpellingCounts(PartCounts):
    """Counts of all parts. uris: rows of the dataset; keys: distinct ones. folded: keys that were
    linked to in another charset, by counter."""

    uris: int = 0
    keys: int = 0
    folded: Counter[str] = field(default_factory=Counter)

    def with_parts(self, parts: Iterable[PartCounts]) -> SpellingCounts:
        for part in parts:
            self.add(part)
        return self


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
    www: Www = "strip",
    keyed: bool = False,
    folds: Path | None = None,
    partitions: int | None = None,
    edges: Path | None = None,
) -> SpellingCounts:
    """Spellings and key numbers of all parts, in new folders `uris` and `numbers`.

    links, captures: folders of parts. keyed: their URIs are keys, see `CountWork`. budget: bytes of
    memory for all processes together. tmp: a folder for what does not fit. partitions: of
    spellings; None: by their size. edges: a new folder for those of links, for gen-graph of the
    same run. Raises BadInput for a part that cannot be read.
    """
    for folder in filter(None, (uris, numbers, edges)):
        folder.mkdir(parents=True)
    parts, share = _parts(links, captures), budget // processes - PROCESS_BYTES
    size = sum(string_bytes(path) for part in parts for path in part if path)
    partitions = partitions or usual_partitions(size, share, processes)
    with tempfile.TemporaryDirectory(dir=tmp) as name:
        setup = SpellingSetup(Path(name), partitions, www, keyed, share, edges)
        works = [CountWork(number, *part, setup) for number, part in enumerate(parts)]
        counts, merges, sizes = _merged(works, setup, processes)
        keys = KeyNumbers(sizes)
        left = budget - keys.nbytes - PROCESS_BYTES
        with database(setup.folder, budget=left, threads=threads) as (db, _):
            folded = respell(db, merges)
            ordered = _sorted(db, merges, folds, bool(folded))
            write_uris(map(keys.numbered, ordered), uris / URIS)
        PartNumbers(merges, keys).write_all(works, counts, numbers)
        return SpellingCounts(uris=keys.uris, keys=keys.count, folded=folded).with_parts(counts)


def _parts(links: Path, captures: Path) -> list[PartPaths]:
    """The largest first, so that no process begins a large one when the others are nearly done."""
    files = [{path.stem: path for path in each.glob("*.parquet")} for each in (links, captures)]
    names = sorted(files[0].keys() | files[1].keys())
    parts = [(files[0].get(name), files[1].get(name)) for name in names]
    return sorted(parts, key=lambda part: -sum(path.stat().st_size for path in part if path))


def _merged(
    works: list[CountWork], setup: SpellingSetup, processes: int
) -> tuple[list[PartCounts], list[PartitionWork], list[int]]:
    """The counts of parts; partitions of their spellings, and how many each has. The processes do
    both, as each takes some time to start."""
    with Workers() as workers:
        counts = part_results(count_part, works, processes, lambda work: work.path, workers)
        tables = [path for part in counts for path in part.tables]
        merges = [PartitionWork(number, tables, setup) for number in range(setup.partitions)]
        spelled = part_results(
            merge_partition, merges, processes, lambda work: work.spellings, workers
        )
        return counts, merges, spelled


def usual_partitions(size: int, share: int, processes: int) -> int:
    """The number at which a process has room for one of them, even if no table had a string twice;
    and that every process has one, unless they would be small. size: bytes of strings. share: bytes
    of memory of a process."""
    room = max(LEAST_PARTITION, min(share // PARTITION_COPIES, MOST_BYTES))
    return max(1 + size // room, min(processes, size // LEAST_PARTITION))


def _sorted(
    db: duckdb.DuckDBPyConnection, merges: list[PartitionWork], folds: Path | None, respelled: bool
) -> Iterator[pa.RecordBatch]:
    """The rows of all partitions by key, then uri. folds: keys and those that they fold into.
    respelled: whether there is a table of such keys."""
    feed(db, "spellings", POSITIONED, read_ahead(spellings(merges)))
    rows = "SELECT * FROM spellings"
    if respelled:
        rows = f"""SELECT s.* REPLACE (coalesce(target_key, s.key) AS key) FROM ({rows}) s
            LEFT JOIN respelled ON respelled.key = s.key"""
    if folds:
        feed(db, "folds", FOLDED, parquet_batches(folds, FOLDED.names))
        gone = ", ".join(f"'{target.decode()}'" for target in NOTHING_LEFT)
        rows = f"""SELECT s.* REPLACE (
            CASE WHEN target_key IN ({gone}) THEN s.key ELSE coalesce(target_key, s.key) END AS key,
            CASE WHEN target_key IN ({gone}) THEN 0 ELSE links END AS links),
            coalesce(target_key IN ({gone}), false) AS gone,
            coalesce(target_key = '{UNLISTED.decode()}', false) AS unlisted
            FROM ({rows}) s LEFT JOIN folds ON folds.key = s.key"""
    yield from batches(db, f"FROM ({rows}) ORDER BY key, uri")


CANDIDATES = pa.schema([("key", pa.string()), ("foreign_key", pa.string())])
MAKE = """
CREATE TABLE captured AS SELECT DISTINCT key FROM beyond WHERE captures > 0 AND
    (key IN (SELECT key FROM candidate) OR key IN (SELECT foreign_key FROM candidate));
CREATE TABLE single AS SELECT foreign_key AS key, min(key) AS target_key, count(DISTINCT key) AS n
    FROM candidate SEMI JOIN captured USING (key)
    WHERE foreign_key NOT IN (SELECT key FROM captured) AND foreign_key <> key GROUP BY foreign_key;
CREATE TABLE respelled AS SELECT key, target_key FROM single WHERE n = 1;
"""


def respell(db: duckdb.DuckDBPyConnection, merges: list[PartitionWork]) -> Counter[str]:
    """Make the table `respelled` (key, target_key) where there are such keys; counters. Where the
    URIs are keys themselves, nothing is known of captures."""
    setup = merges[0].setup
    if setup.keyed:
        return Counter()
    key_of = forgetful_key_function(setup.www)
    feed(db, "candidates", CANDIDATES, _candidates(_beyond(merges), key_of))
    db.execute("CREATE TABLE candidate AS SELECT DISTINCT * FROM candidates")
    db.unregister("candidates")
    ((count,),) = db.execute("SELECT count(*) FROM candidate").fetchall()
    if not count:
        return Counter()
    feed(db, "beyond", POSITIONED, _beyond(merges))
    db.execute(MAKE)
    db.unregister("beyond")
    ((folds,),) = db.execute("SELECT count(*) FROM respelled").fetchall()
    ((several,),) = db.execute("SELECT count(*) FROM single WHERE n > 1").fetchall()
    return Counter({"folds.charset": folds, "unfolded.ambiguous": several})


def _beyond(merges: list[PartitionWork]) -> Iterator[pa.RecordBatch]:
    """The spellings whose query has escapes beyond ASCII."""
    for batch in spellings(merges):
        yield batch.filter(pc.match_substring_regex(batch["uri"], BEYOND_ASCII))


def _candidates(rows: Iterator[pa.RecordBatch], key_of: KeyFunction) -> Iterator[pa.RecordBatch]:
    for batch in rows:
        missed = batch.filter(pc.equal(batch["captures"], 0))
        pairs = [
            (candidate.decode(), key)
            for uri, key in zip(missed["uri"].to_pylist(), missed["key"].to_pylist(), strict=True)
            if is_foreign(uri.encode())
            for candidate in filter(None, map(key_of, in_utf_8(uri.encode())))
        ]
        columns = [pa.array([pair[at] for pair in pairs], pa.string()) for at in (0, 1)]
        yield pa.record_batch(columns, CANDIDATES)


URIS = "uris.parquet"
DELTA = "DELTA_BYTE_ARRAY"
PIECE = 1 << 20  # strings
URIS_SCHEMA = schema_of(datasets.URIS.parquet_columns)


def write_uris(rows: Iterable[pa.Table], path: Path) -> None:
    """Sorted strings share prefixes, which the encoding DELTA leaves out."""
    encodings = {"number": "DELTA_BINARY_PACKED", "key": DELTA, "uri": DELTA}
    with parquet_writer(
        path, URIS_SCHEMA, use_dictionary=["last"], column_encoding=encodings
    ) as file:
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
        """The numbers by position, in a type that may be smaller, whose greatest value stands for
        none too."""
        numbers = self._keys.by_position[positions]
        smaller = numbers.astype(np.uint32) if kind is np.uint32 else numbers.astype(np.uint64)
        smaller[numbers == self._keys.none] = np.iinfo(kind).max
        return smaller
