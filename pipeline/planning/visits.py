"""What the captures of finished runs say about visits of pages.

A capture is a visit. Two visits of a URI show whether it changed between them: by their digests,
and by the hundreds of their status. A revisit without digest and status 304 say that it did not,
and so do two strong ETags that are equal. Where a digest is missing, Last-Modified says it.
Failures of the server (408, 429, 5xx) are no visits. A page is a key; of its spellings the plan
takes the one whose last visit went well, of these the one with the most visits. Spellings are
observed apart: one may redirect to the other.

Pages are documents by their media type, or what links lead to. What was gone (404, 410) at its last
visit is left out.

Memory: the columns of all pages, and a part of the captures at a time. Captures and spellings are
numbers on disk (visit_numbers.py), first by URI, then pages by key. Strings of pages are read again
where a plan is written.

Pages of a plan with what was seen of them, from numbers of captures and spellings on disk.

First captures meet the spellings of their URIs, a part of all URIs at a time. Then the spellings of
each key meet each other and the score of the key, a part of all keys at a time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.rank.array_types import Floats, Positions
from crawlrank.pipeline.data.pairs import in_order
from crawlrank.pipeline.data.site_names import domain_name
from crawlrank.pipeline.online.freshness.change_rates import Seen
from crawlrank.pipeline.planning import visit_numbers as numbers
from crawlrank.pipeline.planning.visit_numbers import (
    DAY,
    LATER,
    LEFT_OUT,
    PARTS,
    REASONS,
    SPELLING,
    Hashes,
    Partitions,
    Records,
    ShortFloats,
    ShortNumbers,
    by_part,
)
from crawlrank.pipeline.workfolder.results.finished import Finished

PAGE = np.dtype(
    [("uri", "u8"), ("key", "u8"), ("host", "u8"), ("last", "i8"), ("visits", "i4"),
     ("spans", "i4"), ("work", "i4"), ("is_good", "u2"), ("is_gone", "u2")]
)  # fmt: skip
WITHOUT_KEY = "without-key"
Made = TypeVar("Made")


class Sites(NamedTuple):
    """hosts: hashes of hosts, uint64[H], ascending. numbers: of the site of each, int32[H]."""

    hosts: Hashes
    numbers: ShortNumbers


class PagePart(NamedTuple):
    """Pages in the order of their keys' hashes. rows: of PAGE. days: between visits, of a page one
    after the other; negative where it changed. scores: float64[n], nan for pages without one.
    sites: int32[n]."""

    rows: Records
    days: ShortFloats
    scores: Floats
    sites: ShortNumbers


class _UriPart(NamedTuple):
    """Spellings that are pages, with the days between their visits, and what captures are no
    visits, by reason."""

    rows: Records
    days: ShortFloats
    left_out: Counter[str]


def write_pages(
    spellings: Partitions, captures: Partitions, pages: Partitions, days: Partitions
) -> dict[str, int]:
    """Write pages by key, from spellings and captures by URI; what captures are no visits, by
    reason."""
    left_out: Counter[str] = Counter()
    for part in _in_parallel(partial(_uri_part, spellings, captures)):
        left_out += part.left_out
        order, ends = by_part(part.rows["key"])
        begins, counts = _begins(part.rows), part.rows["spans"]
        rows, in_order_of_key = part.rows[order], _gathered(order, begins, counts, part.days)
        day_ends = np.concatenate([[0], np.cumsum(rows["spans"])])[ends]
        for number in range(PARTS):
            pages.append(number, rows[ends[number] : ends[number + 1]])
            days.append(number, in_order_of_key[day_ends[number] : day_ends[number + 1]])
    return dict(sorted(left_out.items()))


def read_pages(
    pages: Partitions, days: Partitions, nodes: Partitions, sites: Sites
) -> Iterator[PagePart]:
    """The pages, those of a key once, in the order of the keys' hashes. nodes: scores by key."""
    return _in_parallel(partial(_page_part, pages, days, nodes, sites))


def _in_parallel(make: Callable[[int], Made]) -> Iterator[Made]:
    """What is made of all parts, in their order, by all cores."""
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        yield from in_order(pool, make, range(PARTS), threads)


