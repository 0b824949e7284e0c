"""Log and precedence file joined by URI, in DuckDB, within a bound of memory.

Tables, each made once and dropped when the next ones are made:

    listed    uri, precedence, class: each URI that a crawl looks up, by its last line
    mended    uri, cause: URIs to which entries would apply if their cause were mended
    fetches   log lines in the order of fetches: rowid is their position
    seen      uri, position, answered, hop, depth, begin, given, class, listed: each URI of the log
              at its first answered fetch, or else at its first line

class: the byte that Heritrix keeps of a precedence within a queue; null for a URI that it treats as
not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crawlrank.pipeline.analysis.audit import crawl_log, entries
from crawlrank.pipeline.data.database import batches, feed
from crawlrank.pipeline.precedence.beans import BASE, CLIPPED

UNORDERED_HOPS = "PI"  # prerequisites, and what Heritrix infers: no file sets their order

CLASS = (
    f"CASE WHEN precedence = -{BASE} THEN NULL"
    f" ELSE (least(precedence::BIGINT + {BASE}, {CLIPPED}) & 255)::SMALLINT END"
)
_UNORDERED = ", ".join(str(ord(hop)) for hop in UNORDERED_HOPS)
#: URIs whose order counts
ORDERED = f"answered AND hop NOT IN ({_UNORDERED}) AND uri LIKE 'http%'"
HOST = "split_part(uri, '/', 3)"


def label(number: int) -> str:
    """The precedences of a class, as the file writes them."""
    if number == CLIPPED:
        return f"{CLIPPED - BASE}+"
    return str(number - BASE - (0 if number < CLIPPED else 256))


def load_entries(db: duckdb.DuckDBPyConnection, rows: Iterator[pa.RecordBatch]) -> None:
    """Make `listed` and `mended`. rows: of pipeline/analysis/audit/entries."""
    _store(db, "entry", entries.ROWS, rows)
    db.execute(
        f"CREATE TABLE listed AS SELECT *, {CLASS} AS class FROM (SELECT uri,"
        " arg_max(precedence, line) AS precedence, count(*) AS times FROM entry"
        " WHERE cause IS NULL GROUP BY uri)"
    )
    db.execute(
        "CREATE TABLE mended AS SELECT uri, arg_min(cause, line) AS cause FROM entry"
        " WHERE cause IS NOT NULL GROUP BY uri"
    )
    db.execute("DROP TABLE entry")


def load_log(db: duckdb.DuckDBPyConnection, rows: Iterator[pa.RecordBatch], *, by: str) -> None:
    """Make `fetches`. rows: of crawl_log. by: `begin` of the fetch, or `line`."""
    _store(db, "log", crawl_log.ROWS, rows)
    order = "begin, line" if by == "begin" else "line"
    db.execute(f"CREATE TABLE fetches AS SELECT * FROM log ORDER BY {order}")
    db.execute("DROP TABLE log")


def _store(
    db: duckdb.DuckDBPyConnection, table: str, schema: pa.Schema, rows: Iterator[pa.RecordBatch]
) -> None:
    feed(db, "rows", schema, rows)
    try:
        db.execute(f"CREATE TABLE {table} AS SELECT * FROM rows")
    finally:
        db.unregister("rows")


def join(db: duckdb.DuckDBPyConnection) -> None:
    """Make `seen`."""
    db.execute(
        "CREATE TABLE visits AS SELECT uri, min(rowid) FILTER (status > 0) AS answered,"
        " min(rowid) AS tried FROM fetches GROUP BY uri"
    )
    db.execute(
        "CREATE TABLE positions AS SELECT visits.uri, coalesce(answered, tried) AS position,"
        " answered IS NOT NULL AS answered, class, listed.uri IS NOT NULL AS listed,"
        " precedence FROM visits LEFT JOIN listed USING (uri)"
    )
    db.execute("DROP TABLE visits")
    db.execute(
        "CREATE TABLE seen AS SELECT positions.*, hop, depth, status, begin, given FROM positions"
        " JOIN fetches ON position = fetches.rowid"
    )
    db.execute("DROP TABLE positions")


def numbers(db: duckdb.DuckDBPyConnection, query: str) -> dict[str, Any]:
    """The only row of a query, by column."""
    result = db.execute(query)
    names = [column[0] for column in result.description or ()]
    (row,) = result.fetchall()
    return dict(zip(names, row, strict=True))


def arrays(db: duckdb.DuckDBPyConnection, query: str) -> Iterator[dict[str, npt.NDArray[np.int64]]]:
    """The rows of a query of whole numbers, a batch of columns at a time."""
    for batch in batches(db, query):
        yield {
            name: batch.column(name).to_numpy(zero_copy_only=False).astype(np.int64)
            for name in batch.schema.names
        }
