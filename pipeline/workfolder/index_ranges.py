"""Indexes of captures as lists of archives: of each line only the record that it names is read.

A line is one of CDXJ, or JSON alone, and names the record by `filename`, `offset` and `length`
(in the table of Common Crawl's index `warc_filename`, `warc_record_offset` and
`warc_record_length`). Names of archives are below a folder or a URL. Lines of all archives may be
mixed, in any order and more than once.

The records are sorted by archive and offset, in files larger than memory. Records that follow each
other without a gap become one range, which is one request. The ranges are written to lists
(range_lists.py) of at most MOST records and some LARGEST bytes, each of which is then extracted as
an archive. Lists with equal content have one name, so that the same index gives the same files.

A line that names no record goes to the first list, and counts as damage when that is read.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import BinaryIO

import duckdb
import pyarrow as pa

from crawlrank.jobs.kernel.archive.cdx import BadIndexLine, RecordRange, json_range, lines_of
from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.range_lists import (
    HEAD,
    SUFFIX,
    ArchiveRanges,
    IndexOfRanges,
    WrongLine,
)
from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.storage.opening import as_path_or_url, is_url, name_of
from crawlrank.pipeline.data.database import BATCH, database, feed
from crawlrank.pipeline.terminal.text import archive_name
from crawlrank.pipeline.workfolder.archive_identity import glance_at

MOST, LARGEST = 1000, 1 << 26  # records, and bytes, of a list
JOINED = 1 << 24  # bytes of a range of several records
NAMED = 20  # wrong lines that a message names
BUDGET = 1 << 27  # bytes of memory, so that a run of the least --memory has room
EXPECTED = "lines of JSON or CDXJ with filename, offset and length"
_SCHEMA = pa.schema([("archive", pa.string()), ("begin", pa.int64()), ("size", pa.int64())])
_DISTINCT = "SELECT archive, begin, max(size) FROM ranges GROUP BY ALL"
_NO_NAME = re.compile(r"[\x00-\x1f\x7f]|://|\A/|(?:\A|/)\.\.(?:/|\Z)")


def write_range_lists(
    source: IndexOfRanges, lines: BinaryIO, folder: Path, tmp: Path
) -> tuple[list[Path], list[WrongLine], int]:
    """Write the lists of an index into the folder: the lists in order, the first wrong lines, and
    how many there are. lines: the index, at its beginning. tmp: a folder on the same disk. Raises
    BadInput for an index that names no record."""
    reader = _IndexReader(source.base)
    stem = re.sub(r"[^\w-]", "-", name_of(source.index_file).split(".")[0])[:40].strip("-")
    threads = os.cpu_count() or 1
    with (
        database(tmp, budget=BUDGET, threads=threads) as (db, near),
        (near / "wrong").open("w+b") as wrong,
    ):
        feed(db, "ranges", _SCHEMA, _batches(reader.ranges(lines, wrong)))
        db.execute(f"CREATE TABLE records AS {_DISTINCT}")
        wrong.seek(0)
        some: Iterable[bytes] = wrong
        paths = []
        for entries in _lists(_rows(db)):
            lines_of_list = chain([HEAD + b"\n"], some, _archive_lines(entries))
            paths.append(_written(lines_of_list, folder, stem or "index", near / "new"))
            some = []
    if not paths:
        raise _without_records(source, reader)
    return paths, reader.wrong, reader.count


def _rows(db: duckdb.DuckDBPyConnection) -> Iterator[RecordRange]:
    """The sorted records."""
    rows = db.execute("FROM records ORDER BY archive, begin")
    while some := rows.fetchmany(BATCH):
        yield from (RecordRange(*row) for row in some)


class _IndexReader:
    """wrong: the first wrong lines. count: of all wrong lines."""

    def __init__(self, base: str) -> None:
        self._base = base
        self.wrong: list[WrongLine] = []
        self.count = 0

    def ranges(self, lines: BinaryIO, wrong: BinaryIO) -> Iterator[RecordRange]:
        """The records that the lines name. Wrong lines are written to a file."""
        for number, (offset, line) in enumerate(lines_of(lines), 1):
            try:
                if isinstance(line, Damage):
                    raise BadIndexLine(line.detail)
                if line.strip() and not line.startswith((b"!", b"#")):
                    yield self._range(line)
            except BadIndexLine as error:
                entry = WrongLine(number, offset, str(error))
                wrong.write(entry.written())
                self.count += 1
                if len(self.wrong) < NAMED:
                    self.wrong.append(entry)

    def _range(self, line: bytes) -> RecordRange:
        record = json_range(line.decode("utf-8", "replace"))
        if _NO_NAME.search(record.archive) or (" " in record.archive and is_url(self._base)):
            what = f"the filename {record.archive[:60]!a}, which is no name below a folder"
            raise BadIndexLine(what)
        return record._replace(archive=self._base + record.archive)


def _batches(ranges: Iterable[RecordRange]) -> Iterator[pa.RecordBatch]:
    rows: list[RecordRange] = []
    for each in ranges:
        rows.append(each)
        if len(rows) == BATCH:
            yield _batch(rows)
            rows = []
    yield _batch(rows)


def _batch(rows: list[RecordRange]) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    return pa.record_batch(
        [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)],
        schema=_SCHEMA,
    )


def _lists(rows: Iterable[RecordRange]) -> Iterator[list[RecordRange]]:
    """The ranges of each list: records that touch are one, unless that becomes too large."""
    some: list[RecordRange] = []
    records = size = 0
    for row in rows:
        if records >= MOST or size >= LARGEST:
            yield some
            some, records, size = [], 0, 0
        last = some[-1] if some else None
        if last and last.archive == row.archive and _joins(last, row):
            end = max(last.begin + last.size, row.begin + row.size)
            some[-1] = last._replace(size=end - last.begin)
        else:
            some.append(row)
        records, size = records + 1, size + row.size
    if some:
        yield some


def _joins(last: RecordRange, row: RecordRange) -> bool:
    return row.begin < last.begin + last.size or (
        row.begin == last.begin + last.size and last.size + row.size <= JOINED
    )


def _written(lines: Iterable[bytes], folder: Path, stem: str, new: Path) -> Path:
    """Write a list under a name by its content. new: its path before that is known."""
    digest = hashlib.blake2b(digest_size=6)
    with new.open("wb") as file:
        for line in lines:
            digest.update(line)
            file.write(line)
    return new.replace(folder / f"{stem}-{digest.hexdigest()}{SUFFIX}")


def _archive_lines(entries: Iterable[RecordRange]) -> Iterator[bytes]:
    for archive, ranges in groupby(entries, key=lambda entry: entry.archive):
        extents = [[each.begin, each.size] for each in ranges]
        yield ArchiveRanges(archive, extents, _fingerprint_of(archive)).written()


def _fingerprint_of(archive: str) -> str:
    """Of a file, by which a change is noticed; '' of one that is elsewhere, or cannot be read."""
    path = as_path_or_url(archive)
    try:
        glance = None if is_url(path) else glance_at(path)
    except BadInput:  # which extraction tells
        return ""
    return f"{glance.ends}{glance.pieces}" if glance else ""


def _without_records(source: IndexOfRanges, reader: _IndexReader) -> BadInput:
    what = f"{count_of(reader.count, 'wrong line')}: {wrong_lines(reader.wrong)}"
    what = what if reader.count else "no line"
    return BadInput(archive_name(str(source.index_file)), what, EXPECTED, "Correct the index.")


def wrong_lines(lines: list[WrongLine]) -> str:
    """The lines in words, for messages."""
    return "; ".join(f"line {line.number:,}: {line.what}" for line in lines)
