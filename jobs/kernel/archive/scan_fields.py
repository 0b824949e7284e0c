"""One pass over the headers of a response, that of its record and that of HTTP, for the few fields
that are needed; made machine code by jobs/kernel/machine/native.py.

Ordinary headers only: of printable ASCII, a field a line, up to an empty line. All others are left
to record_headers.py, which gives the same for these.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.native import inlined

Bytes = npt.NDArray[np.uint8]
HeaderRows = npt.NDArray[np.int64]
Limits = npt.NDArray[np.int64]

UNDECIDED = -1
COUNTS = 5  # numbers that say how much of the rest there is
WIDTH = 32  # of a row of `names`: the length of a name, and its bytes in lower case
_TAB, _NEWLINE, _RETURN, _SPACE, _SLASH, _ZERO, _NINE, _COLON, _LAST = b"\t\n\r /09:~"
_WARC = (99, 114, 97, 119)  # backwards
_HTTP = (72, 84, 84, 80, 47)

array_at: Any = numba.carray
int64: Any = np.int64  # as in scan_tokens.py


@inlined
def lower(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte


@inlined
def begins_record(data: Bytes, slash: int, begin: int) -> bool:
    """Whether a `/` may be that of `WARC/1.0`: another record may begin in this header."""
    if slash + 1 >= len(data) or slash - begin < 4 or not _ZERO <= data[slash + 1] <= _NINE:
        return False
    same = 0
    while same < 4 and lower(data[slash - 1 - same]) == _WARC[same]:
        same += 1
    return same == 4


@inlined
def line_end(data: Bytes, position: int, begin: int) -> int:
    """The position of the line's end, or UNDECIDED. begin: of the header after its first line."""
    while position < len(data):
        byte = data[position]
        if byte == _NEWLINE:
            return position
        if byte == _RETURN:
            end = position
            while end < len(data) and data[end] == _RETURN:
                end += 1
            if end == len(data) or data[end] != _NEWLINE or end - position > 2:
                return UNDECIDED
            return end
        if not (_SPACE <= byte <= _LAST or byte == _TAB):
            return UNDECIDED
        if byte == _SLASH and begins_record(data, position, begin):
            return UNDECIDED
        position += 1
    return UNDECIDED


@inlined
def number_of(data: Bytes, begin: int, end: int, names: Bytes) -> int:
    """The number of the name between two positions; UNDECIDED if it has none."""
    for number in range(len(names)):
        if names[number, 0] != end - begin:
            continue
        same = 0
        while same < end - begin and lower(data[begin + same]) == names[number, same + 1]:
            same += 1
        if same == end - begin:
            return number
    return UNDECIDED


@inlined
def is_blank(byte: int) -> bool:
    return byte in (_SPACE, _TAB, _RETURN)


@inlined
def field_of(
    data: Bytes, position: int, end: int, names: Bytes, rows: HeaderRows, count: int
) -> int:
    """How many rows there are with the field between two positions, or UNDECIDED."""
    colon = position
    while colon < end and data[colon] != _COLON:
        if is_blank(data[colon]):
            return UNDECIDED
        colon += 1
    if colon == end:
        return UNDECIDED
    number = number_of(data, position, colon, names)
    if number < 0:
        return count
    if count == len(rows):
        return UNDECIDED
    first, last = colon + 1, end
    while first < last and is_blank(data[first]):
        first += 1
    while last > first and is_blank(data[last - 1]):
        last -= 1
    rows[count, 0], rows[count, 1], rows[count, 2] = number, first, last
    return count + 1


@inlined
def fields(data: Bytes, begin: int, names: Bytes, rows: HeaderRows) -> int:
    """The number of rows, or UNDECIDED."""
    end = line_end(data, begin, len(data))  # which may be `WARC/1.0` itself
    if end <= begin or is_blank(data[begin]):
        return UNDECIDED
    rows[0, 0], rows[0, 1] = begin, end
    count, behind_first = int64(1), end + 1
    while True:
        position = end + 1
        end = line_end(data, position, behind_first)
        if end < 0:
            return UNDECIDED
        if end == position or data[position] == _RETURN:
            rows[0, 2] = end + 1
            return count if count > 1 else UNDECIDED
        count = field_of(data, position, end, names, rows, count)
        if count < 0:
            return UNDECIDED


@inlined
def take_slots(rows: HeaderRows, count: int, slots: HeaderRows, first: int) -> bool:
    """Put the values of these rows in slots by the numbers of their names; whether each name is
    there once."""
    for row in range(1, count):
        slot = first + rows[row, 0]
        if slots[slot, 0] >= 0:
            return False
        slots[slot, 0], slots[slot, 1] = rows[row, 1], rows[row, 2]
    return True


@inlined
def response(
    data: Bytes,
    limits: Limits,
    names: Bytes,
    others: Bytes,
    rows: HeaderRows,
    slots: HeaderRows,
) -> int:
    """After the header of a record; its fields are in slots then, and those of the HTTP response
    that begins the block. UNDECIDED if one is not ordinary, or has a field twice."""
    for slot in range(len(slots)):
        slots[slot, 0] = slots[slot, 1] = UNDECIDED
    size = len(data) - 4  # without the empty lines after a record
    count = fields(data[: min(size, limits[0])], int64(0), names, rows)
    if count < 0 or not take_slots(rows, count, slots, int64(2)):
        return UNDECIDED
    block = int(rows[0, 2])
    for i in range(len(_HTTP)):
        if block + i >= size or data[block + i] != _HTTP[i]:
            return UNDECIDED
    count = fields(data[: min(size, block + limits[1])], block, others, rows)
    if count < 0 or not take_slots(rows, count, slots, 2 + len(names)):
        return UNDECIDED
    slots[0, 0], slots[0, 1] = block, rows[0, 2]
    slots[1, 0], slots[1, 1] = rows[0, 0], rows[0, 1]
    return block


def response_at(data: Any, size: int, names: Any, counts: Any, rows: Any, slots: Any) -> int:
    """`response` with addresses for arrays. size: of data. names: of the fields of a record, then
    of HTTP. counts: how many of each, how many rows, and the limits of the two headers in bytes.
    slots: two and one for each name. The first two get the positions after both headers, and begin
    and end of the first line of HTTP's; each other begin and end of the value of a name, or -1."""
    numbers = array_at(counts, COUNTS)
    many, more, most = numbers[0], numbers[1], numbers[2]
    table = array_at(names, (many + more, WIDTH))
    return response(
        array_at(data, size), numbers[3:], table[:many], table[many:],
        array_at(rows, (most, 3)), array_at(slots, (2 + many + more, 2)),
    )  # fmt: skip
