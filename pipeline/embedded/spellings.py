"""canonicalize: blocks of links and captures to every spelling of each key, and to key numbers.

uris/uris.parquet: number, key, uri, captures, links and last, sorted by key, then uri, as the job
jobs/canonicalize.py has them in text. A key's number is its rank among all keys in byte order.
numbers/PART.npy: for every distinct string of every block of a part of links, the target
dictionary before the source dictionary, its key number; the type's greatest value without one.
From here on no step of the graph reads a string.

Processes count the spellings of parts (partials.py); DuckDB sorts what they give by key and uri;
one pass over that adds up what is the same and numbers the keys.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs.kernel.errors import BadInput
from jobs.kernel.lines import UNKNOWN
from pipeline.embedded.csr import id_type
from pipeline.embedded.growing import Growing
from pipeline.embedded.partials import UNSEEN, Counted, Part, PartWork, Rows, count_part
from pipeline.embedded.tables import batches, database
from pipeline.workers import Died, answers

URIS = "uris.parquet"
DELTA = "DELTA_BYTE_ARRAY"
PROCESS_BYTES = 150 << 20  # of a process that has imported what it needs, and of a block
PIECE = 1 << 20  # strings
SCHEMA = pa.schema(
    [
        ("number", pa.int64()), ("key", pa.string()), ("uri", pa.string()),
        ("captures", pa.int64()), ("links", pa.int64()), ("last", pa.string()),
    ]
)  # fmt: skip


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
) -> SpellingCounts:
    """Spellings and key numbers of all parts, in new folders `uris` and `numbers`.

    links, captures: folders of parts. keyed: their URIs are keys, see `PartWork`. budget: bytes of
    memory for all processes together. tmp: a folder for what does not fit. Raises BadInput for a
    part that cannot be read.
    """
    for folder in (uris, numbers):
        folder.mkdir(parents=True)
    parts = _parts(links, captures)
    total, offsets = Counted(), [0]
    with tempfile.TemporaryDirectory(dir=tmp) as name:
        folder = Path(name)
        share = budget // processes - PROCESS_BYTES
        works = [PartWork(part, folder, keep_www, keyed, share) for part in parts]
        for counted in _counted(works, processes):
            total.add(counted)
            offsets.append(total.rows)
        merging = _Merging(np.array(offsets))
        left = budget - merging.nbytes - PROCESS_BYTES
        with (uris / URIS).open("wb") as stream, _writer(stream) as file:
            for rows in merging.merged(_sorted(folder, left, threads)):
                file.write_table(rows, row_group_size=len(rows))
        for part in parts:
            if part.links:
                merging.write_numbers(part, folder, numbers)
    return SpellingCounts(
        uris=merging.uris,
        keys=merging.keys,
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


def _counted(works: list[PartWork], processes: int) -> list[Counted]:
    """What each part gave."""
    largest_first = sorted(works, key=lambda work: -work.part.size)
    found: dict[int, Counted] = {}
    for work, answer in answers(count_part, largest_first, processes):
        if isinstance(answer, Died):
            raise BadInput(
                str(work.part.links or work.part.captures),
                f"the process that read it died ({answer.how})",
                "a part that can be read in the memory there is",
                "Run it again with less --memory or fewer --jobs, so that it takes less.",
            )
        found[work.part.number] = answer
    return [found[work.part.number] for work in works]


def _sorted(folder: Path, budget: int, threads: int) -> Iterator[pa.RecordBatch]:
    """The rows of all tables by key, then uri."""
    if next(folder.glob("*.parquet"), None) is None:
        return
    with database(folder, budget=budget, threads=threads) as (db, near):
        (near / "tables").symlink_to(folder.absolute())
        yield from batches(db, f"SELECT * FROM '{near}/tables/*.parquet' ORDER BY key, uri")


def _writer(stream: BinaryIO) -> pq.ParquetWriter:
    """Sorted strings share their beginnings, which this encoding leaves out."""
    encodings = {"number": "DELTA_BINARY_PACKED", "key": DELTA, "uri": DELTA}
    return pq.ParquetWriter(
        stream, SCHEMA, compression="zstd", use_dictionary=["last"], column_encoding=encodings
    )


class _Merging:
    """Rows of tables in order: those of the same URI added up, and keys numbered."""

    def __init__(self, offsets: Rows) -> None:
        self._offsets = offsets  # of the parts' rows among all
        self._number_of = np.zeros(offsets[-1], id_type(int(offsets[-1])))
        self.keys = 0
        self.uris = 0
        self._key: Any = None  # the latest

    @property
    def nbytes(self) -> int:
        return self._number_of.nbytes

    def merged(self, ordered: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
        """Rows of the dataset uris."""
        open_rows = None  # of one URI, which may go on
        for batch in ordered:
            rows = pa.Table.from_batches([batch])
            rows = rows if open_rows is None else pa.concat_tables([open_rows, rows])
            starts = np.flatnonzero(_changes(rows["uri"]))
            if len(starts) > 1:
                yield self._added(rows[: starts[-1]], starts[:-1])
            open_rows = rows[starts[-1] :]
        if open_rows is not None:
            yield self._added(open_rows, np.zeros(1, np.int64))

    def _added(self, rows: pa.Table, starts: Rows) -> pa.Table:
        """starts: where a URI begins."""
        new = _changes(rows["key"])
        new[0] = rows["key"][0] != self._key
        _require_order(rows["key"])
        numbers = self.keys - 1 + np.cumsum(new)
        places = self._offsets[rows["part"].to_numpy()] + rows["row"].to_numpy()
        self._number_of[places] = numbers
        self._key, self.keys = rows["key"][-1], int(numbers[-1]) + 1
        self.uris += len(starts)
        last = pa.array(np.maximum.reduceat(rows["last"].to_numpy(), starts))
        digits = pc.utf8_lpad(last.cast(pa.string()), 14, "0")
        columns = [
            numbers[starts],
            rows["key"].take(starts).cast(pa.string()),
            rows["uri"].take(starts).cast(pa.string()),
            np.add.reduceat(rows["captures"].to_numpy(), starts),
            np.add.reduceat(rows["links"].to_numpy(), starts),
            pc.if_else(pc.equal(last, UNSEEN), UNKNOWN.decode(), digits),
        ]
        return pa.table(columns, SCHEMA)

    def write_numbers(self, part: Part, folder: Path, output: Path) -> None:
        """The key numbers of the strings of a part, for the rows that its file in folder has."""
        kind = id_type(self.keys)
        rows = np.load(folder / part.rows, mmap_mode="r")
        with Growing(output / f"{part.name}.npy", kind) as file:
            for at in range(0, len(rows), PIECE):
                some = rows[at : at + PIECE]
                numbers = self._number_of[self._offsets[part.number] + some].astype(kind)
                numbers[some < 0] = np.iinfo(kind).max
                file.write(numbers)


def _changes(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """Whether a value is another than the one before it; the first is."""
    whole = column.combine_chunks()
    changes = np.ones(len(whole), np.bool_)
    if len(whole) > 1:
        changes[1:] = pc.not_equal(whole[1:], whole[:-1]).to_numpy(zero_copy_only=False)
    return changes


def _require_order(keys: pa.ChunkedArray) -> None:
    """Numbers of keys that are not in order would be wrong ids without a sign of it."""
    whole = keys.combine_chunks()
    if pc.any(pc.less(whole[1:], whole[:-1])).as_py():
        raise AssertionError("DuckDB gave keys out of order")
