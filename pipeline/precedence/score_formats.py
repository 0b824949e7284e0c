"""Formats of the pages of a ranking for people and for crawlers other than Heritrix, each a
function and a row of FORMATS.

    csv      as pipeline/data/datasets.py writes it
    jsonl    an object a line, with the same names
    parquet  the same columns with types
    nutch    `url<TAB>nutch.score=score`, which `nutch inject` reads: no blank beside the tab, as it
             would belong to the name, and a decimal that Java's Float.parseFloat accepts
    seeds    the URIs alone, one a line, for whatever takes such a list
    browsertrix    seeds and scope as YAML, see below

bins: the last class. Pages without score were captured and come last. nutch gets 0.15 for them, the
score that the equation gives to a page without incoming links. Memory: some batches of pages.

browsertrix is the configuration of Browsertrix Crawler, with the fields of
https://crawler.docs.browsertrix.com/user-guide/yaml-config/. A crawl by a browser is expensive, so
the class of a page says how far it goes:

    class 1          a seed; the links of the page to its own host are followed, one hop
    other classes    a seed, and no links of it
    the last class   no seed, and excluded, so that no link of class 1 leads to it

The lines are JSON, which YAML reads. Pages come best first, so the last class comes last.

What the captures and the graph say of each page: tables of a database, by key.

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

import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.pipeline.data.datasets import csv_pieces
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.bounds import most_wrong, rounded
from crawlrank.pipeline.ranking.sites.graph import domain_name, host_name
from crawlrank.pipeline.workfolder.results.finished import Finished

PAGE = pa.schema(
    [
        ("url", pa.string()), ("score", pa.float64()), ("class", pa.int16()),
        ("position", pa.int64()), ("key", pa.string()), ("captures", pa.int64()),
        ("status", pa.int16()), ("media_type", pa.string()), ("links_in", pa.int64()),
        ("links_out", pa.int64()), ("hops", pa.string()),
    ]
)  # fmt: skip
BOUNDS = pa.schema([("score_rounded", pa.float64()), ("score_error", pa.float64())])
BOUNDED = pa.schema([*[PAGE.field(n) for n in (0, 1)], *BOUNDS, *[*PAGE][2:]])
LISTED = pa.schema([*BOUNDED, ("host", pa.string()), ("site", pa.string())])
REPEATED = ["media_type", "hops", "host", "site"]  # worth a dictionary in Parquet
ROW_GROUP = 1 << 17
HOSTS_KEPT = 1 << 16  # names of hosts in memory
UNFIT = "[\\s\\x00-\\x1f\\x7f#]"  # what a reader of seeds takes for the end of a URI, or drops

PageBatches = Iterator[pa.RecordBatch]  # best first, as BOUNDED where they have all columns
LeftOut = Counter[str]  # why pages are left out, with their numbers


@functools.lru_cache(HOSTS_KEPT)
def _names(part: str) -> tuple[str, str]:
    return host_name(part), domain_name(part)


def with_bounds(pages: pa.RecordBatch, options: PrecedenceOptions) -> pa.RecordBatch:
    """The pages as BOUNDED, of PAGE: with the score that pages are ordered by, which equal ones
    share, and by how much the score may be wrong, if that is known."""
    missing, scores = pages["score"].is_null(), pages["score"].fill_null(1.0).to_numpy()
    shown = pa.array(rounded(scores, options.digits))
    error = scores * np.nan
    if options.eta is not None:
        error = most_wrong(scores, options.eta, options.absolute)
    known = pa.array(error, mask=~np.isfinite(error))
    columns = [pc.if_else(missing, None, column) for column in (shown, known)]
    return pa.record_batch([*pages.columns[:2], *columns, *pages.columns[2:]], BOUNDED)


def with_hosts(pages: pa.RecordBatch) -> pa.RecordBatch:
    """The pages of BOUNDED as LISTED: with the host of each and its registrable domain."""
    parts = pc.list_element(pc.split_pattern(pages["key"], ")", max_splits=1), 0)
    encoded = parts.dictionary_encode()
    names = [_names(part) for part in encoded.dictionary.to_pylist()]
    hosts, sites = ([pair[at] for pair in names] for at in (0, 1))
    columns = [pa.array(each, pa.string()).take(encoded.indices) for each in (hosts, sites)]
    return pa.record_batch([*pages.columns, *columns], LISTED)


def _rows(pages: PageBatches) -> Iterator[tuple[Any, ...]]:
    for batch in pages:
        listed = with_hosts(batch)
        yield from zip(*(column.to_pylist() for column in listed.columns), strict=True)


def _csv(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    return map(str.encode, csv_pieces(LISTED.names, _rows(pages)))


def _jsonl(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    for row in _rows(pages):
        yield json.dumps(dict(zip(LISTED.names, row, strict=True))).encode() + b"\n"


class _Growing:
    """A file that only grows: what was written since it was last taken."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._at += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        """All is there at once."""

    def close(self) -> None:
        """The reader takes what is left."""

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _parquet(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    growing = _Growing()
    with pq.ParquetWriter(growing, LISTED, compression="zstd", use_dictionary=REPEATED) as writer:
        for batch in pages:
            writer.write_batch(with_hosts(batch), row_group_size=ROW_GROUP)
            yield growing.take()
    yield growing.take()


def _nutch(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    for batch in pages:
        for url, score in zip(batch["url"].to_pylist(), batch["score"].to_pylist(), strict=True):
            value = RECIPE.base if score is None else score
            yield f"{url}\tnutch.score={value:.9g}\n".encode()  # a float holds no more digits


def _fit(pages: PageBatches, left: LeftOut) -> PageBatches:
    """The rows without URIs that are no seeds."""
    for batch in pages:
        unfit = pc.match_substring_regex(batch["url"], UNFIT)
        left["no seed, for a blank or a # in it"] += pc.sum(unfit).as_py() or 0
        yield batch.filter(pc.invert(unfit))


def _seeds(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    for batch in _fit(pages, left):
        yield "".join(f"{url}\n" for url in batch["url"].to_pylist()).encode()


def _browsertrix(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    classed = (
        page
        for batch in _fit(pages, left)
        for page in zip(batch["url"].to_pylist(), batch["class"].to_pylist(), strict=True)
    )
    for line in config_lines(classed, bins):
        yield f"{line}\n".encode()


FORMATS: dict[str, Callable[[PageBatches, LeftOut, int], Iterator[bytes]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "seeds": _seeds,
    "browsertrix": _browsertrix,
    "nutch": _nutch,
}
BINARY = ("parquet",)


#: what JavaScript's regular expressions give a meaning
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}/-]")
_BEGINNING = re.compile(r"https?://(?:www[0-9]*\.)?", re.IGNORECASE)
_OF_ANY_SCHEME = r"^https?:\/\/(www[\d]*\.)?"  # Browsertrix takes these for one page


def config_lines(pages: Iterable[tuple[str, int]], last_class: int) -> Iterator[str]:
    """The file, line by line. pages: URI and class, the best first."""
    yield "# seeds and scope for Browsertrix Crawler, by the classes of a ranking of crawlrank"
    yield "seeds:"
    is_last = False
    for uri, number in pages:
        if number >= last_class > 1:
            if not is_last:
                yield "exclude:"
            is_last = True
            yield f"- {json.dumps(exclusion(uri))}"
        else:
            scope = {"scopeType": "host", "depth": 1} if number == 1 else {"scopeType": "page"}
            yield f"- {json.dumps({'url': uri} | scope)}"


def exclusion(uri: str) -> str:
    """The regular expression of JavaScript that matches a page in the form in which Browsertrix
    looks: with parameters in the order of their names."""
    begin = _BEGINNING.match(uri)
    rest = uri[begin.end() :] if begin else uri
    path, mark, query = rest.partition("?")
    if mark:
        parameters = sorted(query.split("&"), key=lambda each: each.partition("=")[0])
        path += "?" + "&".join(parameters)
    return _OF_ANY_SCHEME + _SPECIAL.sub(r"\\\g<0>", path) + "$"


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
