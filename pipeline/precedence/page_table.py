"""The pages of a ranking as a table of a database: each once, with its class, and what to take.

The URL of a page is the spelling in the scores. Classes are cut as for Heritrix (classes.py), over
all pages whatever is taken then. Captured pages without score come last, in the last class, without
position. DuckDB joins and sorts within its memory limit; memory besides: about 12 arrays of N.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.order import BEST_SPELLING_FIRST
from crawlrank.jobs.kernel.keys.keys import www_rule
from crawlrank.jobs.kernel.keys.uris import HTTP_PREFIXES
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.database import batches, database
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.precedence.filters import DETAILS, Filter, PageFilters, host_condition
from crawlrank.pipeline.precedence.latest_captures import make_latest
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.score_formats import PAGE, make_degrees
from crawlrank.pipeline.precedence.scored import ByKey, counted_batches, insert
from crawlrank.pipeline.ranking.classes import cut, preferred_by
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished, require_same_keys
from crawlrank.pipeline.workfolder.results.weights import nodes_of

BUDGET = 2 << 30  # bytes of memory, for what does not grow with the nodes alone
PIECE = 1 << 18  # nodes whose links are looked at together
NODES = """
    CREATE TABLE nodes AS
    SELECT s.key AS key, s.uri AS uri, s.score AS score, c.captures AS captures, c.links AS links,
           row_number() OVER (ORDER BY s.key) - 1 AS node
    FROM scored s LEFT JOIN
         (SELECT key, sum(captures)::BIGINT AS captures, sum(links)::BIGINT AS links
          FROM counts GROUP BY key) c USING (key)
"""
COUNTED = (
    "SELECT coalesce(captures, 0) AS captures, coalesce(links, 0) AS links FROM nodes ORDER BY node"
)
PAGES = """
    CREATE {kind} pages AS SELECT url, score, class::SMALLINT AS class, position, p.key AS key,
        captures, status, media_type, links_in, links_out, hops{more}
    FROM (
        SELECT uri AS url, score, class, position, key, captures FROM nodes JOIN placed USING (node)
        UNION ALL
        SELECT first(uri ORDER BY {best_first}), NULL, {bins}, NULL, key,
               sum(captures)::BIGINT
        FROM counts WHERE key NOT IN (SELECT key FROM scored) GROUP BY key HAVING sum(captures) > 0
    ) p LEFT JOIN latest l ON l.key = p.key LEFT JOIN degrees d ON d.key = p.key
