"""The words of the links of a scan, as bytes of the page; made machine code by
jobs/kernel/machine/native.py.

A link ends with its end tag, where the next `a` begins, where a cell or table ends that it is in,
or with the page. So no two links share a byte, and every page takes linear time. A tag or comment
counts as a blank, and so does a control character of ASCII, but for NUL, which is no text. The
commonest references are read here, and the others marked.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.native import inlined
from crawlrank.jobs.kernel.markup import scan_names as names
from crawlrank.jobs.kernel.markup.scan_rows import ScanRows
from crawlrank.jobs.kernel.markup.scan_tokens import (
    AMPERSAND,
    APOSTROPHE,
    BANG,
    KIND,
    LESS,
    LETTER,
    NAME_STOP,
    QUESTION,
    QUOTE,
    SLASH,
    Integers,
    PageBytes,
    attributes_at,
    int64,
    looked_up,
    name_at,
    no_tag_end,
    tag_end,
    text_end,
)

array_at: Any = numba.carray
LineBytes = npt.NDArray[np.uint8]
# Of the numbers: the next row, whether a line has more than SHORT bytes, how many tables are open
# in a link, whether SVG is, and how many lines have words
NEXT, LONG, TABLES, IN_SVG, WORDED = range(5)
NUMBERS = 5
SHORT = 200
LONGEST, ROOM = 2**11, 2**16  # bytes of the words of one link, and of the lines of one call
BLANK, LINE, DELETE, HASH = 32, 10, 127, 35
# In place of an `&` that may begin another reference than these; no byte of a page is written so
REFERENCE = 1
AMP, NBSP = (np.frombuffer(name, np.uint8) for name in (b"amp;", b"nbsp;"))
# What is read of an element: its `alt`, or its contents, which hold no tags
ALT, CONTENTS = 1, 2
_READ = {"img": ALT, "image": ALT} | dict.fromkeys(("plaintext", "textarea", "title", "xmp"), 2)
ELEMENTS = np.array(names.element_table(_READ, tables=False)).reshape(names.SLOTS, 4)
ATTRIBUTES = np.array(names.attribute_table({"alt": 0})).reshape(names.SLOTS, 4)


@inlined
def with_blank(lines: LineBytes, begin: int, end: int) -> int:
    """The end of the line with a blank after its last word."""
    if end > begin and lines[end - 1] != BLANK:
        lines[end] = BLANK
        end += 1
    return end


@inlined
def is_at(page: PageBytes, position: int, name: PageBytes) -> bool:
    """Whether a name is at this position."""
    i = 0
    while i < len(name) and position + i < len(page) and page[position + i] == name[i]:
        i += 1
    return bool(i == len(name))


@inlined
def character_at(page: PageBytes, position: int) -> tuple[int, int]:
    """The byte that is written for this `&`, and where the text goes on: itself where no reference
    begins, what `&amp;` and `&nbsp;` are, else REFERENCE."""
    after = position + 1
    byte = page[after] if after < len(page) else BLANK
    if byte != HASH and not KIND[byte] & LETTER:
        return AMPERSAND, after
    if is_at(page, after, AMP):
        return AMPERSAND, after + len(AMP)
    if is_at(page, after, NBSP):
        return BLANK, after + len(NBSP)
    return REFERENCE, after


@inlined
def with_words(
    page: PageBytes, position: int, last: int, is_text: bool, lines: LineBytes, begin: int, end: int
) -> tuple[int, int]:
    """After this part of the page, and the end of the line with it; the line has LONGEST bytes at
    most. is_text: it ends before a `<` that is not its first byte."""
    first, limit = position, begin + LONGEST
    while position < last and end < limit:
        byte = int64(page[np.uint64(position)])
        if byte == LESS and is_text and position > first:
            break
        position += 1
        if byte == AMPERSAND:
            byte, position = character_at(page, position - 1)
            if byte == REFERENCE:
                lines[np.uint64(end)] = REFERENCE
                end += 1
                continue
        if byte > BLANK and byte != DELETE:
            lines[np.uint64(end)] = byte
            end += 1
        elif byte and end > begin and lines[np.uint64(end - 1)] != BLANK:
            lines[np.uint64(end)] = BLANK
            end += 1
    return position, end


@inlined
def is_markup(page: PageBytes, position: int) -> bool:
    """Whether a tag or comment begins here, not text."""
    size = len(page)
    if position + 1 >= size or page[position] != LESS:
        return False
    byte = page[position + 1]
    if byte == SLASH:
        return position + 2 < size
    return bool(byte in (BANG, QUESTION) or KIND[byte] & LETTER)


@inlined
def ends_link(meaning: int, is_end: bool, numbers: Integers) -> bool:
    """Whether a link ends with this tag. A table that it holds ends without it."""
    if meaning & names.IS_ANCHOR:
        return True
    if meaning & names.IS_TABLE and is_end:
        numbers[TABLES] -= 1
        return bool(numbers[TABLES] < 0)
    return bool(meaning & names.IS_PART and numbers[TABLES] == 0)


@inlined
def after_start(
    page: PageBytes, begin: int, position: int, meaning: int, numbers: Integers, spans: Integers
) -> int:
    """Where to continue after a start tag, and its contents if they hold no tags. begin, position:
    of its name, and after it. spans: the first gets the part of the page that is text."""
    read = meaning & 255
    if read == ALT:
        end = attributes_at(page, position, ATTRIBUTES, spans)
    else:
        end = tag_end(page, position)
    if end == 0:
        spans[0, 0] = -1
        return len(page)
    if meaning & names.IS_TABLE:
        numbers[TABLES] += 1
    elif meaning & names.IS_SVG:
        numbers[IN_SVG] = 1 if end > 0 else 0
    if not meaning & names.HAS_TEXT or (numbers[IN_SVG] and (end < 0 or read == CONTENTS)):
        return abs(end)
    end = abs(end)
    last = text_end(page, end, meaning, begin, position - begin)
    if read == CONTENTS:
        spans[0, 0], spans[0, 1] = end, last
    return last


@inlined
def words_of_link(
    page: PageBytes, position: int, numbers: Integers, spans: Integers, lines: LineBytes, begin: int
) -> int:
    """The end of the line with the words of a link, which begins with its contents, here. page: up
    to the next link."""
    numbers[TABLES] = numbers[IN_SVG] = 0
    end = begin
    while position < len(page) and end - begin < LONGEST:
        if not is_markup(page, position):
            position, end = with_words(page, position, len(page), True, lines, begin, end)
            continue
        end = with_blank(lines, begin, end)
        is_end = page[position + 1] == SLASH
        name = position + 2 if is_end else position + 1
        if not KIND[page[name]] & LETTER:
            position = no_tag_end(page, position)
            continue
        position, first, last = name_at(page, name, NAME_STOP)
        meaning = looked_up(first, last, position - name, ELEMENTS)
        if ends_link(meaning, is_end, numbers):
            break
        if is_end:
            if meaning & names.IS_SVG:
                numbers[IN_SVG] = 0
            position = abs(tag_end(page, position)) or len(page)
            continue
        spans[0, 0] = -1
        position = after_start(page, name, position, meaning, numbers, spans)
        if spans[0, 0] >= 0:
            _, end = with_words(page, spans[0, 0], spans[0, 1], False, lines, begin, end)
            end = with_blank(lines, begin, end)
    return end - 1 if end > begin and lines[end - 1] == BLANK else end


@inlined
def contents_of(page: PageBytes, begin: int, first: int, last: int) -> int:
    """After the start tag of an `a` that begins here, 0 if it does not end. first, last: of a value
    in it, or of a part of one; what is before its last quote is not read again."""
    position = min(begin + 2, len(page))
    if begin < first <= last < len(page) and page[last] in (QUOTE, APOSTROPHE):
        position = last + 1 if page[first - 1] == page[last] else position
    return int(abs(tag_end(page, position)))


@inlined
def words(
    page: PageBytes, rows: ScanRows, numbers: Integers, spans: Integers, lines: LineBytes
) -> int:
    """The number of bytes of the lines that are written, the words of a link each. rows: of start
    tags of `a`, in the order of the page. numbers, spans: room, and the row to begin with;
    `numbers` gets the row to go on with."""
    end = int64(0)
    if numbers[NEXT] == 0:
        numbers[LONG] = numbers[WORDED] = 0
    for row in range(numbers[NEXT], len(rows)):
        numbers[NEXT] = row
        if end + LONGEST + 2 > len(lines):
            return int(end)
        begin, limit = int64(rows[row, 0]), len(page)
        if row + 1 < len(rows) and rows[row + 1, 0] > begin:
            limit = int64(rows[row + 1, 0])
        link = page[:limit]
        position = contents_of(link, begin, int64(rows[row, 3]), int64(rows[row, 4]))
        begin = end
        if position:
            end = words_of_link(link, position, numbers, spans, lines, begin)
        numbers[LONG] |= end - begin > SHORT
        numbers[WORDED] += end > begin
        lines[end] = LINE
        end += 1
    numbers[NEXT] = len(rows)
    return int(end)


def words_at(
    page: Any, size: int, rows: Any, count: int, numbers: Any, spans: Any, lines: Any
) -> int:
    """`words` with addresses for arrays, and the sizes of those that differ."""
    return words(
        array_at(page, size), array_at(rows, (count, 6)), array_at(numbers, NUMBERS),
        array_at(spans, (2, 2)), array_at(lines, ROOM),
    )  # fmt: skip
