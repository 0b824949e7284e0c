"""The words of links, as bytes of the page, read while it is scanned; made machine code by
jobs/kernel/machine/native.py.

Each `a` with a row of the scan has a line. The link ends with its end tag, where the next `a`
begins, where a cell or table ends that it is in, or with the page. A tag or comment counts as a
blank, and so does a control character of ASCII, but for NUL, which is no text. The commonest
references are read here, and the others marked.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.native import inlined
from crawlrank.jobs.kernel.markup import scan_names as names
from crawlrank.jobs.kernel.markup.scan_names import (
    END,
    IN_LINK,
    LINE,
    TABLES_IN_LINK,
    WORDED,
)
from crawlrank.jobs.kernel.markup.scan_tokens import (
    AMPERSAND,
    KIND,
    LETTER,
    Integers,
    PageBytes,
    int64,
)

LineBytes = npt.NDArray[np.uint8]
LONGEST, SHORT = 2**11, 200  # bytes of a line that are read, and above which it is marked
BLANK, LINE_FEED, DELETE, HASH = 32, 10, 127, 35
NONE = int64(-1)  # no byte
# In place of an `&` that may begin another reference than these, and at the end of a line that may
# be too long; no byte of a page is written so
REFERENCE = 1
AMP, NBSP = (np.frombuffer(name, np.uint8) for name in (b"amp;", b"nbsp;"))


@inlined
def open_link(state: Integers) -> None:
    """Begin the line of a link."""
    state[IN_LINK], state[TABLES_IN_LINK], state[LINE] = 1, 0, state[END]


@inlined
def close_link(lines: LineBytes, state: Integers) -> None:
    """End the line of the link."""
    begin, end = state[LINE], state[END]
    if end > begin and lines[end - 1] == BLANK:
        end -= 1
    state[WORDED] += end > begin
    if end - begin > SHORT:
        lines[end] = REFERENCE
        end += 1
    lines[end] = LINE_FEED
    state[IN_LINK], state[END] = 0, end + 1


@inlined
def with_blank(lines: LineBytes, state: Integers) -> None:
    """Add a blank after the last word of the line."""
    end = state[END]
    if end > state[LINE] and lines[end - 1] != BLANK:
        lines[end] = BLANK
        state[END] = end + 1


@inlined
def with_byte(byte: int, lines: LineBytes, state: Integers) -> None:
    """Add a byte of a word."""
    end = state[END]
    if end < state[LINE] + LONGEST:
        lines[end] = byte
        state[END] = end + 1


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
    page: PageBytes, position: int, last: int, stop: int, lines: LineBytes, state: Integers
) -> int:
    """After this part of the page, which is added to the line. stop: it ends before this byte."""
    begin, end = int64(state[LINE]), int64(state[END])
    limit = begin + LONGEST
    while position < last and end < limit:
        byte = int64(page[np.uint64(position)])
        if byte == stop:
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
    state[END] = end
    return position


@inlined
def ends_link(meaning: int, is_end: bool, state: Integers) -> bool:
    """Whether a link ends with this tag. A table that it holds ends without it."""
    if meaning & names.IS_ANCHOR:
        return True
    if meaning & names.IS_TABLE and is_end:
        state[TABLES_IN_LINK] -= 1
        return bool(state[TABLES_IN_LINK] < 0)
    return bool(meaning & names.IS_PART and state[TABLES_IN_LINK] == 0)


@inlined
def words_at_tag(meaning: int, is_end: bool, state: Integers, lines: LineBytes) -> None:
    """What a tag in a link means to its line."""
    if ends_link(meaning, is_end, state):
        close_link(lines, state)
        return
    with_blank(lines, state)
    if meaning & names.IS_TABLE and not is_end:
        state[TABLES_IN_LINK] += 1


@inlined
def part_with_words(
    page: PageBytes, first: int, last: int, lines: LineBytes, state: Integers
) -> None:
    """Add a part of the page that is text, whatever is in it, and words of its own."""
    with_words(page, first, last, NONE, lines, state)
    with_blank(lines, state)