def _uri_part(spellings: Partitions, captures: Partitions, part: int) -> _UriPart:
    spelled, visits = spellings.take(part), captures.take(part)
    hashes, groups, numbered = _numbered(spelled["uri"])
    uris = np.zeros(len(hashes), SPELLING)
    numbers.merge_spellings(spelled, groups, uris)
    of = np.append(numbered, -1)[_found(hashes, visits["uri"])]
    captured = np.append(uris["flags"] & numbers.HAS_CAPTURES > 0, False)
    of[~captured[of]] = -1
    left_out = Counter({WITHOUT_KEY: int(np.count_nonzero(of < 0))})
    counts = np.bincount(visits["reason"][of >= 0], minlength=len(REASONS) + 1)[1:]
    left_out += Counter(dict(zip(REASONS, counts.tolist(), strict=True)))
    of[visits["reason"] > 0] = -1
    return _UriPart(*_pages_of(uris, visits, of), left_out)


def _numbered(hashes: Hashes) -> tuple[Hashes, ShortNumbers, ShortNumbers]:
    """Distinct hashes, ascending; the number of each row's hash, in the order in which the first of
    each comes, int32; and the numbers of the distinct ones."""
    distinct, firsts, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    of_distinct: ShortNumbers = np.empty(len(distinct), np.int32)
    of_distinct[np.argsort(firsts)] = np.arange(len(distinct), dtype=np.int32)
    return distinct, of_distinct[inverse], of_distinct


def _found(distinct: Hashes, hashes: Hashes) -> Positions:
    """Where each hash is among distinct ones that ascend; after their end if it is none of them."""
    at: Positions = np.searchsorted(distinct, hashes)
    known = at < len(distinct)
    known[known] = distinct[at[known]] == hashes[known]
    return np.where(known, at, len(distinct))


def _pages_of(uris: Records, visits: Records, of: ShortNumbers) -> tuple[Records, ShortFloats]:
    """of: the URI of each visit, int32; -1 for those that do not count."""
    chosen = np.flatnonzero(of >= 0)
    chosen = chosen[np.argsort(visits["time"][chosen], kind="stable")]
    visits, of = visits[chosen], of[chosen]
    ends = np.cumsum(np.bincount(of, minlength=len(uris)))
    order = np.argsort(of, kind="stable").astype(np.int32)
    # a page is a URI, and each span ends at a visit of its own
    rows, days = np.zeros(len(uris), PAGE), np.empty(len(of), np.float32)
    pages, spans = numbers.fill_pages(visits, order, ends, uris, rows, days)
    return rows[:pages], days[:spans]


def _page_part(
    pages: Partitions, days: Partitions, nodes: Partitions, sites: Sites, part: int
) -> PagePart:
    rows, of_rows, ranked = pages.take(part), days.take(part), nodes.take(part)
    best = np.empty(len(rows), np.int32)  # there are no more keys than rows
    count = numbers.fill_best(rows, np.argsort(rows["key"], kind="stable"), best)
    chosen = best[:count].astype(np.int64)
    some = _gathered(chosen, _begins(rows), rows["spans"], of_rows)
    rows = rows[chosen]
    scores = np.full(count, np.nan)
    if count:
        at = np.minimum(np.searchsorted(rows["key"], ranked["key"]), count - 1)
        is_known = rows["key"][at] == ranked["key"]
        scores[at[is_known]] = ranked["score"][is_known]
    return PagePart(rows, some, scores, sites.numbers[np.searchsorted(sites.hosts, rows["host"])])


def _begins(rows: Records) -> Positions:
    """Where the days of each row begin."""
    counts = rows["spans"].astype(np.int64)
    begins: Positions = np.cumsum(counts) - counts
    return begins


def _gathered(
    rows: Positions, begins: Positions, counts: ShortNumbers, days: ShortFloats
) -> ShortFloats:
    """The days of some rows, one after the other."""
    many = counts[rows].astype(np.int64)
    before = np.cumsum(many) - many
    some: ShortFloats = days[np.repeat(begins[rows] - before, many) + np.arange(many.sum())]
    return some


Flags = npt.NDArray[np.bool_]

FILE = pa.schema([
    ("row", pa.int32()), ("uri", pa.uint64()), ("work", pa.int32()), ("last", pa.int64()),
    ("visits", pa.int32()),
])  # fmt: skip
_NAMED = """SELECT s.uri, s.key, p.* EXCLUDE (uri, work) FROM '{file}' p JOIN
    (SELECT uri, key, work, hash(uri) AS number FROM ({spelled})) s
    ON s.number = p.uri AND s.work = p.work"""


