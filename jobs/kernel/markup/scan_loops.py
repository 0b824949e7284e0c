"""One pass over the bytes of an HTML page, for the attributes of its start tags; made machine code
by jobs/kernel/machine/native.py.

Names are looked up in a table of scan_names.py. What is found is written as rows, see scanner.py,
and the words of links as lines (scan_words.py).
Where the tree that a parser builds could matter to a row, the page is left undecided: the pass ends
and says so.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from crawlrank.jobs.kernel.machine.native import inlined
from crawlrank.jobs.kernel.markup import scan_names as names
from crawlrank.jobs.kernel.markup.scan_names import (
    COUNT,
    DEEPEST,
    FOREIGN,
    HIDDEN_TEXT,
    IN_CELL,
    IN_FORM,
    IN_LINK,
    IN_SELECT,
    NESTED,
    SHOWN_TEXT,
    STATE,
    STYLED,
    TABLES,
    TEXT_ONLY,
    TITLE_BEGIN,
    TITLE_END,
    WORDS,
)
from crawlrank.jobs.kernel.markup.scan_rows import ALT, TEXT, UNDECIDED, ScanRows, add_row, add_rows
from crawlrank.jobs.kernel.markup.scan_tokens import (
    BANG,
    BRACKET,
    KIND,
    LESS,
    LETTER,
    NAME_STOP,
    QUESTION,
    SLASH,
    Integers,
    NameTable,
    PageBytes,
    attributes_at,
    find,
    has_reference,
    int64,
    looked_up,
    name_at,
    no_tag_end,
    tag_end,
    text_end,
)
from crawlrank.jobs.kernel.markup.scan_words import (
    LineBytes,
    close_link,
    open_link,
    part_with_words,
    with_blank,
    with_byte,
    with_words,
    words_at_tag,
)

array_at: Any = numba.carray


@inlined
def key_of(first: int, last: int) -> int:
    return int(np.int64(first ^ (last * np.uint64(names.FACTOR))))


@inlined
def start(
    page: PageBytes, begin: int, position: int, meaning: int, key: int, attributes: NameTable,
    state: Integers, stack: Integers, spans: Integers, rows: ScanRows, lines: LineBytes,
) -> int:  # fmt: skip
    """Where to continue after the start tag at `begin`, or UNDECIDED. position: after its name.
    meaning: of the name."""
    if may_not_start(meaning, state):
        return UNDECIDED
    is_wanted = state[STYLED] or meaning & names.WANTED
    if is_wanted or is_image_in_link(meaning, state):
        for i in range(len(spans)):
            spans[i, 0] = -1
        end = attributes_at(page, position, attributes, spans)
        if end != 0:
            read_alt(page, meaning, state, spans, lines)
        if end != 0 and is_wanted:
            add_tag(page, begin, end, meaning, state, spans, rows, lines)
    else:
        end = tag_end(page, position)
    if end == 0:
        return len(page)
    if state[FOREIGN] or meaning & names.IS_SVG:
        return open_foreign(end, meaning, key, state, stack)
    end = abs(end)
    if meaning & names.KNOWN:
        open_html(meaning, state)
    if not meaning & names.HAS_TEXT:
        return end
    last = text_end(page, end, meaning, begin + 1, position - begin - 1)
    if state[STYLED] and meaning & names.IS_STYLE and has_reference(page, end, last):
        add_row(rows, state, begin, meaning & 255, TEXT, end, last, int64(names.OTHER_FORM))
    if meaning & names.IS_TITLE and state[TITLE_END] == 0:
        state[TITLE_BEGIN], state[TITLE_END] = end, last
    if state[IN_LINK] and meaning & names.IS_SHOWN:
        part_with_words(page, end, last, lines, state)
    return last


@inlined
def add_tag(
    page: PageBytes,
    begin: int,
    end: int,
    meaning: int,
    state: Integers,
    spans: Integers,
    rows: ScanRows,
    lines: LineBytes,
) -> None:
    """Add the rows of a tag, with which a link may begin. In SVG a tag may close itself."""
    count = state[COUNT]
    add_rows(page, begin, meaning, state, spans, rows)
    if state[WORDS] and meaning & names.IS_ANCHOR and state[COUNT] > count:
        open_link(state)
        if end < 0 and state[FOREIGN]:
            close_link(lines, state)


@inlined
def is_image_in_link(meaning: int, state: Integers) -> bool:
    return bool(state[IN_LINK] and meaning & names.HAS_ALT and not state[FOREIGN])


@inlined
def read_alt(
    page: PageBytes, meaning: int, state: Integers, spans: Integers, lines: LineBytes
) -> None:
    """Read the `alt` of an image in a link; no other tag has a row for it."""
    if spans[ALT, 0] >= 0 and is_image_in_link(meaning, state):
        part_with_words(page, spans[ALT, 0], spans[ALT, 1], lines, state)
    spans[ALT, 0] = -1


@inlined
def may_not_start(meaning: int, state: Integers) -> bool:
    """Whether a tree would be needed for a start tag: in SVG most names of HTML end it."""
    if meaning & names.UNDECIDED:
        return True
    if state[FOREIGN]:
        is_link = not meaning & names.WANTED or bool(meaning & names.LINKS_IN_SVG)
        return bool(state[TEXT_ONLY]) or bool(meaning & names.ENDS_SVG) or not is_link
    if meaning & names.IS_IMAGE:
        return bool(meaning & names.WANTED)
    return bool(state[IN_SELECT]) and not meaning & names.OF_SELECT


@inlined
def open_foreign(end: int, meaning: int, key: int, state: Integers, stack: Integers) -> int:
    """Open an element of SVG, unless its tag closes it."""
    if end < 0:
        return -end
    if state[FOREIGN] == DEEPEST:
        return UNDECIDED
    stack[state[FOREIGN]] = key
    state[FOREIGN] += 1
    if meaning & names.TEXT_IN_SVG:
        state[TEXT_ONLY] = HIDDEN_TEXT if meaning & names.IS_HIDDEN else SHOWN_TEXT
    else:
        state[TEXT_ONLY] = 0
    return end


@inlined
def open_html(meaning: int, state: Integers) -> None:
    """Take note of the elements that change what others mean."""
    if meaning & names.IS_SELECT:
        state[IN_SELECT] = 1
    elif meaning & names.IS_FORM:
        state[IN_FORM] = 1
    elif meaning & names.IS_TABLE:
        if state[TABLES] and not state[IN_CELL]:
            state[NESTED] = 1  # this tag may end the table before it
        state[TABLES] += 1
        state[IN_CELL] = 0
    elif meaning & names.IS_PART:
        state[IN_CELL] = 1 if meaning & names.IS_CELL else 0


@inlined
def end_tag(
    page: PageBytes, position: int, meaning: int, key: int, state: Integers, stack: Integers
) -> int:
    """Where to continue after an end tag, or UNDECIDED. position: after its name."""
    end = abs(tag_end(page, position))
    if end == 0:
        return len(page)
    if state[FOREIGN]:
        state[FOREIGN] -= 1
        state[TEXT_ONLY] = 0
        return end if stack[state[FOREIGN]] == key else UNDECIDED
    if state[IN_SELECT]:
        if not meaning & (names.IS_SELECT | names.OF_SELECT):
            return UNDECIDED
        state[IN_SELECT] = 1 if meaning & names.OF_SELECT else 0
    elif meaning & names.IS_FORM:
        state[IN_FORM] = 0
    elif meaning & names.IS_TABLE:
        state[TABLES] = max(0, state[TABLES] - 1)
        state[IN_CELL] = 1
    elif meaning & names.IS_PART:
        state[IN_CELL] = 0
    return end


@inlined
def is_read(state: Integers) -> bool:
    """Whether text here is of a link, and shown."""
    return bool(state[IN_LINK] and state[TEXT_ONLY] != HIDDEN_TEXT)


@inlined
def no_tag(page: PageBytes, position: int, byte: int, state: Integers, lines: LineBytes) -> int:
    """Where to continue after a `<` that begins no tag, or UNDECIDED: in SVG it may be a CDATA
    section. byte: the next one."""
    if byte not in (BANG, QUESTION, SLASH):
        if is_read(state):
            with_byte(LESS, lines, state)
        return position + 1
    if state[FOREIGN] and position + 2 < len(page) and page[position + 2] == BRACKET:
        return UNDECIDED
    if state[IN_LINK]:
        with_blank(lines, state)
    return no_tag_end(page, position)


@inlined
def within(state: Integers) -> int:
    """Not 0 where a tag may matter that does not elsewhere: in a select, in SVG and in a link."""
    return int(state[IN_SELECT] | state[FOREIGN] | state[IN_LINK])


@inlined
def matters_inside(meaning: int, is_end: bool, state: Integers, lines: LineBytes) -> int:
    """Note what a tag in a link means to its line. Not 0 for a tag that matters in a select, in SVG
    or in a link."""
    if state[IN_LINK]:
        words_at_tag(meaning, is_end, state, lines)
    is_image = not is_end and is_image_in_link(meaning, state)
    return int(state[IN_SELECT] | state[FOREIGN] | is_image)


@inlined
def with_text(page: PageBytes, position: int, state: Integers, lines: LineBytes) -> int:
    """After the text up to the next `<`, if it is of a link; it is added to its line."""
    if is_read(state):
        return with_words(page, position, len(page), LESS, lines, state)
    return position


@inlined
def end_of_page(page: PageBytes, position: int, state: Integers, lines: LineBytes) -> int:
    """The number of rows, where no tag is from this position on."""
    if is_read(state):
        for at in range(position, len(page)):
            with_byte(page[at], lines, state)
    if state[IN_LINK]:
        close_link(lines, state)
    return int(state[COUNT])


@inlined
def scan(
    page: PageBytes, elements: NameTable, attributes: NameTable, plan: Integers, state: Integers,
    stack: Integers, spans: Integers, rows: ScanRows, lines: LineBytes,
) -> int:  # fmt: skip
    """The number of rows, or UNDECIDED. elements, attributes: tables; plan: see scan_names.py;
    lines: get the words of links; the others but rows: room for this function."""
    state[:] = 0
    state[STYLED] = styled = plan[names.WITH_STYLE]
    state[WORDS] = plan[names.WITH_WORDS]
    position, size, inside = int64(0), len(page), 0
    while True:
        if inside:
            position = with_text(page, position, state, lines)
        position = find(page, position, LESS)
        if position + 1 >= size or (position + 2 >= size and page[position + 1] == SLASH):
            return end_of_page(page, position, state, lines)
        byte = page[position + 1]
        is_end = byte == SLASH
        begin = position + 2 if is_end else position + 1
        if KIND[page[begin]] & LETTER:
            end, first, last = name_at(page, begin, NAME_STOP)
            meaning, key = looked_up(first, last, end - begin, elements), key_of(first, last)
            matters = meaning & names.END_MATTERS if is_end else meaning & names.MATTERS or styled
            if inside:
                matters |= matters_inside(meaning, is_end, state, lines)
                inside = within(state)
            if not matters:
                position = abs(tag_end(page, end)) or size
                continue
            if is_end:
                position = end_tag(page, end, meaning, key, state, stack)
            else:
                position = start(
                    page, position, end, meaning, key, attributes, state, stack, spans, rows, lines
                )
            inside = within(state)
        else:
            position = no_tag(page, position, byte, state, lines)
        if position < 0 or state[COUNT] < 0:
            return UNDECIDED


def scan_at(
    page: Any, size: int, tables: Any, room: Any, spans: Any, rows: Any, most: int, lines: Any
) -> int:
    """`scan` with addresses for arrays. size: of the page. tables: of elements, then of attributes.
    room: the plan, then room for the state and the stack. most: rows. lines: room for as many bytes
    as the page has, if words are read."""
    both = array_at(tables, (2 * names.SLOTS, 4))
    stack = names.PLAN + STATE
    numbers = array_at(room, stack + DEEPEST)
    return scan(
        array_at(page, size), both[: names.SLOTS], both[names.SLOTS :],
        numbers[: names.PLAN], numbers[names.PLAN : stack], numbers[stack:],
        array_at(spans, (numbers[names.ATTRIBUTES] + 1, 2)), array_at(rows, (most, 6)),
        array_at(lines, size),
    )  # fmt: skip
