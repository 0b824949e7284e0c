"""Tags, comments and contents without tags in the bytes of an HTML page, as the tokenizer of the
HTML standard reads them; made machine code by jobs/kernel/machine/native.py.

Each function reads the bytes from its position on once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.native import inlined
from crawlrank.jobs.kernel.markup import scan_names as names

PageBytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]
NameTable = npt.NDArray[np.uint64]

# numba compiles a function for each literal that is an argument. None of these is a literal to it,
# and a literal is none in `int64`.
int64: Any = np.int64
LESS, MORE, SLASH, EQUALS, QUOTE, APOSTROPHE = np.array([60, 62, 47, 61, 34, 39])
DASH, BANG, QUESTION, BRACKET, OPENING, AT, AMPERSAND = np.array([45, 33, 63, 91, 40, 64, 38])
# what a byte can be: a letter, a blank, and what ends names and values without quotes
LETTER, SPACE, NAME_STOP, ATTRIBUTE_STOP, VALUE_STOP = np.array([1, 2, 4, 8, 16])
KIND, LOWER = np.zeros(256, np.uint8), np.arange(256, dtype=np.uint64)
for _byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZ":
    LOWER[_byte] = _byte + 32
    KIND[[_byte, _byte + 32]] = LETTER
KIND[[9, 10, 12, 13, 32]] = SPACE | NAME_STOP | ATTRIBUTE_STOP | VALUE_STOP
KIND[MORE] = NAME_STOP | ATTRIBUTE_STOP | VALUE_STOP
KIND[SLASH] = NAME_STOP | ATTRIBUTE_STOP
KIND[EQUALS] = ATTRIBUTE_STOP


@inlined
def find(page: PageBytes, position: int, byte: int) -> int:
    """The position of the next such byte, or the length of the page."""
    while position < len(page) and page[position] != byte:
        position += 1
    return position


@inlined
def name_at(page: PageBytes, position: int, stop: int) -> tuple[int, int, int]:
    """The end of the name that begins here, its first 8 and its last 8 bytes in lower case. stop:
    the kind of bytes that end it."""
    begin = position
    first = last = LOWER[page[position]]
    position += 1
    while position < len(page):
        byte = page[position]
        if KIND[byte] & stop:
            break
        last = (last << np.uint64(8)) | LOWER[byte]
        position += 1
        if position - begin <= 8:
            first = last
    return position, first, last


@inlined
def looked_up(first: int, last: int, size: int, table: NameTable) -> int:
    """The meaning of a name of this length, 0 for one that has none."""
    slot = np.int64((last * np.uint64(names.FACTOR)) >> np.uint64(64 - names.BITS))
    while table[slot, 3]:
        if table[slot, 1] == last and table[slot, 0] == first and table[slot, 2] == np.uint64(size):
            return int(np.int64(table[slot, 3]))
        slot = (slot + 1) % names.SLOTS
    return 0


@inlined
def value_at(page: PageBytes, position: int) -> tuple[int, int, int]:
    """Begin and end of the value that follows `=` here, without quotes, and the position after it:
    the length of the page if the value does not end."""
    size = len(page)
    while position < size and KIND[page[position]] & SPACE:
        position += 1
    if position == size:
        return size, size, size
    byte = page[position]
    if byte in (QUOTE, APOSTROPHE):
        end = find(page, position + 1, byte)
        return position + 1, end, min(end + 1, size)
    end = position
    while end < size and not KIND[page[end]] & VALUE_STOP:
        end += 1
    return position, end, end


@inlined
def attributes_at(page: PageBytes, position: int, table: NameTable, spans: Integers) -> int:
    """The position after the tag whose attributes begin here, negative if the tag closes itself;
    0 if it does not end. spans: gets begin and end of the first value of each attribute of the
    table; others stay as they are. The last row is for all others."""
    size, slash, other = len(page), -2, len(spans) - 1
    while position < size:
        byte = page[position]
        if byte == MORE:
            return -(position + 1) if slash == position - 1 else position + 1
        if byte == SLASH or KIND[byte] & SPACE:
            slash = position if byte == SLASH else slash
            position += 1
            continue
        begin = position
        position, first, last = name_at(page, begin, ATTRIBUTE_STOP)
        which = looked_up(first, last, position - begin, table) - 1
        if which < 0 or spans[which, 0] >= 0:
            which = other
        spans[which, 0] = spans[which, 1] = position
        while position < size and KIND[page[position]] & SPACE:
            position += 1
        if position < size and page[position] == EQUALS:
            begin, end, position = value_at(page, position + 1)
            spans[which, 0], spans[which, 1] = begin, end
    return 0


@inlined
def tag_end(page: PageBytes, position: int) -> int:
    """The position after the tag whose attributes begin here, negative if it closes itself; 0 if
    it does not end. It does what `attributes_at` does, for tags whose attributes do not matter."""
    size, slash = len(page), -2
    while position < size:
        byte = page[position]
        if byte == MORE:
            return -(position + 1) if slash == position - 1 else position + 1
        if KIND[byte] & NAME_STOP:
            slash = position if byte == SLASH else slash
            position += 1
            continue
        position += 1
        while position < size and not KIND[page[position]] & ATTRIBUTE_STOP:
            position += 1
        while position < size and KIND[page[position]] & SPACE:
            position += 1
        if position < size and page[position] == EQUALS:
            _, _, position = value_at(page, position + 1)
    return 0


@inlined
def no_tag_end(page: PageBytes, position: int) -> int:
    """The end of the comment, or of what counts as one, that begins at this `<`."""
    size, at = len(page), position + 2
    if not (
        position + 3 < size and page[position + 1] == BANG and page[at] == DASH == page[at + 1]
    ):
        return min(find(page, at, MORE) + 1, size)
    at += 2
    if at < size and page[at] == MORE:
        return at + 1
    if at + 1 < size and page[at] == DASH and page[at + 1] == MORE:
        return at + 2
    while True:
        at = find(page, at, DASH)
        if at + 2 >= size:
            return size
        if page[at + 1] == DASH:
            if page[at + 2] == MORE:
                return at + 3
            if page[at + 2] == BANG and at + 3 < size and page[at + 3] == MORE:
                return at + 4
        at += 1


@inlined
def is_named(page: PageBytes, position: int, begin: int, size: int) -> bool:
    """Whether the name of a tag is here that has these `size` bytes elsewhere, in any case."""
    if position + size >= len(page):
        return False
    for i in range(size):
        if LOWER[page[position + i]] != LOWER[page[begin + i]]:
            return False
    return bool(KIND[page[position + size]] & NAME_STOP)


@inlined
def raw_end(page: PageBytes, position: int, begin: int, size: int) -> int:
    """Where the end tag begins of an element whose contents hold no tags. begin, size: its name."""
    while True:
        position = find(page, position, LESS)
        if position + 1 >= len(page):
            return len(page)
        if page[position + 1] == SLASH and is_named(page, position + 2, begin, size):
            return position
        position += 1


@inlined
def script_end(page: PageBytes, position: int, begin: int, size: int) -> int:
    """The end of a script's contents: after `<!--` and `<script`, the next `</script>` does not end
    it, unless `-->` comes first."""
    escaped, twice, end = False, False, len(page)
    while position + 2 < end:
        byte = page[position]
        if byte == LESS:
            if page[position + 1] == SLASH:
                if is_named(page, position + 2, begin, size):
                    if not twice:
                        return position
                    twice = False
            elif page[position + 1] == BANG:
                if page[position + 2] == DASH and position + 3 < end and page[position + 3] == DASH:
                    escaped = True
                    position += 1  # `<!-->` is an end, too
            elif escaped and is_named(page, position + 1, begin, size):
                twice = True
        elif byte == DASH and page[position + 1] == DASH and page[position + 2] == MORE:
            escaped = twice = False
        position += 1
    return end


@inlined
def text_end(page: PageBytes, position: int, meaning: int, begin: int, size: int) -> int:
    """After the contents of an element that hold no tags."""
    if meaning & names.IS_PLAINTEXT:
        return len(page)
    if meaning & names.IS_SCRIPT:
        return script_end(page, position, begin, size)
    return raw_end(page, position, begin, size)


@inlined
def has_reference(page: PageBytes, begin: int, end: int) -> bool:
    """Whether a text may be a style sheet with links."""
    for position in range(begin, end):
        byte = page[position]
        if byte in (OPENING, AT, AMPERSAND):
            return True
    return False
