"""Pages of a plan with what was seen of them, from numbers of captures and spellings on disk.

First captures meet the spellings of their URIs, a part of all URIs at a time. Then the spellings of
each key meet each other and the score of the key, a part of all keys at a time.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from crawlrank.jobs.kernel.rank.array_types import Floats, Positions
from crawlrank.pipeline.data.pairs import in_order
from crawlrank.pipeline.planning import visit_loops as loops
from crawlrank.pipeline.planning.partitions import PARTS, Hashes, Partitions, Records, by_part
from crawlrank.pipeline.planning.visit_loops import ShortFloats, ShortNumbers
from crawlrank.pipeline.planning.visit_numbers import REASONS, SPELLING

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
    behind the other; negative where it changed. scores: float64[n], nan for pages without one.
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
    """From spellings and captures by URI to pages by key; what captures are no visits, by
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
    hashes = np.ascontiguousarray(spelled["uri"])
    firsts = np.full(1 << max(1, 2 * len(spelled) - 1).bit_length(), -1, np.int32)
    groups, of = np.empty(len(spelled), np.int32), np.empty(len(visits), np.int32)
    uris = np.zeros(loops.fill_groups(hashes, firsts, groups), SPELLING)
    loops.merge_spellings(spelled, groups, uris)
    loops.fill_known_groups(hashes, firsts, groups, np.ascontiguousarray(visits["uri"]), of)
    captured = np.append(uris["flags"] & loops.HAS_CAPTURES > 0, False)
    of[~captured[of]] = -1
    left_out = Counter({WITHOUT_KEY: int(np.count_nonzero(of < 0))})
    counts = np.bincount(visits["reason"][of >= 0], minlength=len(REASONS) + 1)[1:]
    left_out += Counter(dict(zip(REASONS, counts.tolist(), strict=True)))
    of[visits["reason"] > 0] = -1
    return _UriPart(*_pages_of(uris, visits, of), left_out)


def _pages_of(uris: Records, visits: Records, of: ShortNumbers) -> tuple[Records, ShortFloats]:
    """of: the URI of each visit, int32; -1 for those that do not count."""
    chosen = np.flatnonzero(of >= 0)
    chosen = chosen[np.argsort(visits["time"][chosen], kind="stable")]
    visits, of = visits[chosen], of[chosen]
    counts = np.bincount(of, minlength=len(uris))
    ends, order = np.cumsum(counts) - counts, np.empty(len(of), np.int32)
    loops.fill_order(of, ends, order)
    # a page is a URI, and each span ends at a visit of its own
    rows, days = np.zeros(len(uris), PAGE), np.empty(len(of), np.float32)
    pages, spans = loops.fill_pages(visits, order, ends, uris, rows, days)
    return rows[:pages], days[:spans]


def _page_part(
    pages: Partitions, days: Partitions, nodes: Partitions, sites: Sites, part: int
) -> PagePart:
    rows, of_rows, ranked = pages.take(part), days.take(part), nodes.take(part)
    best = np.empty(len(rows), np.int32)  # there are no more keys than rows
    count = loops.fill_best(rows, np.argsort(rows["key"], kind="stable"), best)
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
    """The days of some rows, one behind the other."""
    some = np.empty(int(counts[rows].sum()), np.float32)
    loops.gather(rows, begins, np.ascontiguousarray(counts), days, some)
    return some
