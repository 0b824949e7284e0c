"""The targets of the plain rows of a scan: what is put before each reference, and the reference;
made machine code by jobs/kernel/machine/native.py."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.native import inlined
from crawlrank.jobs.kernel.markup.scan_names import OTHER_FORM, PAGE
from crawlrank.jobs.kernel.markup.scan_rows import ScanRows
from crawlrank.jobs.kernel.markup.scan_tokens import Integers, PageBytes, int64

array_at: Any = numba.carray
# Of the numbers: the next row, how many rows are left to joining.py, then three for each of these
NEXT, OTHERS, LEFT = range(3)
MOST_LEFT, ROOM = 2**10, 2**16  # rows and bytes of lines of one call
LINE = 10  # ends each target


@inlined
def copied(
    text: PageBytes, first: int, last: int, lines: npt.NDArray[np.uint8], position: int
) -> int:
    """After the copy of a part of a text."""
    for i in range(last - first):
        lines[position + i] = text[first + i]
    return position + last - first


@inlined
def targets(
    page: PageBytes,
    rows: ScanRows,
    before: PageBytes,
    ends: Integers,
    uri: PageBytes,
    numbers: Integers,
    lines: npt.NDArray[np.uint8],
) -> int:
    """The number of bytes of the lines that are written, a target each. before: what is put before
    each form, `ends` where it ends. uri: of the page. A line of another form is empty; where it is
    among the lines, and where its reference begins and ends, is written to `numbers`. A row fits
    into empty lines: references with a form, directories and URIs are bounded."""
    position, begin, left = int64(0), numbers[NEXT], int64(LEFT)
    numbers[OTHERS] = 0
    for row in range(begin, len(rows)):
        numbers[NEXT] = row
        form, first, last = rows[row, 5], int64(rows[row, 3]), int64(rows[row, 4])
        # a row of another form writes the end of its line only
        start, stop, size = int64(0), int64(0), 0
        if form == PAGE:
            size = len(uri)
        elif form != OTHER_FORM:
            start, stop = ends[form - 1], ends[form]
            size = stop - start + last - first
        if position + size >= len(lines) or left == len(numbers):
            return int(position)
        if form == OTHER_FORM:
            numbers[left], numbers[left + 1], numbers[left + 2] = row - begin, first, last
            numbers[OTHERS], left = numbers[OTHERS] + 1, left + 3
        elif form == PAGE:
            position = copied(uri, int64(0), len(uri), lines, position)
        else:
            position = copied(before, start, stop, lines, position)
            position = copied(page, first, last, lines, position)
        lines[position] = LINE
        position += 1
    numbers[NEXT] = len(rows)
    return int(position)


def targets_at(
    page: Any, size: int, rows: Any, count: int, before: Any, ends: Any, uri: Any, uri_size: int,
    numbers: Any, lines: Any,
) -> int:  # fmt: skip
    """`targets` with addresses for arrays, and the sizes of those that differ."""
    ends_of = array_at(ends, (PAGE,))
    return targets(
        array_at(page, size), array_at(rows, (count, 6)), array_at(before, ends_of[PAGE - 1]),
        ends_of, array_at(uri, uri_size), array_at(numbers, LEFT + 3 * MOST_LEFT),
        array_at(lines, ROOM),
    )  # fmt: skip
