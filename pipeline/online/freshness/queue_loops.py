"""The loop of due_dates.py, compiled by numba when first used."""

from __future__ import annotations

from jobs.kernel.machine.machine_code import loop
from jobs.kernel.rank.array_types import Floats, Positions


@loop
def sink(heap: Positions, due: Floats, size: int) -> None:
    """Move the first page of a heap to where it belongs; the earliest due is first, of equal ones
    the first page."""
    at, page = 0, heap[0]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        other = child + 1
        if other < size and (
            due[heap[other]] < due[heap[child]]
            or (due[heap[other]] == due[heap[child]] and heap[other] < heap[child])
        ):
            child = other
        below = heap[child]
        if due[page] < due[below] or (due[page] == due[below] and page < below):
            break
        heap[at] = below
        at = child
    heap[at] = page


@loop
def serve(
    heap: Positions,
    due: Floats,
    intervals: Floats,
    budget: float,
    end: float,
    first: Floats,
    fetches: Positions,
) -> float:
    """Fetch pages in the order in which they are due, `budget` a day at most, until `end` days
    from now. heap: the pages that are due before, ordered by due. Fills the day of the first fetch
    of each page and the number of its fetches; what is due then is in `due`. Returns the days that
    pages waited, all together."""
    now, waited, size = 0.0, 0.0, len(heap)
    begin, served = 0.0, 0  # of the fetches without a pause between them: errors do not add up
    while size:
        page = heap[0]
        if due[page] >= end or now >= end:
            break
        if due[page] > now:
            begin, served, now = due[page], 0, due[page]
        if fetches[page] == 0:
            first[page] = now
        fetches[page] += 1
        waited += now - max(0.0, due[page])
        due[page] = now + intervals[page]
        served += 1
        now = begin + served / budget
        sink(heap, due, size)
    return waited
