"""What the captures and the graph say of each page: tables of a database, by key.

    latest   key, status, media_type, hops
    degrees  key, links_in, links_out: of nodes

The status is that of the page's latest capture that has one; its media type, and the hops from a
seed that Heritrix gives, likewise. A redirect from one spelling of a page to another one, such as
http to https, says nothing of the page: it counts only where there is no other capture. Captures at
the same time: that of the lowest status, so that a page comes before an error.

The latest capture is a maximum of numbers in which its time stands before its status and the number
of its media type or hops: numbers of a fixed size are what DuckDB groups in little memory, and
spills.
"""

from __future__ import annotations

import duckdb

from crawlrank.pipeline.workfolder.results.finished import Finished

STATUSES = 1000  # 0 to 999, three digits
LATER = 10**15  # above all timestamps of 14 digits: for captures that count
NAMES = 1 << 32  # media types, and ways of hops, at most

VISITS = """
    CREATE TABLE visits AS SELECT uri, coalesce(try_cast(timestamp AS BIGINT), 0) AS moment,
    CASE WHEN status BETWEEN 0 AND 999 THEN status END::BIGINT AS status,
    nullif(lower(trim(split_part(media_type, ';', 1))), '') AS media_type, hops FROM {visited}
"""
#: spellings that redirect to their own page
TURNING = """
    CREATE TABLE turning AS SELECT DISTINCT r.source AS uri FROM {redirected} r
    JOIN counts a ON a.uri = r.source JOIN counts b ON b.uri = r.target WHERE a.key = b.key
"""
NUMBERED = """
    CREATE TABLE numbered_{0} AS SELECT {0}, row_number() OVER (ORDER BY {0}) AS number
    FROM (SELECT DISTINCT {0} FROM visits WHERE {0} IS NOT NULL)
"""
RANKED = f"""
    CREATE VIEW weighed_visits AS SELECT c.key AS key, v.status AS status, t.number AS type,
    h.number AS way, (CASE WHEN v.status BETWEEN 300 AND 399 AND s.uri IS NOT NULL
        THEN 0 ELSE {LATER} END + least(v.moment, {LATER - 1})) * {STATUSES}
        + ({STATUSES - 1} - coalesce(v.status, {STATUSES - 1})) AS weight
    FROM visits v JOIN counts c USING (uri) LEFT JOIN turning s USING (uri)
    LEFT JOIN numbered_media_type t USING (media_type) LEFT JOIN numbered_hops h USING (hops)
"""
LATEST = f"""
    CREATE TABLE latest AS SELECT key, ({STATUSES - 1} - g.status % {STATUSES})::SMALLINT AS status,
    t.media_type AS media_type, h.hops AS hops FROM
    (SELECT key, max(weight) FILTER (status IS NOT NULL) AS status,
        max(weight::HUGEINT * {NAMES} + type) FILTER (type IS NOT NULL) AS type,
        max(weight::HUGEINT * {NAMES} + way) FILTER (way IS NOT NULL) AS way
     FROM weighed_visits GROUP BY key) g
    LEFT JOIN numbered_media_type t ON t.number = (g.type % {NAMES})::BIGINT
    LEFT JOIN numbered_hops h ON h.number = (g.way % {NAMES})::BIGINT
"""
NO_LATEST = """
    CREATE TABLE latest (key VARCHAR, status SMALLINT, media_type VARCHAR, hops VARCHAR)
"""
NO_DEGREES = "CREATE TABLE degrees (key VARCHAR, links_in BIGINT, links_out BIGINT)"


def make_latest(db: duckdb.DuckDBPyConnection, finished: Finished | None) -> None:
    """Make `latest` in a database that has the table `counts` of spellings. Without a run, or where
    URIs are not known, it has no rows."""
    if finished is None or not finished.has_uris:
        db.execute(NO_LATEST)
        return
    visited, redirected = finished.view("visited"), finished.view("redirected")
    with finished.reading():
        db.execute(VISITS.format(visited=visited))
        db.execute(TURNING.format(redirected=redirected))
    for name in ("media_type", "hops"):
        db.execute(NUMBERED.format(name))
    db.execute(RANKED)
    db.execute(LATEST)
    db.execute("DROP VIEW weighed_visits; DROP TABLE visits; DROP TABLE turning")


def make_degrees(db: duckdb.DuckDBPyConnection, finished: Finished | None) -> None:
    """Make `degrees`; without a run it has no rows."""
    if finished is None:
        db.execute(NO_DEGREES)
        return
    degrees = finished.view("degrees")
    with finished.reading():
        db.execute(f"CREATE TABLE degrees AS SELECT key, links_in, links_out FROM {degrees}")
