"""Captures that an index tells of and that are known already, from archives or from an index before
it: they are taken out of its part, so that no capture counts twice.

A capture is known by its URI and its time, of seconds. What an archive holds says more than a line
of an index, so the line is what goes. An index is extracted again when other archives are given.
Memory: DuckDB's, which spills, and eight bytes for each line of the index.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.archive.cdx import INDEX
from crawlrank.jobs.kernel.captures.counters import INDEXES, TYPES
from crawlrank.jobs.kernel.errors import NoNodes
from crawlrank.jobs.kernel.formats.lines import parse_capture
from crawlrank.jobs.kernel.formats.reading import open_part
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.kernel.storage.arrow_files import open_parquet
from crawlrank.pipeline.data.database import database, feed
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.data.parquet import CHECKED
from crawlrank.pipeline.engines.embedded.columns import capture_blocks
from crawlrank.pipeline.steps import ArchiveReport

KNOWN = "dropped.capture.known"
BUDGET = 1 << 29  # bytes of memory
BATCH = 1 << 16  # lines
_TIMED = pa.schema([("uri", pa.string()), ("timestamp", pa.string())])
_NUMBERED = pa.schema([*_TIMED, ("number", pa.int64())])
_FIRST = """
    SELECT min(number) FROM (SELECT * FROM new ANTI JOIN known USING (uri, timestamp))
    GROUP BY uri, timestamp ORDER BY 1
"""
Kept = npt.NDArray[np.int64]  # numbers of rows, ascending


@contextmanager
def naming_indexes(archives: Collection[Mapping[str, Any]]) -> Iterator[None]:
    """Where no page gets an id, say so of indexes that are alone. archives: of the manifest."""
    try:
        yield
    except NoNodes as error:
        read = [entry for entry in archives if not entry["error"]]
        if not read or any(INDEXES not in entry["counters"] for entry in read):
            raise
        more = f" and {len(read) - 1:,} more" if len(read) > 1 else ""
        raise NoNodes(
            f"{read[0]['path']}{more}", "an index of captures, which has no links, and no archive",
            "at least one archive with links",
            "Give the archives too, or rank the captures alike with --nodes all.",
        ) from error  # fmt: skip


def is_index(report: ArchiveReport) -> bool:
    return report.counters.get(INDEXES, 0) > 0


def without_known(
    part: Path, others: Sequence[Path], report: ArchiveReport, tmp: Path
) -> ArchiveReport:
    """Take what is known out of a part of captures; the report of what is left. others: parts of
    captures in the same form that count."""
    kept = _kept(part, others, tmp)
    counters = Counter(report.counters)
    rewrite = _rewrite_table if part.suffix == ".parquet" else _rewrite_lines
    with replacing(part) as output:
        for status, media_type in rewrite(part, output, kept):
            counters[KNOWN] += 1
            name = TYPES + media_type
            name = name if counters[name] else f"{TYPES}other"
            gone = ("captures", f"captures.{INDEX}", f"captures.status.{status}", name)
            counters.subtract(gone)
    return replace(report, counters={name: n for name, n in counters.items() if n})


def _kept(part: Path, others: Sequence[Path], tmp: Path) -> Kept:
    """The rows of the part that are not known, and of several with one name the first."""
    with database(tmp, budget=BUDGET, threads=os.cpu_count() or 1) as (db, _):
        feed(db, "rows", _NUMBERED, _numbered(_timed(part)))
        db.execute("CREATE TABLE new AS SELECT * FROM rows")
        feed(db, "known", _TIMED, (batch for other in others for batch in _timed(other)))
        numbers = db.sql(_FIRST).fetchnumpy()
    return np.asarray(next(iter(numbers.values())), np.int64)


def _numbered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    begin = 0
    for batch in batches:
        numbers = pa.array(np.arange(begin, begin + len(batch)))
        yield pa.record_batch([*batch.columns, numbers], _NUMBERED)
        begin += len(batch)


def _timed(part: Path) -> Iterator[pa.RecordBatch]:
    """URIs and timestamps of a part, null where they are not known. None of a part that an archive
    without captures has not made."""
    if not part.exists():
        return
    if part.suffix == ".parquet":
        for block in capture_blocks(part):
            yield from block.cast(_TIMED).to_batches()
        return
    uris, times = list[bytes](), list[bytes | None]()
    with open_part(part) as lines:
        for line in lines:
            uri, time = line.split(b"\t", 2)[:2]
            uris.append(uri)
            times.append(None if time == UNKNOWN else time)
            if len(uris) == BATCH:
                yield _batch(uris, times)
                uris, times = [], []
    yield _batch(uris, times)


def _batch(uris: list[bytes], times: list[bytes | None]) -> pa.RecordBatch:
    columns = [pa.array(each, pa.binary()).cast(pa.string()) for each in (uris, times)]
    return pa.record_batch(columns, _TIMED)


def _rewrite_table(part: Path, output: Path, kept: Kept) -> Iterator[tuple[str, str]]:
    """Write the rows that are kept; status and media type of the others."""
    begin = 0
    with (
        open_parquet(part) as source,
        output.open("wb") as written,
        pq.ParquetWriter(written, source.schema_arrow, compression="zstd", **CHECKED) as file,
    ):
        for number in range(source.num_row_groups):
            group = source.read_row_group(number)
            end = begin + len(group)
            mask = np.zeros(len(group), np.bool_)
            mask[kept[np.searchsorted(kept, begin) : np.searchsorted(kept, end)] - begin] = True
            file.write_table(group.filter(pa.array(mask)))
            gone = group.filter(pa.array(~mask))
            for status, media_type in zip(
                gone["status"].to_pylist(), gone["media_type"].to_pylist(), strict=True
            ):
                yield str(status or "-"), media_type or "-"
            begin = end


def _rewrite_lines(part: Path, output: Path, kept: Kept) -> Iterator[tuple[str, str]]:
    """Rewrite parts that are lines."""
    following = iter(kept.tolist())
    wanted = next(following, -1)
    with open_part(part) as lines, output.open("wb") as file:
        for number, line in enumerate(lines):
            if number == wanted:
                file.write(line)
                wanted = next(following, -1)
            else:
                capture = parse_capture(line.rstrip(b"\n"))
                yield capture.status.decode(), capture.media_type.decode()
