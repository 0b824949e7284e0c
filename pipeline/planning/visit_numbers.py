"""Numbers of captures and spellings for visits.py, in partitions on disk, and the loops over them.

URIs, keys, hosts, contents and tags are known by DuckDB's hash of 64 bits. That two of ten million
URIs share one has a probability of 3 in a million; they would be taken as one.

Rows larger than memory are in files by a hash that each has, so that what is grouped or joined by
the hash is one file at a time. The first BITS of the hash name the file. So the files, each in the
order of its hashes, are all rows in that order.

The loops are compiled by numba when first used.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.formats.rows import BETWEEN
from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import Positions
from crawlrank.pipeline.data.database import batches
from crawlrank.pipeline.heritrix.pages import MEDIA_TYPES, NO_PAGES
from crawlrank.pipeline.workfolder.results.finished import Finished

BITS = 6
PARTS = 1 << BITS
Hashes = npt.NDArray[np.uint64]
Records = npt.NDArray[Any]


class Partitions(ExitStack):
    """Files of rows of one type in a folder, by a name; those of one part are in the order in which
    they were written."""

    def __init__(self, folder: Path, name: str, dtype: npt.DTypeLike) -> None:
        super().__init__()
        self.dtype = np.dtype(dtype)
        self._paths = [folder / f"{name}-{part}" for part in range(PARTS)]
        self._files = [self.enter_context(path.open("wb")) for path in self._paths]

    def write(self, rows: Records, hashes: Hashes) -> None:
        order, ends = by_part(hashes)
        sorted_rows = rows[order]
        for part in range(PARTS):
            self.append(part, sorted_rows[ends[part] : ends[part + 1]])

    def append(self, part: int, rows: Records) -> None:
        if len(rows):
            self._files[part].write(np.ascontiguousarray(rows, self.dtype).view(np.uint8).data)

    def take(self, part: int) -> Records:
        """The rows of a part, whose file is removed."""
        self._files[part].close()
        rows = np.fromfile(self._paths[part], self.dtype)
        self._paths[part].unlink()
        return rows


def by_part(hashes: Hashes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The order of rows by part, int64[N], and where each part begins in it, int64[PARTS + 1]."""
    parts = (hashes >> np.uint64(64 - BITS)).astype(np.uint8)
    order = np.argsort(parts, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(parts, minlength=PARTS))])
    return order, ends


AS_BEFORE, UNKNOWN = 0, 1  # contents of a visit, beside hashes
NONE = 0  # as the tag of a visit, and as the time of the last change before it
SAME, CHANGED, UNTOLD = 0, 1, 2  # what two visits tell of the page between them
HAS_CAPTURES, IS_LINKED, IS_NAMED_AS_PAGE = 1, 2, 4  # flags of a spelling
NO_STATUS, NOT_MODIFIED = -1, 304
DAY = 86400.0
ShortNumbers = npt.NDArray[np.int32]
ShortFloats = npt.NDArray[np.float32]


@loop
def merge_spellings(spellings: Records, groups: ShortNumbers, uris: Records) -> None:
    """Fill a row for each URI from those of the crawls, the older first: the key is the newest."""
    for row in range(len(groups)):
        spelling, uri = spellings[row], uris[groups[row]]
        uri.uri, uri.key, uri.host = spelling.uri, spelling.key, spelling.host
        uri.work = spelling.work
        uri.flags |= spelling.flags


