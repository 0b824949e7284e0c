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

The table `degrees` of a database says what the graph has of each page: key, links_in and links_out,
of nodes. Further columns are those of latest_captures.py: they come last.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.jobs.kernel.rank.rounding import rounded
from crawlrank.pipeline.data.datasets import csv_pieces
from crawlrank.pipeline.data.parquet import parquet_pieces
from crawlrank.pipeline.data.site_names import domain_name, host_name
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.bounds import most_wrong
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
MORE = ("title", "replay")  # strings that a list has where they are known or asked for
REPEATED = ["media_type", "hops", "host", "site"]  # worth a dictionary in Parquet
HOSTS_KEPT = 1 << 16  # names of hosts in memory
UNFIT = "[\\s\\x00-\\x1f\\x7f#]"  # what a reader of seeds takes for the end of a URI, or drops

PageBatches = Iterator[pa.RecordBatch]  # best first, as BOUNDED where they have all columns
LeftOut = Counter[str]  # why pages are left out, with their numbers


@functools.lru_cache(HOSTS_KEPT)
def _names(part: str) -> tuple[str, str]:
    return host_name(part), domain_name(part)


def with_bounds(pages: pa.RecordBatch, options: PrecedenceOptions) -> pa.RecordBatch:
    """The pages of PAGE as BOUNDED, and columns that come last: with the score that pages are
    ordered by, which equal ones share, and by how much the score may be wrong, if that is known."""
    missing, scores = pages["score"].is_null(), pages["score"].fill_null(1.0).to_numpy()
    shown = pa.array(rounded(scores, options.digits))
    error = scores * np.nan
    if options.eta is not None:
        error = most_wrong(scores, options.eta, options.absolute)
    known = pa.array(error, mask=~np.isfinite(error))
    columns = [pc.if_else(missing, None, column) for column in (shown, known)]
    schema = pa.schema([*BOUNDED, *_more(pages)])
    return pa.record_batch([*pages.columns[:2], *columns, *pages.columns[2:]], schema)


def _more(pages: pa.RecordBatch) -> list[pa.Field]:
    """The fields after all others."""
    return [field for field in pages.schema if field.name in MORE]


def with_hosts(pages: pa.RecordBatch) -> pa.RecordBatch:
    """The pages of BOUNDED as LISTED: with the host of each and its registrable domain, before
    the columns that come last."""
    parts = pc.list_element(pc.split_pattern(pages["key"], ")", max_splits=1), 0)
    encoded = parts.dictionary_encode()
    names = [_names(part) for part in encoded.dictionary.to_pylist()]
    hosts, sites = ([pair[at] for pair in names] for at in (0, 1))
    columns = [pa.array(each, pa.string()).take(encoded.indices) for each in (hosts, sites)]
    more, count = _more(pages), len(BOUNDED)
    schema = pa.schema([*LISTED, *more])
    return pa.record_batch([*pages.columns[:count], *columns, *pages.columns[count:]], schema)


def _listed(pages: PageBatches) -> tuple[pa.Schema, PageBatches]:
    """The columns of a list, and its pages, of which there is one at least."""
    first = with_hosts(next(pages))
    return first.schema, chain([first], map(with_hosts, pages))


def _rows(listed: PageBatches) -> Iterator[tuple[Any, ...]]:
    for batch in listed:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _csv(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    schema, listed = _listed(pages)
    return map(str.encode, csv_pieces(schema.names, _rows(listed)))


def _jsonl(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    schema, listed = _listed(pages)
    for row in _rows(listed):
        yield json.dumps(dict(zip(schema.names, row, strict=True))).encode() + b"\n"


def _parquet(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    return parquet_pieces(*_listed(pages), use_dictionary=REPEATED)


def _nutch(pages: PageBatches, left: LeftOut, bins: int) -> Iterator[bytes]:
    least = RECIPE.base  # of pages without a score, which come last
    for batch in pages:
        for url, score in zip(batch["url"].to_pylist(), batch["score"].to_pylist(), strict=True):
            least = least if score is None else min(least, score)
            value = least if score is None else score
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


NO_DEGREES = "CREATE TABLE degrees (key VARCHAR, links_in BIGINT, links_out BIGINT)"


def make_degrees(db: duckdb.DuckDBPyConnection, finished: Finished | None) -> None:
    """Make `degrees`; without a run it has no rows."""
    if finished is None:
        db.execute(NO_DEGREES)
        return
    degrees = finished.view("degrees")
    with finished.reading():
        db.execute(f"CREATE TABLE degrees AS SELECT key, links_in, links_out FROM {degrees}")
