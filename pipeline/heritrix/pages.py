"""The lines of a precedence file that a crawl begins with, and their ways from a seed.

These are pages, and what else readers follow links to, such as a redirect to a page: what was
captured and is a document by its media type or the target of a link; and what was linked to and
never captured, in one spelling, the most linked one. A crawl finds images, styles, robots.txt,
favicons and further spellings by itself.

What is gone (404, 410, redirects in a circle or to what is gone) is none, if it is in the last
class. Linked and in a better class it is, as Heritrix finds it in any case.

The way of a page is the letters of its hops from a seed, and the URI that led to it, as the crawl
before had them: so the limits of hops in a scope count on. What has none in the archives gets the
shortest way by links.

The way of each URI from a seed: the letters of its hops, and the URI that led to it.

Heritrix writes it with each capture. What was only linked to has the way of a page that links to
it, and one hop more. Archives of other crawlers have no ways: the shortest ones by links begin at
the seeds of the job there or, where none of these was captured, at every capture.

What enters the scope of a job when pages become its seeds: hosts, and SURT prefixes.

Heritrix takes the folder of each seed for a prefix of its scope (`seedsAsSurtPrefixes`): of
http://example.org/news/1.html it is http://(org,example,)/news/, for https as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from crawlrank.jobs.kernel.formats.rows import LINK_HOPS
from crawlrank.jobs.kernel.keys.form_columns import forms
from crawlrank.pipeline.analysis.audit.entries import ROWS, EntriesReport, read_entries
from crawlrank.pipeline.data.database import batches, feed
from crawlrank.pipeline.heritrix.job_beans import host_in_surt
from crawlrank.pipeline.workfolder.results.finished import Finished

MOST_HOPS = 1000  # Heritrix keeps the last 50 letters, and a number for those before


def read_ways(db: duckdb.DuckDBPyConnection, finished: Finished, seeds: Sequence[str]) -> None:
    """Make the table `way`: uri, hops, via, of the URIs in the table `met_uri` that have one.
    seeds: of the job. hops and via are empty for a seed."""
    db.execute(
        "CREATE TABLE way AS SELECT uri, coalesce(arg_min(hops, length(hops)), '') AS hops,"
        " coalesce(arg_min(via, length(hops)), '') AS via, bool_or(hops IS NOT NULL) AS told"
        f" FROM {finished.view('visited')} GROUP BY uri"
    )
    if not _scalar(db, "SELECT coalesce(bool_or(told), false) FROM way"):
        db.register("seeds", pa.table({"uri": forms(pa.array(seeds, pa.string())).forms}))
        if _scalar(db, "SELECT count(*) FROM way SEMI JOIN seeds USING (uri)"):
            db.execute("DELETE FROM way WHERE uri NOT IN (SELECT uri FROM seeds)")
        db.unregister("seeds")
    db.execute(
        "CREATE TABLE step AS SELECT source, target, any_value(hop) AS hop FROM"
        f" {finished.view('kept')} SEMI JOIN (SELECT uri AS target FROM met_uri"
        " ANTI JOIN way USING (uri)) USING (target)"
        f" WHERE contains('{LINK_HOPS}', hop) GROUP BY source, target"
    )
    for _ in range(MOST_HOPS):
        more = _scalar(
            db,
            "INSERT INTO way SELECT target, arg_min(way.hops || hop, length(way.hops)),"
            " arg_min(source, length(way.hops)), false FROM step JOIN way ON source = uri"
            " WHERE target NOT IN (SELECT uri FROM way) GROUP BY target",
        )
        if not more:
            break


def _scalar(db: duckdb.DuckDBPyConnection, statement: str) -> int:
    ((value,),) = db.execute(statement).fetchall()  # of a count, and of an insertion
    return int(value)


_HOST_AND_PORT = re.compile(r"(.*?)(:[0-9]*)?\Z")
MOST = 1000  # hosts, and prefixes, that are kept to be told


class Growth:
    """hosts, prefixes: those of pages that no seed of the job has, with how many pages. seeds: as
    JobBeans.seeds has them."""

    def __init__(self, seeds: Iterable[str]) -> None:
        self.hosts, self.prefixes = Counter[str](), Counter[str]()
        self._known_hosts, self._known = set[str](), set[str]()
        for seed in seeds:
            self._known_hosts.add(host_of(seed))
            self._known.add(surt_prefix(seed))

    def add(self, uri: str) -> None:
        """A page that becomes a seed."""
        if (host := host_of(uri)) not in self._known_hosts:
            _count(self.hosts, host)
        prefix = surt_prefix(uri)
        if not any(each in self._known for each in _folders(prefix)):
            _count(self.prefixes, prefix)


def host_of(uri: str) -> str:
    """Host and port."""
    return uri.partition("://")[2].partition("/")[0].rpartition("@")[2].lower()


def surt_prefix(uri: str) -> str:
    """The folder of a URI in the order in which Heritrix compares."""
    host, port = _HOST_AND_PORT.match(host_of(uri)).groups("")  # type: ignore[union-attr]
    path = uri.partition("://")[2].partition("/")[2].rpartition("/")[0]
    return f"http://({host_in_surt(host)}{port})/{path}{'/' * bool(path)}"


def _folders(prefix: str) -> Iterator[str]:
    """Itself, and those above it."""
    at = len(prefix)
    while (at := prefix.rfind("/", 0, at)) > len("http://("):
        yield prefix[: at + 1]


def _count(counts: Counter[str], name: str) -> None:
    if name in counts or len(counts) < MOST:
        counts[name] += 1


MEDIA_TYPES = ("text/html", "application/xhtml+xml", "application/pdf", "text/plain")
MOST_REDIRECTS = 20  # of a chain, as browsers follow
MOST_LOOKED_UP = 10_000
FORMS = pa.schema(
    [
        ("form", pa.string()), ("page", pa.bool_()), ("gone", pa.bool_()),
        ("captured", pa.bool_()), ("hops", pa.string()), ("via", pa.string()),
    ]
)  # fmt: skip
#: of these the server says text/plain, and nobody reads them
NO_PAGES = r"^[a-z]+://[^/]*/(robots|humans|ads|app-ads|security)\.txt$|\.(css|js|map|log)$"
#: why a line is none of the pages
SPELLING, EMBEDDED, GONE, LATER = (
    "other spellings of these pages", "images, styles and other files that pages embed",
    "pages that are gone, in the last class", "of later classes, or after the first pages",
)  # fmt: skip
_GONE, _REDIRECT = "s IN (404, 410)", "s BETWEEN 300 AND 399 AND s <> 304"


@dataclass(frozen=True)
class PageRule:
    """Which pages: of classes up to last_class, and of those the first `top`."""

    last_class: int | None = None
    top: int | None = None


class FirstPage(NamedTuple):
    """precedence: its class. hops: letters, none for a seed. via: the URI that led to it, if any.
    gone, captured: what the crawl before found."""

    precedence: int
    uri: str
    hops: str
    via: str
    gone: bool
    captured: bool


def choose_pages(
    db: duckdb.DuckDBPyConnection,
    precedence: Path,
    finished: Finished | None,
    rule: PageRule,
    bins: int,
    seeds: Sequence[str] = (),
) -> None:
    """Make the table `chosen`: the lines of the file, with why they are none of the pages.

    db: the file and datasets of the run are read into it. finished: the run; None where all of the
    file are pages that are there, as in a plan. bins: the last class. seeds: of the crawl before.
    Raises BadInput.
    """
    _read_listed(db, precedence)
    if finished:
        _read_met(db, finished, seeds)
    else:
        db.execute(
            "CREATE TABLE met AS SELECT uri AS form, true AS page, false AS gone,"
            " true AS captured, '' AS hops, '' AS via FROM listed"
        )
    _choose(db, rule, bins)


def choose_none(db: duckdb.DuckDBPyConnection, precedence: Path) -> None:
    """Make the table `chosen` where the crawl finds all pages by itself. Raises BadInput."""
    _read_listed(db, precedence)
    db.execute(f"CREATE TABLE chosen AS SELECT *, '{LATER}' AS cause FROM listed")


def _read_listed(db: duckdb.DuckDBPyConnection, precedence: Path) -> None:
    report = EntriesReport()
    feed(db, "rows", ROWS, read_entries(precedence, report))
    db.execute(
        "CREATE TABLE listed AS SELECT uri, arg_max(precedence, line) AS precedence,"
        " min(line) AS line FROM rows WHERE cause IS NULL GROUP BY uri"
    )
    db.unregister("rows")
    report.require_loaded(precedence)


def _choose(db: duckdb.DuckDBPyConnection, rule: PageRule, bins: int) -> None:
    """Make the table `chosen` of `listed` and `met`."""
    later = f"precedence > {rule.last_class}" if rule.last_class else "false"
    db.execute(
        "CREATE TABLE candidate AS SELECT listed.*, met.* EXCLUDE form,"
        f" CASE WHEN form IS NULL THEN '{SPELLING}' WHEN NOT page THEN '{EMBEDDED}'"
        f" WHEN gone AND precedence >= {bins} THEN '{GONE}' WHEN {later} THEN '{LATER}'"
        " END AS cause FROM listed LEFT JOIN met ON uri = form"
    )
    beyond = f"cause IS NULL AND place > {rule.top}" if rule.top else "false"
    db.execute(
        f"CREATE TABLE chosen AS SELECT * REPLACE (CASE WHEN {beyond} THEN '{LATER}' ELSE cause END"
        " AS cause) FROM (SELECT *, row_number() OVER (PARTITION BY cause ORDER BY line) AS place"
        " FROM candidate)"
    )


def chosen_pages(db: duckdb.DuckDBPyConnection) -> Iterator[FirstPage]:
    """The pages of the table `chosen`: those that were captured, then the others, each best class
    first."""
    columns = ", ".join(FirstPage._fields)
    query = (
        f"SELECT {columns} FROM chosen WHERE cause IS NULL ORDER BY NOT captured, precedence, line"
    )
    for batch in batches(db, query):
        yield from map(FirstPage._make, zip(*(c.to_pylist() for c in batch.columns), strict=True))


def other_hosts(db: duckdb.DuckDBPyConnection) -> list[tuple[int, str]]:
    """Precedence and URI of the best line of each host of which no page was chosen, if it is in
    Heritrix's form, and as far as MOST_LOOKED_UP go: enough to see what a sheet does to a host."""
    query = (
        "SELECT precedence, uri FROM (SELECT *, regexp_extract(uri, '^[a-z]+://([^/]*)', 1) AS host"
        " FROM chosen) QUALIFY row_number() OVER"
        " (PARTITION BY host ORDER BY cause IS NOT NULL, precedence, line) = 1"
        f" AND cause IS NOT NULL ORDER BY precedence, line LIMIT {MOST_LOOKED_UP}"
    )
    rows = db.execute(query).fetchall()
    made = forms(pa.array([uri for _, uri in rows], pa.string())).forms.to_pylist()
    return [row for row, form in zip(rows, made, strict=True) if row[1] == form]


