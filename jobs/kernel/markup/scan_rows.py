"""The rows of a scan: an attribute that is read of a start tag, each; made machine code by
jobs/kernel/machine/native.py.

A row is the position of the tag, the number of its element (PLAIN for an `a` of which nothing but
`href` matters, OTHER for one that is not among those wanted; FOREIGN_ROW is added in SVG), the
number of the attribute, where its value begins and ends, and of an `a` with PLAIN the form of the
reference, of which the value is a part then. The form says which references a target can be made
of by putting something before them. These are the references that jobs/kernel/links/joining.py
joins as text, but for those with `&`, with more than three `../`, and addresses without a path.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.native import inlined
from crawlrank.jobs.kernel.markup import scan_names as names
from crawlrank.jobs.kernel.markup.scan_names import (
    ABSOLUTE,
    BASES,
    BODIES,
    COUNT,
    FOREIGN,
    IN_FORM,
    MOST_UP,
    NESTED,
    OTHER_FORM,
    PAGE,
    RELATIVE,
    ROOTED,
    TABLES,
    TAGS,
    UP,
)
from crawlrank.jobs.kernel.markup.scan_tokens import (
    LOWER,
    Integers,
    PageBytes,
    has_reference,
    int64,
)

LONGEST = 256  # bytes
IN_HOST, IN_PATH, IN_QUERY = 1, 2, 4
_SLASH, _COLON, _DOT, _DASH, _HASH, _ASK, _PERCENT, _TWO, _P, _S = b"/:.-#?%2ps"
_HTTP = (104, 116, 116, 112)
PARTS = np.zeros(256, np.uint8)  # what a byte may be in
for _byte in b"abcdefghijklmnopqrstuvwxyz0123456789":
    PARTS[_byte] = IN_HOST | IN_PATH | IN_QUERY
for _byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_~!$()*+,;=@.%-/":
    PARTS[_byte] = IN_PATH | IN_QUERY
for _byte in b":?":
    PARTS[_byte] = IN_QUERY
PARTS[ord("'")] = IN_PATH  # browsers escape it in queries


@inlined
def reference_form(page: PageBytes, first: int, last: int) -> tuple[int, int, int]:
    """The form of the reference between two positions, and where the part of it begins and ends
    that is put after what the form says."""
    if first == last or last - first > LONGEST:
        return OTHER_FORM, first, last
    form, begin, end = form_of(page, first, last)
    for behind in range(end, last):
        if page[end] != _HASH or page[behind] > 127 or page[behind] == 38:
            return OTHER_FORM, first, last
    if form == OTHER_FORM:
        return OTHER_FORM, first, last
    return form, begin, end


@inlined
def form_of(page: PageBytes, first: int, last: int) -> tuple[int, int, int]:
    """The form as of `reference_form`, whatever follows."""
    if page[first] == _HASH:
        return PAGE, first, first
    form, position, begin = RELATIVE, first, first
    if page[first] == _DOT:
        while begin - first < 3 * MOST_UP and is_up(page, begin, last):
            form, begin = (UP if form == RELATIVE else form + 1), begin + 3
        position = begin
        if begin < last and page[begin] == _SLASH:
            return OTHER_FORM, first, last
    elif page[first] == _SLASH:
        form = ROOTED
        if first + 1 < last and page[first + 1] == _SLASH:
            return OTHER_FORM, first, last
    elif page[first] == _HTTP[0] and first + 8 < last and scheme_end(page, first):
        form, position = ABSOLUTE, host_end(page, scheme_end(page, first), last)
    end = path_end(page, position, last)
    if end == position:
        return OTHER_FORM, first, last
    if end < last and page[end] == _ASK:
        while end < last and PARTS[page[end]] & IN_QUERY:
            end += 1
    return form, begin, end


@inlined
def is_up(page: PageBytes, begin: int, last: int) -> bool:
    """Whether `../` begins here."""
    if begin + 3 > last:
        return False
    return bool(page[begin] == _DOT == page[begin + 1] and page[begin + 2] == _SLASH)


@inlined
def scheme_end(page: PageBytes, first: int) -> int:
    """After `http://` or `https://`, 0 if neither begins here."""
    for i in range(1, 4):
        if page[first + i] != _HTTP[i]:
            return 0
    colon = first + 5 if page[first + 4] == _S else first + 4
    is_whole = page[colon] == _COLON and page[colon + 1] == _SLASH == page[colon + 2]
    return colon + 3 if is_whole else 0


@inlined
def host_end(page: PageBytes, begin: int, last: int) -> int:
    """Where the path begins, if a host is before it that stays as it is: labels of letters, digits
    and single hyphens in lower case, the last of letters; `last` if not."""
    label, dots, position = begin, 0, begin
    while position < last and page[position] != _SLASH:
        byte = page[position]
        if byte in (_DOT, _DASH):
            if position == label or not PARTS[page[position - 1]] & IN_HOST:
                return last
            if byte == _DOT:
                label, dots = position + 1, dots + 1
        elif not PARTS[byte] & IN_HOST:
            return last
        position += 1
    for i in range(label, position):
        if page[i] < 97:
            return last
    return position if dots and label < position else last


@inlined
def path_end(page: PageBytes, begin: int, last: int) -> int:
    """After a path that stays as it is; `begin` if it would not, as names of one or two dots."""
    position = begin
    while position < last and PARTS[page[position]] & IN_PATH:
        byte = page[position]
        is_first = position == begin or page[position - 1] == _SLASH
        if byte == _DOT and is_first and is_dots(page, position, last):
            return begin
        if byte == _PERCENT and position + 1 < last and page[position + 1] == _TWO:
            return begin
        position += 1
    return position


@inlined
def is_dots(page: PageBytes, position: int, last: int) -> bool:
    """Whether the name that begins with a dot here has no other character, or one more."""
    end = position + 1
    if end < last and page[end] == _DOT:
        end += 1
    return bool(end == last or not PARTS[page[end]] & IN_PATH or page[end] == _SLASH)


@inlined
def may_ask_nofollow(page: PageBytes, first: int, last: int) -> bool:
    """Whether a `rel` may have one of the words that ask not to count a link."""
    for position in range(first, last):
        byte = LOWER[page[position]]
        if byte == 38 or page[position] > 127:
            return True
        if position + 3 <= last and (is_word(page, position, last)):
            return True
    return False


@inlined
def is_word(page: PageBytes, position: int, last: int) -> bool:
    """Whether `nofo`, `spon` or `ugc` begins here."""
    first, second, third = (
        LOWER[page[position]],
        LOWER[page[position + 1]],
        LOWER[page[position + 2]],
    )
    if first == 110:
        return bool(second == 111 and third == 102)
    if first == 115:
        return bool(second == 112 and third == 111)
    return bool(first == 117 and second == 103 and third == 99)


@inlined
def may_be_robots_or_refresh(page: PageBytes, first: int, last: int) -> bool:
    """Whether a name of a `meta` may be one of these two."""
    if first < 0 or first == last:
        return False
    byte = LOWER[page[first]]
    return bool(byte < 97 or byte > 122 or byte == 114)


ScanRows = npt.NDArray[np.int32]

UNDECIDED = -1
# numbers of attributes, and of elements in rows
HREF, REL, XLINK, STYLE, TEXT, HTTP_EQUIV, NAME, ALT = np.array(range(8))
PLAIN, OTHER, FOREIGN_ROW = np.array([0, 255, 256])


@inlined
def add_rows(
    page: PageBytes, begin: int, meaning: int, state: Integers, spans: Integers, rows: ScanRows
) -> None:
    """Append a row for each attribute of a tag that is read."""
    if spans[STYLE, 0] >= 0 and not has_reference(page, spans[STYLE, 0], spans[STYLE, 1]):
        spans[STYLE, 0] = -1
    filled = 0
    for which in range(len(spans) - 1):
        filled += spans[which, 0] >= 0
    if filled == 0:
        return
    if not is_decided(meaning, state, spans):
        state[COUNT] = UNDECIDED
    elif is_ignored(page, meaning, state, spans):
        return
    elif meaning & names.IS_ANCHOR and is_plain(page, spans):
        form, first, last = reference_form(page, spans[HREF, 0], spans[HREF, 1])
        add_row(rows, state, begin, PLAIN, HREF, first, last, form)
    else:
        element = meaning & 255 if meaning & names.WANTED else OTHER
        element |= FOREIGN_ROW if state[FOREIGN] else 0
        for which in range(len(spans) - 1):
            if spans[which, 0] >= 0:
                first, last = spans[which, 0], spans[which, 1]
                add_row(rows, state, begin, element, which, first, last, int64(OTHER_FORM))


@inlined
def is_only_named(spans: Integers) -> bool:
    """Whether nothing can be a link among the attributes of an `a`."""
    for which in range(len(spans) - 1):
        if which != REL and which != HTTP_EQUIV and which != NAME and spans[which, 0] >= 0:
            return False
    return True


@inlined
def is_plain(page: PageBytes, spans: Integers) -> bool:
    """Whether nothing but `href` matters of an `a`."""
    if spans[HREF, 0] < 0 or spans[XLINK, 0] >= 0 or spans[STYLE, 0] >= 0:
        return False
    return spans[REL, 0] < 0 or not may_ask_nofollow(page, spans[REL, 0], spans[REL, 1])


@inlined
def add_row(
    rows: ScanRows,
    state: Integers,
    begin: int,
    element: int,
    attribute: int,
    first: int,
    last: int,
    form: int,
) -> None:
    """Add a row; where there are too many, the page is left undecided."""
    count = state[COUNT]
    if 0 <= count < len(rows):
        rows[count, 0], rows[count, 1], rows[count, 2] = begin, element, attribute
        rows[count, 3], rows[count, 4], rows[count, 5] = first, last, form
        state[COUNT] += 1
        state[TAGS] += element != PLAIN
    else:
        state[COUNT] = UNDECIDED


@inlined
def is_decided(meaning: int, state: Integers, spans: Integers) -> bool:
    """Whether it is known without a tree which element has the attributes of a tag."""
    if meaning & names.IS_BASE and spans[HREF, 0] >= 0:
        state[BASES] += 1
        return bool(state[BASES] == 1)
    if meaning & names.IS_BODY:
        state[BODIES] += 1
        return bool(state[BODIES] == 1)
    return not (meaning & names.IS_PART and state[TABLES] and state[NESTED])


@inlined
def is_ignored(page: PageBytes, meaning: int, state: Integers, spans: Integers) -> bool:
    """Whether a parser makes no element of a tag, or one that says nothing about links."""
    if meaning & names.IS_META and spans[STYLE, 0] < 0:
        equivalent = may_be_robots_or_refresh(page, spans[HTTP_EQUIV, 0], spans[HTTP_EQUIV, 1])
        return not (equivalent or may_be_robots_or_refresh(page, spans[NAME, 0], spans[NAME, 1]))
    if meaning & names.IS_FORM:
        return bool(state[IN_FORM])
    if meaning & names.IS_ANCHOR and is_only_named(spans):
        return True
    if meaning & names.IS_PART:
        return bool(state[TABLES] == 0)
    return bool(meaning & names.IS_NOTHING)
