"""The loops of visits.py, compiled by numba when first used.

A hash is of a URI or a key. A group is of rows with the same hash, numbered from 0 in the order in
which the first of each comes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import Positions
from crawlrank.pipeline.planning.partitions import Hashes, Records

AS_BEFORE, UNKNOWN = 0, 1  # contents of a visit, beside hashes
NONE = 0  # as the tag of a visit, and as the time of the last change before it
SAME, CHANGED, UNTOLD = 0, 1, 2  # what two visits tell of the page between them
HAS_CAPTURES, IS_LINKED, IS_NAMED_AS_PAGE = 1, 2, 4  # flags of a spelling
NO_STATUS, NOT_MODIFIED = -1, 304
DAY = 86400.0
ShortNumbers = npt.NDArray[np.int32]
ShortFloats = npt.NDArray[np.float32]


@loop
def group_of(value: np.uint64, hashes: Hashes, firsts: ShortNumbers) -> np.int64:
    """Where in a table of first rows that of a hash is, or where it belongs."""
    mask = len(firsts) - 1
    at = np.int64(value & np.uint64(mask))
    while firsts[at] >= 0 and hashes[firsts[at]] != value:
        at = (at + 1) & mask
    return at


@loop
def fill_groups(hashes: Hashes, firsts: ShortNumbers, groups: ShortNumbers) -> int:
    """Fill the group of each row; how many there are. firsts: a table of -1, of a power of 2 that
    is above the number of rows."""
    count = 0
    for row in range(len(hashes)):
        at = group_of(hashes[row], hashes, firsts)
        if firsts[at] < 0:
            firsts[at], groups[row] = row, count
            count += 1
        else:
            groups[row] = groups[firsts[at]]
    return count


@loop
def fill_known_groups(
    known: Hashes, firsts: ShortNumbers, groups: ShortNumbers, hashes: Hashes, of: ShortNumbers
) -> None:
    """Fill the group that each of other hashes has among the known ones; -1 without one."""
    for row in range(len(hashes)):
        first = firsts[group_of(hashes[row], known, firsts)]
        of[row] = groups[first] if first >= 0 else -1


@loop
def merge_spellings(spellings: Records, groups: ShortNumbers, uris: Records) -> None:
    """Fill a row for each URI from those of the crawls, the older first: the key is the newest."""
    for row in range(len(groups)):
        spelling, uri = spellings[row], uris[groups[row]]
        uri.uri, uri.key, uri.host = spelling.uri, spelling.key, spelling.host
        uri.work = spelling.work
        uri.flags |= spelling.flags


@loop
def fill_order(groups: ShortNumbers, ends: Positions, order: ShortNumbers) -> None:
    """The rows by group, in their order; ends: where each group begins, and where it ends after."""
    for row in range(len(groups)):
        if groups[row] >= 0:
            order[ends[groups[row]]] = row
            ends[groups[row]] += 1


@loop
def fill_pages(
    visits: Records,
    order: ShortNumbers,
    ends: Positions,
    uris: Records,
    pages: Records,
    days: ShortFloats,
) -> tuple[int, int]:
    """Fill rows of the URIs that are pages and were visited, and the days between two visits of
    each, which are negative where it changed; how many of both. order: visits by URI, ends: where
    those of each end."""
    count = spans = begin = 0
    for number in range(len(uris)):
        end, before_spans = ends[number], spans
        uri, status, kind = uris[number], NO_STATUS, -1
        for k in range(begin, end):
            visit = visits[order[k]]
            if visit.status not in (NO_STATUS, NOT_MODIFIED):
                status = visit.status
            if visit.kind >= 0:
                kind = visit.kind
        is_page = uri.flags & IS_LINKED or (kind == 1 and uri.flags & IS_NAMED_AS_PAGE)
        if end > begin and is_page:
            spans = fill_spans(visits, order[begin:end], days, spans)
            page = pages[count]
            page.uri, page.key, page.host, page.work = uri.uri, uri.key, uri.host, uri.work
            page.last, page.visits = visits[order[end - 1]].time, end - begin
            page.spans = spans - before_spans
            page.is_good = status == NO_STATUS or 200 <= status <= 299
            page.is_gone = status in (404, 410)
            count += 1
        begin = end
    return count, spans


@loop
def fill_spans(visits: Records, order: ShortNumbers, days: ShortFloats, at: int) -> int:
    """Fill the days between the visits of a URI from a place on; where they end."""
    contents, etag, is_good = np.uint64(UNKNOWN), np.uint64(NONE), True
    last, is_first = np.int64(0), True
    for row in order:
        visit = visits[row]
        if visit.contents == UNKNOWN and visit.etag == NONE and visit.modified == NONE:
            continue
        verdict = UNTOLD if is_first else between(visit, contents, etag, last, is_good)
        has_contents = visit.contents != AS_BEFORE and visit.contents != UNKNOWN
        if verdict == UNTOLD and contents != UNKNOWN and not has_contents:
            continue
        length = (visit.time - last) / DAY
        if verdict != UNTOLD and length > 0:
            days[at] = -length if verdict == CHANGED else length
            at += 1
        if verdict != SAME:
            contents, etag = np.uint64(UNKNOWN), np.uint64(NONE)
            is_good = visit.status in (NO_STATUS, NOT_MODIFIED) or 200 <= visit.status <= 299
        if has_contents:
            contents = visit.contents
        if visit.etag != NONE:
            etag = visit.etag
        last, is_first = visit.time, False
    return at


@loop
def between(visit: Any, contents: np.uint64, etag: np.uint64, last: np.int64, is_good: bool) -> int:
    """What a visit tells of the time since an earlier one. contents, etag, is_good: of that; last:
    its time.

    Contents say most. Equal tags say that the page is the same whatever the contents; others say
    nothing, as the servers of a site may each have their own. The time of the last change counts
    where contents are not known.
    """
    if visit.contents == AS_BEFORE:
        return SAME
    has_both = visit.contents != UNKNOWN and contents != UNKNOWN
    if has_both and visit.contents == contents:
        return SAME
    if visit.etag != NONE and visit.etag == etag:
        return SAME
    if has_both:
        return CHANGED
    if visit.modified != NONE and is_good:
        return CHANGED if visit.modified > last else SAME
    return UNTOLD


@loop
def fill_best(pages: Records, order: Positions, best: ShortNumbers) -> int:
    """Fill the best spelling of each key; how many keys there are. order: rows by key. The best is
    the one whose last visit went well, then that with the most visits, then that visited last."""
    count = 0
    for k in range(len(order)):
        row = order[k]
        if k and pages[row].key == pages[order[k - 1]].key:
            if is_better(pages[row], pages[best[count - 1]]):
                best[count - 1] = row
        else:
            best[count] = row
            count += 1
    return count


@loop
def is_better(page: Any, other: Any) -> bool:
    if page.is_good != other.is_good:
        return bool(page.is_good > other.is_good)
    if page.visits != other.visits:
        return bool(page.visits > other.visits)
    return bool(page.last > other.last)


@loop
def gather(
    rows: Positions, begins: Positions, counts: ShortNumbers, days: ShortFloats, out: ShortFloats
) -> None:
    """The days of some rows, one after the other."""
    at = 0
    for row in rows:
        for k in range(begins[row], begins[row] + counts[row]):
            out[at] = days[k]
            at += 1