def captured_count(db: duckdb.DuckDBPyConnection) -> int:
    """How many URIs the crawl before captured, after `choose_pages` with a run."""
    ((count,),) = db.execute("SELECT count(*) FROM captured").fetchall()
    return int(count)


def left_out(db: duckdb.DuckDBPyConnection) -> dict[str, tuple[int, str]]:
    """How many lines of the table `chosen` are no pages, by cause, and the first of them."""
    query = (
        "SELECT cause, count(*), arg_min(uri, line) FROM chosen WHERE cause IS NOT NULL"
        " GROUP BY cause ORDER BY 2 DESC, 1"
    )
    return {cause: (count, uri) for cause, count, uri in db.execute(query).fetchall()}


def _read_met(db: duckdb.DuckDBPyConnection, finished: Finished, seeds: Sequence[str]) -> None:
    """Make the table `met`: the forms of URIs that were captured, or linked to and never captured;
    whether they are pages, and gone in all of their spellings; their shortest way."""
    with finished.reading():
        _read_captures(db, finished)
        _find_gone(db, finished)
        db.execute(
            "CREATE TABLE met_uri AS SELECT uri, linked OR (document AND NOT gone) AS page, gone,"
            " true AS captured FROM page UNION ALL"
            " SELECT arg_max(uri, links), true, false, false"
            f" FROM {finished.view('spelled')} GROUP BY key HAVING sum(captures) = 0"
        )
        read_ways(db, finished, seeds)
        feed(db, "formed", FORMS, _formed(db))
        db.execute(
            "CREATE TABLE met AS SELECT form, bool_or(page) AS page,"
            " coalesce(bool_and(gone) FILTER (page), false) AS gone,"
            " bool_or(captured) AS captured, arg_min(hops, length(hops)) AS hops,"
            " arg_min(via, length(hops)) AS via FROM formed GROUP BY form"
        )
        db.unregister("formed")


