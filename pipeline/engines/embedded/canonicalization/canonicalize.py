"""canonicalize: blocks of links and captures to every spelling of each key, and to key numbers.

uris/uris.parquet: number, key, uri, captures, links and last, sorted by key, then uri: the rows of
jobs/canonicalize.py, with a number for each key. numbers/PART.npy: see numbering.py. No later step
of the graph reads a string.

Processes count the spellings of parts (part_spellings.py), then add up those of partitions by a
hash of the URI (partition_spellings.py). Each spelling then has its key and its position among all,
and is there once: DuckDB sorts these by key and uri, one pass over them numbers the keys, and the
strings of the parts get their numbers by position. CPU: proportional to the strings of blocks, in
any number of parts, except for that one sort.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

from crawlrank.jobs.kernel.captures.choosing import NOTHING_LEFT, UNLISTED
from crawlrank.jobs.kernel.formats.datasets import FOLDS
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.pipeline.data.database import batches, database, feed
from crawlrank.pipeline.data.parquet import parquet_batches, schema_of
from crawlrank.pipeline.engines.embedded.canonicalization.numbering import (
    URIS,
    KeyNumbers,
    PartNumbers,
    write_uris,
)
from crawlrank.pipeline.engines.embedded.canonicalization.part_spellings import (
    MOST_BYTES,
    CountWork,
    SpellingSetup,
    count_part,
)
from crawlrank.pipeline.engines.embedded.canonicalization.partition_spellings import (
    PARTITION_COPIES,
    POSITIONED,
    PartitionWork,
    merge_partition,
    spellings,
)
from crawlrank.pipeline.engines.embedded.canonicalization.respelling import has_respelled, respell
from crawlrank.pipeline.engines.embedded.canonicalization.spelling_table import PartCounts
from crawlrank.pipeline.engines.embedded.columns import string_bytes
from crawlrank.pipeline.engines.embedded.part_pool import PROCESS_BYTES, part_results

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
) -> SpellingCounts:
    """Spellings and key numbers of all parts, in new folders `uris` and `numbers`.

    links, captures: folders of parts. keyed: their URIs are keys, see `CountWork`. budget: bytes of
    memory for all processes together. tmp: a folder for what does not fit. partitions: of
    spellings; None: by their size. Raises BadInput for a part that cannot be read.
    """
    for folder in (uris, numbers):
        folder.mkdir(parents=True)
    parts, share = _parts(links, captures), budget // processes - PROCESS_BYTES
    size = sum(string_bytes(path) for part in parts for path in part if path)
    partitions = partitions or usual_partitions(size, share, processes)
    with tempfile.TemporaryDirectory(dir=tmp) as name:
        setup = SpellingSetup(Path(name), partitions, www, keyed, share)
        works = [CountWork(number, *part, setup) for number, part in enumerate(parts)]
        counts = part_results(count_part, works, processes, lambda work: work.path)
        tables = [path for part in counts for path in part.tables]
        merges = [PartitionWork(number, tables, setup) for number in range(partitions)]
        sizes = part_results(merge_partition, merges, processes, lambda work: work.spellings)
        keys = KeyNumbers(sizes)
        left = budget - keys.nbytes - PROCESS_BYTES
        with database(setup.folder, budget=left, threads=threads) as (db, _):
            folded = respell(db, merges)
            write_uris(map(keys.numbered, _sorted(db, merges, folds)), uris / URIS)
        PartNumbers(merges, keys).write_all(works, counts, numbers)
        return SpellingCounts(uris=keys.uris, keys=keys.count, folded=folded).with_parts(counts)


def _parts(links: Path, captures: Path) -> list[PartPaths]:
    """The largest first, so that no process begins a large one when the others are nearly done."""
    files = [{path.stem: path for path in each.glob("*.parquet")} for each in (links, captures)]
    names = sorted(files[0].keys() | files[1].keys())
    parts = [(files[0].get(name), files[1].get(name)) for name in names]
    return sorted(parts, key=lambda part: -sum(path.stat().st_size for path in part if path))


def usual_partitions(size: int, share: int, processes: int) -> int:
    """So many that a process has room for one of them, even if no table had a string twice; and
    that every process has one, unless they would be small. size: bytes of strings. share: bytes of
    memory of a process."""
    room = max(LEAST_PARTITION, min(share // PARTITION_COPIES, MOST_BYTES))
    return max(1 + size // room, min(processes, size // LEAST_PARTITION))


def _sorted(
    db: duckdb.DuckDBPyConnection, merges: list[PartitionWork], folds: Path | None
) -> Iterator[pa.RecordBatch]:
    """The rows of all partitions by key, then uri. folds: keys and those that they fold into."""
    feed(db, "spellings", POSITIONED, spellings(merges))
    rows = "SELECT * FROM spellings"
    if has_respelled(db):
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