"""
ORDER = "ORDER BY position NULLS LAST, key"
IS_HTTP = " OR ".join(f"starts_with(lower(url), '{prefix}')" for prefix in HTTP_PREFIXES)


class RankedPages(NamedTuple):
    """Where pages come from. uris: None where not known; classes are then cut over all pages. work:
    the finished run, None where datasets alone are given."""

    scores: Path
    uris: Path | None
    work: Path | None = None

    @property
    def where(self) -> str:
        """The scores as messages name them."""
        return str(self.work or self.scores)


@dataclass
class Taken:
    """What filters left. pages: all that have a URI. alone: that a filter leaves by itself;
    together: with those before it. left_out: keys without a known URI."""

    pages: int = 0
    without_uri: int = 0
    rows: list[tuple[str, int, int]] = field(default_factory=list)

    def summary(self) -> list[dict[str, str | int]]:
        names = ("filter", "alone", "together")
        return [dict(zip(names, row, strict=True)) for row in self.rows]


class PageTable:
    """The view or table `pages` of a database, with the columns PAGE, and what filters take. more:
    columns that it has after those. replay: the prefix of links to captures. finished: the run that
    the pages are of, in the same database. keyed: whether pages without a URI are taken."""

    def __init__(
        self,
        db: duckdb.DuckDBPyConnection,
        filters: list[Filter],
        top: int | None,
        more: Sequence[str] = (),
        replay: str = "",
        finished: Finished | None = None,
        *,
        keyed: bool = False,
    ) -> None:
        self.db, self.finished, self._replay = db, finished, replay
        self._is_page = "true" if keyed else IS_HTTP
        self.columns = pa.schema([*PAGE, *[pa.field(name, pa.string()) for name in more]])
        conditions = " AND ".join(
            f"({condition})" for _, condition in [*filters, ("", self._is_page)]
        )
        self._rest = f"FROM pages WHERE {conditions}"
        self._limit = "" if top is None else f"LIMIT {top}"
        self._filters, self._top = filters, top

    def taken(self, columns: str = "") -> str:
        """The query of the pages to take, best first."""
        ordered = f"SELECT * {self._rest} {ORDER} {self._limit}"
        return f"SELECT {columns or ', '.join(self.columns.names)} FROM ({ordered}) {ORDER}"

    def rows(self) -> Iterator[pa.RecordBatch]:
        """The pages to take, with these columns."""
        return self.of_query(self.taken())

    def of_query(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query that selects these columns."""
        at = self.columns.get_field_index("replay")
        for batch in batches(self.db, query):
            pages = batch.cast(self.columns)
            if at >= 0:
                links = pc.binary_join_element_wise(self._replay, pages["replay"], "")
                pages = pages.set_column(at, "replay", links)
            yield pages

    def count(self, where: str) -> Taken:
        """How many pages each filter leaves. where: the scores, for messages. Raises BadInput where
        no page has a URI, and where no page is left."""
        is_page = self._is_page
        counts, before = [f"count(*) FILTER (WHERE {is_page})", "count(*)"], is_page
        for _, condition in self._filters:
            counts.append(f"count(*) FILTER (WHERE ({is_page}) AND ({condition}))")
            before = f"({before}) AND ({condition})"
            counts.append(f"count(*) FILTER (WHERE {before})")
        (row,) = self.db.execute(f"SELECT {', '.join(counts)} FROM pages").fetchall()
        taken = Taken(row[0], row[1] - row[0])
        pairs = zip(row[2::2], row[3::2], strict=True)
        taken.rows = [(f.option, *pair) for f, pair in zip(self._filters, pairs, strict=True)]
        left = taken.rows[-1][2] if taken.rows else taken.pages
        if self._top is not None:
            taken.rows.append(
                (f"--top {self._top}", min(self._top, taken.pages), min(self._top, left))
            )
        _require_pages(taken, left, where)
        return taken


def _require_pages(taken: Taken, left: int, where: str) -> None:
    if not taken.pages:
        cure = "Scores of an import without URIs name keys only."
        raise BadInput(where, "no URI in it", "at least one http or https URI", cure)
    if not left:
        each = "; ".join(
            f"{option} leaves {alone:,}" + (f", {together:,} with those before" if at else "")
            for at, (option, alone, together) in enumerate(taken.rows)
        )
        what = f"none of {count_of(taken.pages, 'page')} passes the filters: {each}"
        raise BadInput(where, what, "filters that a page passes", "Change or remove one of them.")