_SAYS = "struct_pack(s := status, m := trim(lower(split_part(media_type, ';', 1))))"
_WEIGHT = (
    "(CASE WHEN status = 304 OR (kind = 'revisit' AND media_type IS NULL) THEN '0' ELSE '1' END)"
    " || coalesce(timestamp, lpad('', 14, '0')) || (999 - coalesce(status, 999))"
)


def _read_captures(db: duckdb.DuckDBPyConnection, finished: Finished) -> None:
    """Make the table `captured`: URI and status (s) of its last capture, whether that is a
    document, and whether a link leads to it. A capture that says no more than that nothing has
    changed counts only where there is no other one; of captures at the same time, that of the
    lowest status does."""
    types = ", ".join(f"'{media_type}'" for media_type in MEDIA_TYPES)
    db.execute(
        "CREATE TABLE captured AS SELECT uri, last.s AS s, coalesce(links, 0) > 0 AS linked,"
        f" coalesce(last.m IN ({types}), false)"
        f" AND NOT regexp_matches(uri, '{NO_PAGES}', 'i') AS document FROM"
        f" (SELECT uri, arg_max({_SAYS}, {_WEIGHT}) AS last"
        f" FROM {finished.view('visited')} GROUP BY uri) LEFT JOIN"
        f" (SELECT uri, sum(links) AS links FROM {finished.view('spelled')} GROUP BY uri)"
        " USING (uri)"
    )


