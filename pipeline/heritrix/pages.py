"""The lines of a precedence file that are worth being seeds, best first.

These are pages, and what else readers follow links to, such as a redirect to a page: they were
captured, and are documents by their media type or targets of links. A crawl finds images, styles,
robots.txt and favicons by itself.

What is gone (404, 410, redirects in a circle or to what is gone) is none, if it is in the last
class. Linked and in a better class it is: Heritrix finds it in any case, puts it behind all
seeds of its host, and meanwhile takes the whole queue of the host for as good as that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from pipeline.analysis.audit.entries import ROWS, EntriesReport, read_entries
from pipeline.data.database import batches, feed
from pipeline.precedence.heritrix_column import forms
from pipeline.workfolder.results.finished import Finished

MEDIA_TYPES = ("text/html", "application/xhtml+xml", "application/pdf", "text/plain")
MOST_REDIRECTS = 20  # of a chain, as browsers follow
FORMS = pa.schema([("form", pa.string()), ("gone", pa.bool_())])
#: of these the server says text/plain, and nobody reads them
NO_PAGES = r"^[a-z]+://[^/]*/(robots|humans|ads|app-ads|security)\.txt$|\.(css|js|map|log)$"
_GONE, _REDIRECT = "s IN (404, 410)", "s BETWEEN 300 AND 399 AND s <> 304"


@dataclass(frozen=True)
class SeedRule:
    """Which pages become seeds: of classes up to last_class, and of those the first `top`."""

    last_class: int | None = None
    top: int | None = None


def seeds(
    db: duckdb.DuckDBPyConnection,
    precedence: Path,
    finished: Finished | None,
    rule: SeedRule,
    bins: int,
) -> Iterator[tuple[str, bool]]:
    """The pages among the URIs of the file, in its order and spelling; with each, whether it is
    gone. db: the file and datasets of the run are read into it. finished: the run; None where all
    of the file are pages that are there, as in a plan. bins: the last class. Raises BadInput."""
    report = EntriesReport()
    feed(db, "rows", ROWS, read_entries(precedence, report))
    db.execute(
        "CREATE TABLE listed AS SELECT uri, arg_max(precedence, line) AS precedence,"
        " min(line) AS line FROM rows WHERE cause IS NULL GROUP BY uri"
    )
    db.unregister("rows")
    report.require_loaded(precedence)
    if finished:
        _read_worth(db, finished)
    else:
        db.execute("CREATE TABLE worth AS SELECT uri AS form, false AS gone FROM listed")
    limits = [
        f"AND precedence <= {rule.last_class}" if rule.last_class else "",
        "ORDER BY line",
        f"LIMIT {rule.top}" if rule.top else "",
    ]
    query = (
        "SELECT uri, gone FROM listed JOIN worth ON uri = form"
        f" WHERE (NOT gone OR precedence < {bins}) {' '.join(limits)}"
    )
    for batch in batches(db, query):
        yield from zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)


def _read_worth(db: duckdb.DuckDBPyConnection, finished: Finished) -> None:
    """Make the table `worth`: the forms of pages that are worth a seed, and whether all of their
    spellings are gone."""
    with finished.reading():
        _read_captures(db, finished)
        _find_gone(db, finished)
        feed(db, "formed", FORMS, _formed(db))
        db.execute(
            "CREATE TABLE worth AS SELECT form, bool_and(gone) AS gone FROM formed GROUP BY form"
        )
        db.unregister("formed")


def _read_captures(db: duckdb.DuckDBPyConnection, finished: Finished) -> None:
    """Make the table `captured`: URI and status (s) of its last capture, whether that is a
    document, and whether a link leads to it."""
    types = ", ".join(f"'{media_type}'" for media_type in MEDIA_TYPES)
    db.execute(
        "CREATE TABLE captured AS SELECT uri, last.s AS s, coalesce(links, 0) > 0 AS linked,"
        f" last.m IN ({types}) AND NOT regexp_matches(uri, '{NO_PAGES}', 'i') AS document FROM"
        " (SELECT uri, arg_max(struct_pack(s := status, m :="
        " trim(lower(split_part(media_type, ';', 1)))), timestamp) AS last"
        f" FROM {finished.view('visited')} GROUP BY uri) LEFT JOIN"
        f" (SELECT uri, sum(links) AS links FROM {finished.view('spelled')} GROUP BY uri)"
        " USING (uri)"
    )


def _find_gone(db: duckdb.DuckDBPyConnection, finished: Finished) -> None:
    """Make the table `page`: the URIs worth a seed, and whether they are gone.

    A redirect is gone unless its chain leads out of redirects: to a page, or to what was not
    captured."""
    db.execute(
        "CREATE TABLE redirect AS SELECT source, target FROM"
        f" {finished.view('redirected')} SEMI JOIN"
        f" (SELECT uri FROM captured WHERE {_REDIRECT}) ON source = uri"
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
        "CREATE TABLE page AS SELECT uri, gone FROM (SELECT *, coalesce("
        f"({_GONE}) OR (({_REDIRECT}) AND uri IN (SELECT source FROM redirect)"
        " AND uri NOT IN (SELECT uri FROM there)), false) AS gone FROM captured)"
        " WHERE linked OR (document AND NOT gone)"
    )


def _formed(db: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    # a connection of its own, as the other one waits for these rows
    for batch in batches(db.cursor(), "FROM page"):
        made = forms(batch.column(0))
        kept = pa.RecordBatch.from_arrays([made.forms, batch.column(1)], schema=FORMS)
        yield kept.filter(made.reasons.is_null())
