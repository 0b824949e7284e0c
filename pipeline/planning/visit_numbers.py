"""Numbers of captures and spellings for visits.py, in partitions on disk.

URIs, keys, hosts, contents and tags are known by DuckDB's hash of 64 bits. That two of ten million
URIs share one has a probability of 3 in a million; they would be taken as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.formats.rows import BETWEEN
from crawlrank.pipeline.data.database import batches
from crawlrank.pipeline.heritrix.pages import MEDIA_TYPES, NO_PAGES
from crawlrank.pipeline.planning import visit_loops as loops
from crawlrank.pipeline.planning.partitions import Hashes, Partitions
from crawlrank.pipeline.workfolder.results.finished import Finished

SPELLING = np.dtype([("uri", "u8"), ("key", "u8"), ("host", "u8"), ("work", "i4"), ("flags", "u4")])
VISIT = np.dtype(
    [("uri", "u8"), ("contents", "u8"), ("etag", "u8"), ("time", "i8"), ("modified", "i8"),
     ("status", "i4"), ("kind", "i2"), ("reason", "i2")]
)  # fmt: skip
NODE = np.dtype([("key", "u8"), ("score", "f8")])
LATER = "later"
REASONS = ("undated", LATER, "failed")  # why a capture is no visit, numbered from 1
#: reasons as messages have them
LEFT_OUT = {
    "failed": "captures of failures (408, 429, 5xx)",
    LATER: "captures after the beginning of the plan",
    "undated": "captures without a date",
    "without-key": "captures of URIs without a key",
}

_SPELLINGS = """SELECT hash(uri) AS uri, hash(key) AS key, hash(split_part(key, ')', 1)) AS host,
    work::INTEGER AS work, ({captured} * (captures > 0)::UINTEGER + CASE WHEN links > 0
        THEN {linked} WHEN regexp_matches(uri, '{no_pages}', 'i') THEN 0 ELSE {named} END
    )::UINTEGER AS flags FROM ({spelled})"""
#: contents: what is compared; etag: only strong ones; modified: of good pages, if that was before
#: the visit and after the epoch, which stands for no time. kind: whether the media type is a page's
_VISITS = """SELECT hash(uri) AS uri, (CASE
        WHEN as_before THEN {as_before}
        WHEN digest IS NOT NULL THEN hash(digest, hundreds)
        ELSE {unknown} END)::UBIGINT AS contents,
    (CASE WHEN etag LIKE '"_%"' AND NOT as_before THEN hash(etag, hundreds) ELSE {none} END
    )::UBIGINT AS etag,
    (CASE WHEN m_t > 0 AND m_t <= t AND hundreds = 2 AND NOT as_before THEN m_t ELSE {none} END
    )::BIGINT AS modified,
    coalesce(t, 0)::BIGINT AS time, coalesce(status, {no_status})::INTEGER AS status,
    coalesce((m IN ({types}))::SMALLINT, -1) AS kind,
    (CASE WHEN t IS NULL THEN 1 WHEN t > {now} THEN 2
        WHEN status IN (408, 429) OR status >= 500 OR status <= 0 THEN 3 ELSE 0 END
    )::SMALLINT AS reason FROM
    (SELECT * REPLACE (coalesce(payload, split_part(digest, '{between}', 1)) AS digest),
        epoch(try_strptime(timestamp, '%Y%m%d%H%M%S')) AS t,
        epoch(try_strptime(modified, '%Y%m%d%H%M%S')) AS m_t,
        coalesce(status = 304 OR (kind = 'revisit' AND digest IS NULL), false) AS as_before,
        coalesce(status, 200) // 100 AS hundreds,
        trim(lower(split_part(media_type, ';', 1))) AS m
        FROM ({visited}) LEFT JOIN ({stated}) ON stated = digest)"""
#: the digest of the payload for each that a record states in place of it
_STATED = """SELECT split_part(digest, '{between}', 2) AS stated,
    min(split_part(digest, '{between}', 1)) AS payload
    FROM ({visited}) WHERE contains(digest, '{between}') GROUP BY stated"""
_COLUMNS = "uri, timestamp, status, media_type, digest, kind, modified, etag"
_NODES = "SELECT hash(key) AS key, score FROM {nodes}"
_HOSTS = "SELECT hash(host) AS number, host FROM ({hosts}) ORDER BY host"


def union(works: Sequence[Finished], view: str, columns: str) -> str:
    """Rows of a view of all works, with the number of the work as `work`."""
    parts = (f"SELECT {n} AS work, {columns} FROM {w.view(view)}" for n, w in enumerate(works))
    return " UNION ALL ".join(parts)


def partitioned(
    db: duckdb.DuckDBPyConnection, query: str, dtype: npt.DTypeLike, by: str, folder: Path
) -> Partitions:
    """The rows of a query, whose columns are those of the type, by one of them."""
    parts = Partitions(folder, f"rows-by-{by}-{len(list(folder.iterdir()))}", dtype)
    for batch in batches(db, query):
        rows = np.empty(len(batch), parts.dtype)
        for name in parts.dtype.names or ():
            rows[name] = batch.column(name).to_numpy(zero_copy_only=False)
        parts.write(rows, rows[by])
    return parts


def spellings_of(
    db: duckdb.DuckDBPyConnection, works: Sequence[Finished], folder: Path
) -> Partitions:
    query = _SPELLINGS.format(
        spelled=union(works, "spelled", "key, uri, links, captures"),
        no_pages=NO_PAGES,
        captured=loops.HAS_CAPTURES,
        linked=loops.IS_LINKED,
        named=loops.IS_NAMED_AS_PAGE,
    )
    return partitioned(db, query, SPELLING, "uri", folder)


def captures_of(
    db: duckdb.DuckDBPyConnection, works: Sequence[Finished], now: float, folder: Path
) -> Partitions:
    visited = union(works, "visited", _COLUMNS)
    query = _VISITS.format(
        visited=visited,
        stated=_STATED.format(visited=visited, between=BETWEEN),
        between=BETWEEN,
        types=", ".join(f"'{media_type}'" for media_type in MEDIA_TYPES),
        now=repr(now),
        as_before=loops.AS_BEFORE,
        unknown=loops.UNKNOWN,
        none=loops.NONE,
        no_status=loops.NO_STATUS,
    )
    return partitioned(db, query, VISIT, "uri", folder)


def scores_of(db: duckdb.DuckDBPyConnection, ranking: Finished, folder: Path) -> Partitions:
    return partitioned(db, _NODES.format(nodes=ranking.view("nodes")), NODE, "key", folder)


def hosts_of(db: duckdb.DuckDBPyConnection, works: Sequence[Finished]) -> tuple[Hashes, list[str]]:
    """The hosts of all keys, as keys have them, in order, with their hashes, uint64[H]."""
    parts = union(works, "spelled", "split_part(key, ')', 1) AS host")
    query = _HOSTS.format(hosts=f"SELECT DISTINCT host FROM ({parts})")
    rows = db.sql(query).fetchall()
    return np.array([number for number, _ in rows], np.uint64), [host for _, host in rows]