@loop
def fill_pages(
    visits: Records,
    order: ShortNumbers,
    ends: Positions,
    uris: Records,
    pages: Records,
    days: ShortFloats,
) -> tuple[int, int]:
    """Fill rows of the URIs that are pages and were visited, and the days between two visits of
    each, which are negative where it changed; how many of both. order: visits by URI, ends: where
    those of each end."""
    count = spans = begin = 0
    for number in range(len(uris)):
        end, before_spans = ends[number], spans
        uri, status, kind, repeated = uris[number], NO_STATUS, -1, 0
        for k in range(begin, end):
            visit = visits[order[k]]
            if k > begin:  # a capture that is in several work folders
                repeated += is_same_visit(visit, visits[order[k - 1]])
            if visit.status not in (NO_STATUS, NOT_MODIFIED):
                status = visit.status
            if visit.kind >= 0:
                kind = visit.kind
        is_page = uri.flags & IS_LINKED or (kind == 1 and uri.flags & IS_NAMED_AS_PAGE)
        if end > begin and is_page:
            spans = fill_spans(visits, order[begin:end], days, spans)
            page = pages[count]
            page.uri, page.key, page.host, page.work = uri.uri, uri.key, uri.host, uri.work
            page.last, page.visits = visits[order[end - 1]].time, end - begin - repeated
            page.spans = spans - before_spans
            page.is_good = status == NO_STATUS or 200 <= status <= 299
            page.is_gone = status in (404, 410)
            count += 1
        begin = end
    return count, spans


@loop
def is_same_visit(one: Any, other: Any) -> bool:
    return bool(
        one.time == other.time and one.status == other.status and one.contents == other.contents
    )


@loop
def fill_spans(visits: Records, order: ShortNumbers, days: ShortFloats, at: int) -> int:
    """Fill the days between the visits of a URI from a place on; where they end."""
    contents, etag, is_good = np.uint64(UNKNOWN), np.uint64(NONE), True
    last, is_first = np.int64(0), True
    for row in order:
        visit = visits[row]
        if visit.contents == UNKNOWN and visit.etag == NONE and visit.modified == NONE:
            continue
        verdict = UNTOLD if is_first else between(visit, contents, etag, last, is_good)
        has_contents = visit.contents != AS_BEFORE and visit.contents != UNKNOWN
        if verdict == UNTOLD and contents != UNKNOWN and not has_contents:
            continue
        length = (visit.time - last) / DAY
        if verdict != UNTOLD and length > 0:
            days[at] = -length if verdict == CHANGED else length
            at += 1
        if verdict != SAME:
            contents, etag = np.uint64(UNKNOWN), np.uint64(NONE)
            is_good = visit.status in (NO_STATUS, NOT_MODIFIED) or 200 <= visit.status <= 299
        if has_contents:
            contents = visit.contents
        if visit.etag != NONE:
            etag = visit.etag
        last, is_first = visit.time, False
    return at


@loop
def between(visit: Any, contents: np.uint64, etag: np.uint64, last: np.int64, is_good: bool) -> int:
    """What a visit tells of the time since an earlier one. contents, etag, is_good: of that; last:
    its time.

    Contents say most. Equal tags say that the page is the same whatever the contents; others say
    nothing, as the servers of a site may each have their own. The time of the last change counts
    where contents are not known.
    """
    if visit.contents == AS_BEFORE:
        return SAME
    has_both = visit.contents != UNKNOWN and contents != UNKNOWN
    if has_both and visit.contents == contents:
        return SAME
    if visit.etag != NONE and visit.etag == etag:
        return SAME
    if has_both:
        return CHANGED
    if visit.modified != NONE and is_good:
        return CHANGED if visit.modified > last else SAME
    return UNTOLD


@loop
def fill_best(pages: Records, order: Positions, best: ShortNumbers) -> int:
    """Fill the best spelling of each key; how many keys there are. order: rows by key. The best is
    the one whose last visit went well, then that with the most visits, then that visited last."""
    count = 0
    for k in range(len(order)):
        row = order[k]
        if k and pages[row].key == pages[order[k - 1]].key:
            if is_better(pages[row], pages[best[count - 1]]):
                best[count - 1] = row
        else:
            best[count] = row
            count += 1
    return count


@loop
def is_better(page: Any, other: Any) -> bool:
    if page.is_good != other.is_good:
        return bool(page.is_good > other.is_good)
    if page.visits != other.visits:
        return bool(page.visits > other.visits)
    return bool(page.last > other.last)


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
        captured=HAS_CAPTURES,
        linked=IS_LINKED,
        named=IS_NAMED_AS_PAGE,
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
        as_before=AS_BEFORE,
        unknown=UNKNOWN,
        none=NONE,
        no_status=NO_STATUS,
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