def _find_gone(db: duckdb.DuckDBPyConnection, finished: Finished) -> None:
    """Make the table `page`: what was captured, and whether it is gone.

    A redirect is gone unless its chain leads out of redirects: to a page, or to what was not
    captured. One to itself, which sets a cookie, is a page."""
    db.execute(
        "CREATE TABLE redirect AS SELECT source, target FROM"
        f" {finished.view('redirected')} SEMI JOIN"
        f" (SELECT uri FROM captured WHERE {_REDIRECT}) ON source = uri WHERE source <> target"
    )
    db.execute(
        f"CREATE TABLE there AS SELECT target AS uri FROM redirect EXCEPT SELECT uri FROM captured"
        f" WHERE ({_REDIRECT}) OR {_GONE}"
    )
    for _ in range(MOST_REDIRECTS):
        more = db.execute(
            "INSERT INTO there SELECT DISTINCT source FROM redirect"
            " WHERE target IN (SELECT uri FROM there) AND source NOT IN (SELECT uri FROM there)"
        ).fetchone()
        if not more or not more[0]:
            break
    db.execute(
        "CREATE TABLE page AS SELECT *, coalesce("
        f"({_GONE}) OR (({_REDIRECT}) AND uri IN (SELECT source FROM redirect)"
        " AND uri NOT IN (SELECT uri FROM there)), false) AS gone FROM captured"
    )


def _formed(db: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    # a connection of its own, as the other one waits for these rows
    query = (
        "SELECT m.*, coalesce(w.hops, '') AS hops, coalesce(w.via, '') AS via"
        " FROM met_uri m LEFT JOIN way w USING (uri)"
    )
    for batch in batches(db.cursor(), query):
        made = forms(batch.column(0))
        kept = pa.RecordBatch.from_arrays([made.forms, *batch.columns[1:]], schema=FORMS)
        yield kept.filter(made.reasons.is_null())
