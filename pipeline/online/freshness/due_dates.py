"""When each page of a plan is fetched: the days of its first fetches within a horizon.

A page is due when its interval has passed since its last visit. Fetches are one at a time, at the
rate of the budget, in the order in which pages are due, so that no day has more than its share:
what is overdue at the beginning, such as a whole crawl of a month ago, does not come at once.

The loop of due_dates.py, compiled by numba when first used.

Pages wait in three places. Those that were not fetched yet are in the order in which they are due.
Those that are due again are in buckets by time, and those of the bucket that is served now are in a
heap, which is small, so that the processor's cache holds it. What comes to be due after the end
waits nowhere.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import Floats

#: of a page, in one line of the processor's cache. following: the next one in its bucket
WAITING = np.dtype(
    [("interval", "f8"), ("due", "f8"), ("first", "f8"), ("fetches", "i4"), ("following", "i4")]
)
IN_BUCKET, MOST_BUCKETS = 2048, 1 << 14
PageNumbers = npt.NDArray[np.int32]


@loop
def is_before(due: float, page: int, other_due: float, other: int, numbers: PageNumbers) -> bool:
    """Whether a page is fetched before another one: of those due at the same time the lower
    number."""
    return due < other_due or (due == other_due and numbers[page] < numbers[other])


@loop
def push(
    days: Floats, heap: PageNumbers, size: int, due: float, page: int, numbers: PageNumbers
) -> None:
    """Put a page into a heap of this size."""
    at = size
    while at:
        above = (at - 1) // 2
        if not is_before(due, page, days[above], heap[above], numbers):
            break
        days[at], heap[at] = days[above], heap[above]
        at = above
    days[at], heap[at] = due, page


@loop
def pop(days: Floats, heap: PageNumbers, size: int, numbers: PageNumbers) -> None:
    """Take the first page from a heap of this size."""
    size -= 1
    due, page, at = days[size], heap[size], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and is_before(
            days[child + 1], heap[child + 1], days[child], heap[child], numbers
        ):
            child += 1
        if is_before(due, page, days[child], heap[child], numbers):
            break
        days[at], heap[at] = days[child], heap[child]
        at = child
    days[at], heap[at] = due, page


@loop
def bucket_of(due: float, end: float, buckets: int) -> int:
    """The bucket of a day; of those after the end, the last one."""
    return buckets - 1 if due >= end else min(buckets - 1, int(due / end * buckets))


@loop
def fill_heap(pages: Any, page: int, days: Floats, heap: PageNumbers, numbers: PageNumbers) -> int:
    """Put the pages of a bucket into an empty heap; how many they are. page: the first of them."""
    size = 0
    while page >= 0:
        push(days, heap, size, pages[page].due, page, numbers)
        size, page = size + 1, pages[page].following
    return size


@loop
def fetch(entry: Any, now: float, interval: float) -> float:
    """Fetch a page now; the days that it waited."""
    if entry.fetches == 0:
        entry.first = now
    entry.fetches += 1
    was_due: float = entry.due
    entry.due = now + interval
    return now - max(0.0, was_due)


@loop
def serve(pages: Any, numbers: PageNumbers, budget: float, end: float) -> float:
    """Fetch pages in the order in which they are due, `budget` a day at most, until `end` days
    from now. pages: of WAITING, by due; due before the end. numbers: of the pages, int32[K]. Fills
    the day of the first fetch of each page and the number of its fetches. Returns the days that
    pages waited, all together."""
    buckets = min(MOST_BUCKETS, 1 + len(pages) // IN_BUCKET)
    last = np.full(buckets, -1, np.int32)  # page put into each bucket
    # a page is in the heap once at most
    days, heap = np.empty(len(pages)), np.empty(len(pages), np.int32)
    now, waited, size, stream, bucket = 0.0, 0.0, 0, 0, -1
    begin, served = 0.0, 0  # of the fetches without a pause between them: errors do not add up
    while now < end:
        due = pages[stream].due if stream < len(pages) else math.inf
        # a page that was not fetched yet may be before all in later buckets
        while size == 0 and bucket + 1 < buckets and bucket_of(due, end, buckets) > bucket:
            bucket += 1
            size = fill_heap(pages, last[bucket], days, heap, numbers)
        if size and not is_before(due, stream, days[0], heap[0], numbers):
            page = heap[0]
            pop(days, heap, size, numbers)
            size -= 1
        elif stream < len(pages):
            page, stream = stream, stream + 1
        else:
            break
        entry = pages[page]
        if entry.due > now:
            begin, served, now = entry.due, 0, entry.due
        waited += fetch(entry, now, entry.interval)
        served += 1
        now = begin + served / budget
        goal = bucket_of(entry.due, end, buckets)
        if entry.due < end and goal <= bucket:
            push(days, heap, size, entry.due, page, numbers)
            size += 1
        elif entry.due < end:
            entry.following, last[goal] = last[goal], page
    return waited


class DueDates(NamedTuple):
    """When N pages are due. first: days from the beginning until the first fetch, float64[N]; where
    that is after the horizon, until the page is due; infinite for pages that are not fetched.
    fetches: within the horizon, int32[N]. waited: days from due to fetched, the mean of all
    fetches."""

    first: Floats
    fetches: npt.NDArray[np.int32]
    waited: float


def due_dates(rates: Floats, ages: Floats, budget: float, horizon: float) -> DueDates:
    """rates: fetches a day of each page. ages: days since its last visit, of any float type.
    budget: fetches a day. horizon: days."""
    intervals = np.divide(1.0, rates, out=np.full(len(rates), np.inf), where=rates > 0)
    due = intervals - ages
    early = np.flatnonzero(due < horizon).astype(np.int32)
    early = early[np.argsort(due[early], kind="stable")]
    pages = np.zeros(len(early) if budget > 0 else 0, WAITING)
    if len(pages):
        pages["interval"] = intervals[early]
    del intervals  # before the next column is gathered: the columns are many
    if len(pages):
        pages["due"] = due[early]
    first = np.maximum(due, 0.0, out=due)
    waited = serve(pages, early, budget, horizon) if len(pages) else 0.0
    fetches = np.zeros(len(rates), np.int32)
    if len(pages):
        served = pages["fetches"] > 0
        first[early[served]] = pages["first"][served]
        fetches[early] = pages["fetches"]
    late = (fetches == 0) & (first < horizon)
    first[late] = horizon  # the queue is longer than the horizon
    return DueDates(first, fetches, waited / max(1, int(fetches.sum())))