class Visits(NamedTuple):
    """The visits of N pages. Their order says nothing: pages that are due at the same time have no
    other. file: their numbers, of FILE. spelled: a query of URIs and keys. ages: days since their
    last visits, float32[N]. scores: float64[N], nan for pages without one. sites: int32[N], numbers
    of registrable domains. gone: bool[N]. spans: between their visits. left_out: captures that are
    no visits, by reason."""

    file: Path
    spelled: str
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
        """What some of them, or all, tell of this number of pages."""
        same, changed = ~self.is_change, self.is_change
        if which is not None:
            same, changed = same & which, changed & which
        quiet: Floats = np.bincount(self.pages[same], self.days[same], pages).astype(np.float64)
        counts = np.bincount(self.pages[changed], minlength=pages)
        offsets = np.zeros(pages + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return Seen(np.zeros(pages), quiet, offsets, self.days[changed].astype(np.float64))

    def of_first(self, pages: int) -> Spans:
        """The columns of the first pages."""
        end = np.searchsorted(self.pages, pages)
        return Spans(self.pages[:end], self.days[:end], self.is_change[:end], self.is_last[:end])


def read_visits(
    db: duckdb.DuckDBPyConnection,
    works: Sequence[Finished],
    ranking: Finished,
    now: datetime,
    folder: Path,
) -> Visits:
    """works: the older first. ranking: whose scores count. now: captures after it are left out.
    folder: for numbers, under a name that SQL takes as it is; empty. Raises BadInput."""
    file, spelled = folder / "page.parquet", numbers.union(works, "spelled", "uri, key")
    with ExitStack() as stack:
        spellings = stack.enter_context(numbers.spellings_of(db, works, folder))
        captures = stack.enter_context(numbers.captures_of(db, works, now.timestamp(), folder))
        pages = stack.enter_context(Partitions(folder, "pages", PAGE))
        days = stack.enter_context(Partitions(folder, "days", np.float32))
        left_out = write_pages(spellings, captures, pages, days)
        nodes = stack.enter_context(numbers.scores_of(db, ranking, folder))
        parts = read_pages(pages, days, nodes, _sites(db, works))
        columns = _columns(parts, now.timestamp(), file)
    made = Visits(file, spelled, *columns, left_out)
    if not len(made.ages):
        reasons = "; ".join(f"{count:,} {LEFT_OUT[name]}" for name, count in left_out.items())
        raise BadInput(
            " and ".join(str(work.work) for work in works),
            "no page was captured" + (f" ({reasons})" if reasons else ""),
            "captures of documents, or of what links lead to",
            "Give a later --from." if LATER in left_out else "Rank a crawl with `crawlrank run`.",
        )
    return made


def named(file: Path, spelled: str) -> str:
    """A query of the columns of a file with those of FILE, and the URI and the key of each page.
    spelled: of Visits."""
    return _NAMED.format(file=file, spelled=spelled)


def _sites(db: duckdb.DuckDBPyConnection, works: Sequence[Finished]) -> Sites:
    hashes, hosts = numbers.hosts_of(db, works)
    names: dict[str, int] = {}
    domains = [names.setdefault(domain_name(host), len(names)) for host in hosts]
    order = np.argsort(hashes)
    return Sites(hashes[order], np.array(domains, np.int32)[order])


def _columns(
    parts: Iterable[PagePart], now: float, file: Path
) -> tuple[ShortFloats, Floats, ShortNumbers, Flags, Spans]:
    """The columns of Visits; the rest of each page goes into the file."""
    columns: list[list[npt.NDArray[Any]]] = [[] for _ in range(6)]
    row = 0
    with pq.ParquetWriter(file, FILE, compression="none", use_dictionary=False) as writer:
        for rows, days, scores, sites in parts:
            table = {name: rows[name] for name in FILE.names[1:]}
            table |= {"row": np.arange(row, row + len(rows), dtype=np.int32)}
            writer.write_table(pa.table(table).select(FILE.names).cast(FILE))
            ages = ((now - rows["last"]) / DAY).astype(np.float32)
            row += len(rows)
            made: list[npt.NDArray[Any]]
            made = [ages, scores, sites, rows["is_gone"] > 0, rows["spans"], days]
            for column, part in zip(columns, made, strict=True):
                column.append(part.copy())
    ages, scores, sites, gone, counts, days = (_joined(column) for column in columns)
    return ages, scores, sites, gone, _spans(counts, days)


def _joined(column: list[npt.NDArray[Any]]) -> Any:
    """The parts of a column as one, in place of them."""
    whole = np.concatenate(column)
    column.clear()
    return whole


def _spans(counts: ShortNumbers, days: ShortFloats) -> Spans:
    """counts: of each page. days: of all, negative where the page changed."""
    pages = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    is_last = np.zeros(len(days), bool)
    is_last[np.cumsum(counts)[counts > 0] - 1] = True
    return Spans(pages, np.abs(days), days < 0, is_last)