@contextlib.contextmanager
def open_pages(
    ranked: RankedPages,
    tmp: Path,
    options: PrecedenceOptions,
    filters: PageFilters,
    chosen: list[Filter],
    *,
    columns: bool,
    replay: str = "",
    budget: int = BUDGET,
    threads: int | None = None,
) -> Iterator[PageTable]:
    """The pages of scores and uris, text or Parquet. chosen: the conditions of the filters.
    columns: whether all columns are asked for; otherwise those that filters need. replay: the
    prefix of links to captures, which are a column then. tmp: a folder for data larger than memory.
    Raises BadInput."""
    limits = {"budget": budget // 2, "threads": threads or os.cpu_count() or 1}
    with (
        temporary_folder(tmp) as name,
        database(name, **limits) as (db, near),
    ):
        finished = open_finished(ranked.work, db, near, "run") if ranked.work else None
        by_key = ByKey(db, ranked.scores, None)
        db.execute("CREATE TABLE counts (key VARCHAR, uri VARCHAR, captures BIGINT, links BIGINT)")
        insert(db, "counts", counted_batches(ranked.uris) if ranked.uris else ())
        db.execute(NODES)
        db.register("placed", _placed(db, by_key, options))
        more = _describe(db, finished, filters, columns=columns, replay=bool(replay))
        if finished:
            _make_tables(db, finished, filters, near)
        kind = "TABLE" if filters.any else "VIEW"  # which is read twice, or once
        listed = "".join(f", {name}" for name in more)
        db.execute(
            PAGES.format(kind=kind, bins=options.bins, best_first=BEST_SPELLING_FIRST, more=listed)
        )
        keyed = columns and finished is not None and not finished.has_uris
        yield PageTable(db, chosen, filters.top, more, replay, finished, keyed=keyed)


def _describe(
    db: duckdb.DuckDBPyConnection,
    finished: Finished | None,
    filters: PageFilters,
    *,
    columns: bool,
    replay: bool,
) -> list[str]:
    """Make the tables that describe pages, as far as they are needed; the columns that are there
    only at times."""
    more: list[str] = []
    if columns and finished:
        more = ["title"] * finished.has_titles + ["replay"] * replay
    detailed = columns or any(getattr(filters, field) for field in DETAILS)
    make_latest(db, finished if detailed else None, more)
    degrees = columns or filters.min_links is not None
    make_degrees(db, finished if degrees else None)
    return more


def _make_tables(
    db: duckdb.DuckDBPyConnection, finished: Finished, filters: PageFilters, near: Path
) -> None:
    """Make the tables that the conditions of filters name. Raises BadInput."""
    www = www_rule(finished.parameters)
    if filters.linked_from:
        mapped = finished.view("mapped")
        hosts = host_condition(filters.linked_from, www)
        with finished.reading():
            of_hosts = db.sql(f"SELECT id FROM {mapped} WHERE {hosts}").fetchnumpy()["id"]
            db.register("targets", pa.table({"id": _targets(finished.links(), of_hosts)}))
            db.execute(f"CREATE TABLE linked AS SELECT key FROM {mapped} JOIN targets USING (id)")
    if filters.around:
        with finished.reading():
            db.register("nearest", pa.table({"id": _neighbours(finished, filters.around)}))
            mapped = finished.view("mapped")
            db.execute(f"CREATE TABLE around AS SELECT key FROM {mapped} JOIN nearest USING (id)")
    if filters.new_since:
        (near / "earlier").mkdir()
        earlier = open_finished(filters.new_since, db, near / "earlier", "earlier")
        require_same_keys(earlier, finished)
        known = earlier.view("spelled" if earlier.has_uris else "mapped")
        with earlier.reading():
            db.execute(f"CREATE TABLE earlier AS SELECT DISTINCT key FROM {known}")


def _neighbours(finished: Finished, pages: Sequence[str]) -> Positions:
    """The nodes of pages, those that link to one of them, and those to which one links. Raises
    BadInput for a page that is no node."""
    ids, _ = nodes_of(pages, finished)
    for page, node in zip(pages, ids.tolist(), strict=True):
        if node < 0:
            cure = (
                f"Look for it: `crawlrank explain {finished.work} URI` says why it has none, or"
                " names similar pages."
            )
            raise BadInput(str(finished.work), f"no score of {page}", "a page with a score", cure)
    graph = finished.links()
    sources = [graph.sources[graph.offsets[node] : graph.offsets[node + 1]] for node in ids]
    near: Positions = np.unique(np.concatenate([ids, *sources, _targets(graph, ids)]))
    return near.astype(np.int64)


def _targets(graph: Csr, sources: Positions) -> Positions:
    """The nodes to which one of the sources links. Reads the graph once."""
    marked = np.zeros(graph.nodes, bool)
    marked[sources] = True
    pieces: list[Any] = [np.empty(0, np.int64)]
    for begin in range(0, graph.nodes, PIECE):
        bounds = graph.offsets[begin : begin + PIECE + 1].astype(np.int64)
        links = marked[graph.sources[bounds[0] : bounds[-1]]]
        counts = np.concatenate(([0], np.cumsum(links)))[bounds - bounds[0]]
        pieces.append(begin + np.flatnonzero(np.diff(counts)))
    return np.concatenate(pieces)


def _placed(db: duckdb.DuckDBPyConnection, by_key: ByKey, options: PrecedenceOptions) -> pa.Table:
    """The class and the position of each node."""
    counted = db.sql(COUNTED).fetchnumpy()
    classes = cut(
        by_key.scores,
        options.bins,
        digits=options.digits,
        mask=counted["captures"] > 0 if options.classes_over == "captured" else None,
        ties=options.ties,
        preferred=preferred_by(counted["links"], counted["captures"]),
    )
    nodes = np.arange(len(classes.order))
    return pa.table({"node": nodes, "class": classes.classes, "position": classes.positions})
