"""What the latest captures say of each page: the table `latest` of a database, by key.

    status, media_type, hops    always
    title                       where the run kept titles
    replay                      where links to a replay of captures are asked for

The status is that of the page's latest capture that has one; its media type, the hops from a seed
that Heritrix gives, and its title, likewise. A redirect from one spelling of a page to another one,
such as http to https, says nothing of the page: it counts only where there is no other capture.
Nor does the status 304, that the page has not changed, say what its status is.
Captures at the same time: that of the lowest status, so that a page comes before an error.

The latest capture is a maximum of numbers in which its time stands before its status and the number
of its media type, hops, title or URI: numbers of a fixed size are what DuckDB groups in little
memory, and spills.

A link to a replay is a prefix, the 14 digits of a capture, `/` and its URI, as the Wayback Machine
and pywb have them: it leads to the latest capture, by the same order, of those with a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import duckdb

from crawlrank.pipeline.workfolder.results.finished import Finished

STATUSES = 1000  # 0 to 999, three digits
LATER = 10**15  # above all timestamps of 14 digits: for captures that count
NAMES = 1 << 32  # media types, ways of hops, titles or URIs, at most

VISITS = """
    CREATE TABLE visits AS SELECT uri, coalesce(try_cast(timestamp AS BIGINT), 0) AS moment,
    CASE WHEN status BETWEEN 0 AND 999 THEN status END::BIGINT AS status,
    nullif(lower(trim(split_part(media_type, ';', 1))), '') AS media_type, hops, {more}
    FROM {visited} {where}
"""
MORE = {
    "title": "title",
    "replay": "CASE WHEN try_cast(timestamp AS BIGINT) > 0 THEN uri END AS replay",
}
#: spellings that redirect to their own page
TURNING = """
    CREATE TABLE turning AS SELECT DISTINCT r.source AS uri FROM {redirected} r
    JOIN counts a ON a.uri = r.source JOIN counts b ON b.uri = r.target WHERE a.key = b.key
"""
NUMBERED = """
    CREATE TABLE numbered_{0} AS SELECT {0}, row_number() OVER (ORDER BY {0}) AS number
    FROM (SELECT DISTINCT {0} FROM visits WHERE {0} IS NOT NULL)
"""
WEIGHED = f"""
    CREATE VIEW weighed_visits AS SELECT c.key AS key, v.status AS status, {{numbers}},
    (CASE WHEN v.status BETWEEN 300 AND 399 AND s.uri IS NOT NULL
        THEN 0 ELSE {LATER} END + least(v.moment, {LATER - 1})) * {STATUSES}
        + ({STATUSES - 1} - coalesce(v.status, {STATUSES - 1})) AS weight
    FROM visits v JOIN counts c USING (uri) LEFT JOIN turning s USING (uri) {{joins}}
"""
#: of a capture that may decide the status: the answer 304 does where there is no other
OF_STATUS = f"CASE WHEN status = 304 THEN weight % {LATER * STATUSES} ELSE weight END"
LATEST = f"""
    CREATE TABLE latest AS SELECT key, ({STATUSES - 1} - g.status % {STATUSES})::SMALLINT AS status,
    {{columns}} FROM
    (SELECT key, max({OF_STATUS}) FILTER (status IS NOT NULL) AS status, {{maxima}}
     FROM weighed_visits GROUP BY key) g {{joins}}
"""
REPLAY = (
    f"lpad((g.replay // {NAMES} // {STATUSES} % {LATER})::BIGINT::VARCHAR, 14, '0')"
    " || '/' || n_replay.replay AS replay"
)
NO_LATEST = """
    CREATE TABLE latest
    (key VARCHAR, status SMALLINT, media_type VARCHAR, hops VARCHAR, title VARCHAR, replay VARCHAR)
"""


class LatestCapture(NamedTuple):
    """Of a page: its title, and its link to a replay without the prefix; None where unknown."""

    title: str | None = None
    replay: str | None = None


def make_latest(
    db: duckdb.DuckDBPyConnection,
    finished: Finished | None,
    more: Sequence[str] = (),
    *,
    few: bool = False,
) -> None:
    """Make `latest` in a database that has the table `counts` of spellings. Without a run, or where
    URIs are not known, it has no rows. more: title, replay or both. few: whether `counts` has a
    small part of all spellings."""
    if finished is None or not finished.has_uris:
        db.execute(NO_LATEST)
        return
    names = ("media_type", "hops", *more)
    visited, redirected = finished.view("visited"), finished.view("redirected")
    columns = ", ".join(MORE[name] for name in more) or "NULL"
    with finished.reading():
        where = "WHERE uri IN (SELECT uri FROM counts)" if few else ""
        db.execute(VISITS.format(visited=visited, more=columns, where=where))
        db.execute(TURNING.format(redirected=redirected))
    for name in names:
        db.execute(NUMBERED.format(name))
    numbers = ", ".join(f"n_{name}.number AS {name}" for name in names)
    joins = " ".join(f"LEFT JOIN numbered_{name} n_{name} USING ({name})" for name in names)
    db.execute(WEIGHED.format(numbers=numbers, joins=joins))
    db.execute(_latest(names))
    db.execute("DROP VIEW weighed_visits; DROP TABLE visits; DROP TABLE turning")
    for name in names:
        db.execute(f"DROP TABLE numbered_{name}")


def _latest(names: Sequence[str]) -> str:
    """The query of the table."""
    maxima = ", ".join(f"{_latest_of(name)} AS {name}" for name in names)
    joins = " ".join(
        f"LEFT JOIN numbered_{name} n_{name} ON n_{name}.number = (g.{name} % {NAMES})::BIGINT"
        for name in names
    )
    columns = [REPLAY if name == "replay" else f"n_{name}.{name} AS {name}" for name in names]
    return LATEST.format(columns=", ".join(columns), maxima=maxima, joins=joins)


def _latest_of(name: str) -> str:
    """What the latest capture has; for a link to a replay the one that decides the status."""
    is_there = f"{name} IS NOT NULL"
    of_all = f"max(weight::HUGEINT * {NAMES} + {name}) FILTER ({is_there})"
    if name != "replay":
        return of_all
    of_status = f"max(({OF_STATUS})::HUGEINT * {NAMES} + {name})"
    return f"coalesce({of_status} FILTER ({is_there} AND status IS NOT NULL), {of_all})"


def latest_captures(
    finished: Finished, keys: Sequence[str], *, replay: bool
) -> dict[str, LatestCapture]:
    """Titles and links of pages, by key; of a run that kept no titles links alone. Reads nothing
    where neither is asked for."""
    more = ["title"] * finished.has_titles + ["replay"] * replay
    if not (more and keys and finished.has_uris):
        return {}
    db, spelled = finished.db, finished.view("spelled")
    with finished.reading():
        db.execute(
            f"CREATE TABLE counts AS SELECT key, uri FROM {spelled}"
            " WHERE key IN (SELECT unnest($keys)) AND captures > 0",
            {"keys": [*keys]},
        )
    make_latest(db, finished, more, few=True)
    rows = db.execute(f"SELECT key, {', '.join(more)} FROM latest").fetchall()
    db.execute("DROP TABLE latest; DROP TABLE counts")
    return {key: LatestCapture(**dict(zip(more, values, strict=True))) for key, *values in rows}
