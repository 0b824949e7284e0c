"""What the captures of finished runs say about visits of pages.

A capture is a visit. Two visits of a URI show whether it changed between them: by their digests,
and by the hundreds of their status. A revisit without digest and status 304 say that it did not.
Failures of the server (408, 429, 5xx) are no visits. A page is a key; of its spellings the plan
takes the one whose last visit went well, of these the one with the most visits. Spellings are
observed apart: one may redirect to the other.

Pages are documents by their media type, or what links lead to. What was gone (404, 410) at its last
visit is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt

from jobs.kernel.errors import BadInput
from jobs.kernel.rank.array_types import Floats
from pipeline.heritrix.pages import MEDIA_TYPES, NO_PAGES
from pipeline.online.freshness.change_rates import Seen
from pipeline.ranking.sites.names import domain_name
from pipeline.workfolder.results.finished import Finished

DAY = 86400.0
Flags = npt.NDArray[np.bool_]
ShortFloats = npt.NDArray[np.float32]
ShortNumbers = npt.NDArray[np.int32]

_SPELLED = """CREATE TABLE spelled AS SELECT row_number() OVER () AS number, uri, key, linked FROM
    (SELECT uri, arg_max(key, work) AS key, sum(links) > 0 AS linked FROM ({spelled})
     GROUP BY uri HAVING sum(captures) > 0)"""
#: contents: what is compared; 0: as at the visit before; NULL: not known
_VISITS = """CREATE TABLE visit AS SELECT number, t, status, media_type, CASE
        WHEN status = 304 OR (kind = 'revisit' AND digest IS NULL) THEN 0
        WHEN digest IS NOT NULL THEN hash(digest, coalesce(status, 200) // 100) END AS contents,
    CASE WHEN number IS NULL THEN 'without-key' WHEN t IS NULL THEN 'undated'
        WHEN t > $now THEN 'later'
        WHEN status IN (408, 429) OR status >= 500 OR status <= 0 THEN 'failed' END AS reason FROM
    (SELECT *, epoch(try_strptime(timestamp, '%Y%m%d%H%M%S')) AS t FROM ({visited}))
    LEFT JOIN spelled USING (uri)"""
_INTERVALS = """CREATE TABLE span AS SELECT number, t, days, is_change,
    lead(t) OVER (PARTITION BY number ORDER BY t) IS NULL AS is_last FROM
    (SELECT number, t, (t - lag(t) OVER visits) / 86400 AS days, contents,
     contents <> 0 AND contents <> before AS is_change, before FROM
        (SELECT *, last_value(nullif(contents, 0) IGNORE NULLS) OVER (PARTITION BY number
         ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
         FROM visit WHERE contents IS NOT NULL AND reason IS NULL)
     WINDOW visits AS (PARTITION BY number ORDER BY t))
    WHERE days > 0 AND (contents = 0 OR before IS NOT NULL)"""
_LAST = """CREATE TABLE last AS SELECT uri, key, linked, number, last, visits, status,
        status IN (404, 410) AS gone,
        linked OR (m IN ({types}) AND NOT regexp_matches(uri, '{no_pages}', 'i')) AS is_page FROM
    (SELECT number, max(t) AS last, count(*) AS visits,
        arg_max(nullif(status, 304), t) AS status,
        arg_max(trim(lower(split_part(media_type, ';', 1))), t) AS m
     FROM visit WHERE reason IS NULL GROUP BY number) JOIN spelled USING (number)"""
#: of the spellings of a key, the last visit of which went well, then that with the most visits
_BEST = """((coalesce(status, 200) BETWEEN 200 AND 299)::BIGINT << 61)
        + (least(visits, 1 << 20) << 36) + greatest(last, 0)::BIGINT"""
#: rows are in an order that says nothing: pages that are due at the same time have no other
_PAGES = """CREATE TABLE page AS SELECT row_number() OVER (ORDER BY hash(key)) - 1 AS row, key, uri,
        number, last, visits, coalesce(gone, false) AS gone, score FROM
    (SELECT arg_max(number, best) AS number FROM
        (SELECT key, number, {best} AS best FROM last WHERE coalesce(is_page, false)) GROUP BY key)
    JOIN last USING (number) LEFT JOIN {nodes} USING (key)"""
_PARTS = """CREATE TABLE part AS SELECT row_number() OVER (ORDER BY part) - 1 AS site, part FROM
    (SELECT DISTINCT split_part(key, ')', 1) AS part FROM page)"""


class Visits(NamedTuple):
    """Of N pages, the rows of the table `page` of db, whose order says nothing. ages: days since
    their last visits, float32[N]. scores: float64[N], nan for pages without one. sites: int32[N],
    numbers of registrable domains. gone: bool[N]. spans: between their visits. left_out: captures
    that are no visits, by reason."""

    db: duckdb.DuckDBPyConnection
    ages: ShortFloats
    scores: Floats
    sites: ShortNumbers
    gone: Flags
    spans: Spans
    left_out: dict[str, int]


class Spans(NamedTuple):
    """M times between two visits of a page. pages: int32[M], ascending; days: float32[M];
    is_change, is_last: bool[M], whether the page changed, and whether it is the last of its
    page."""

    pages: ShortNumbers
    days: ShortFloats
    is_change: Flags
    is_last: Flags

    def seen(self, pages: int, which: Flags | None = None) -> Seen:
        """What some of them, or all, tell of so many pages."""
        some = np.ones(len(self.pages), bool) if which is None else which
        same, changed = some & ~self.is_change, some & self.is_change
        quiet = np.bincount(self.pages[same], self.days[same], minlength=pages).astype(np.float64)
        counts = np.bincount(self.pages[changed], minlength=pages)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Seen(np.zeros(pages), quiet, offsets, self.days[changed].astype(np.float64))

    def of_first(self, pages: int) -> Spans:
        """Those of the first pages."""
        end = np.searchsorted(self.pages, pages)
        return Spans(self.pages[:end], self.days[:end], self.is_change[:end], self.is_last[:end])


def read_visits(
    db: duckdb.DuckDBPyConnection, works: Sequence[Finished], ranking: Finished, now: datetime
) -> Visits:
    """works: the older first. ranking: whose scores count. now: captures after it are left out.
    Makes tables in db. Raises BadInput."""
    spelled = _union(works, "spelled", "key, uri, links, captures")
    visited = _union(works, "visited", "uri, timestamp, status, media_type, digest, kind")
    types = ", ".join(f"'{media_type}'" for media_type in MEDIA_TYPES)
    db.execute(_SPELLED.format(spelled=spelled))
    db.execute(_VISITS.format(visited=visited), {"now": now.timestamp()})
    reasons = db.sql("SELECT reason, count(*) FROM visit WHERE reason IS NOT NULL GROUP BY reason")
    left_out = dict(sorted(reasons.fetchall()))
    db.execute(_INTERVALS)
    db.execute(_LAST.format(types=types, no_pages=NO_PAGES))
    db.execute("DROP TABLE visit; DROP TABLE spelled")
    nodes = f"(SELECT key, score FROM {ranking.view('nodes')})"
    db.execute(_PAGES.format(nodes=nodes, best=_BEST))
    db.execute("DROP TABLE last")
    columns = db.sql(
        f"SELECT (({now.timestamp()} - last) / {DAY})::FLOAT AS ages,"
        " coalesce(score, 'nan'::DOUBLE) AS scores, gone FROM page ORDER BY row"
    ).fetchnumpy()
    ages, scores, gone = (np.asarray(columns[name]) for name in ("ages", "scores", "gone"))
    if not len(ages):
        raise BadInput(
            " and ".join(str(work.work) for work in works),
            "no page was captured " + (f"({left_out})" if left_out else ""),
            "captures of documents, or of what links lead to",
            "Rank a crawl with `crawlrank run`.",
        )
    spans, sites = _spans(db), _sites(db)
    return Visits(db, ages, scores, sites, gone, spans, left_out)


def _union(works: Sequence[Finished], view: str, columns: str) -> str:
    parts = (f"SELECT {n} AS work, {columns} FROM {w.view(view)}" for n, w in enumerate(works))
    return " UNION ALL ".join(parts)


def _sites(db: duckdb.DuckDBPyConnection) -> ShortNumbers:
    db.execute(_PARTS)
    names: dict[str, int] = {}
    parts = db.sql("SELECT part FROM part ORDER BY site").fetchall()
    numbers = [names.setdefault(domain_name(part), len(names)) for (part,) in parts]
    query = "SELECT site FROM page JOIN part ON part = split_part(key, ')', 1) ORDER BY row"
    sites: ShortNumbers = np.array(numbers, np.int32)[db.sql(query).fetchnumpy()["site"]]
    db.execute("DROP TABLE part")
    return sites


def _spans(db: duckdb.DuckDBPyConnection) -> Spans:
    rows = db.sql(
        "SELECT row::INTEGER AS row, days::FLOAT AS days, is_change, is_last"
        " FROM span JOIN page USING (number) ORDER BY row, t"
    ).fetchnumpy()
    db.execute("DROP TABLE span")
    return Spans(*(np.asarray(rows[name]) for name in ("row", "days", "is_change", "is_last")))
