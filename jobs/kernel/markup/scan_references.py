"""The form of a reference as it is written in a page: which ones a target can be made of by putting
something before them; made machine code by jobs/kernel/machine/native.py.

These are the references that jobs/kernel/links/joining.py joins as text, but for those with `&`,
with more than three `../`, and addresses without a path.
"""

from __future__ import annotations

import numpy as np

from crawlrank.jobs.kernel.machine.native import part
from crawlrank.jobs.kernel.markup.scan_names import (
    ABSOLUTE,
    MOST_UP,
    OTHER_FORM,
    PAGE,
    RELATIVE,
    ROOTED,
    UP,
)
from crawlrank.jobs.kernel.markup.scan_tokens import LOWER, PageBytes

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


@part
def reference_form(page: PageBytes, first: int, last: int) -> tuple[int, int, int]:
    """The form of the reference between two positions, and where the part of it begins and ends
    that is put behind what the form says."""
    if first == last or last - first > LONGEST:
        return OTHER_FORM, first, last
    form, begin, end = form_of(page, first, last)
    for behind in range(end, last):
        if page[end] != _HASH or page[behind] > 127 or page[behind] == 38:
            return OTHER_FORM, first, last
    if form == OTHER_FORM:
        return OTHER_FORM, first, last
    return form, begin, end


@part
def form_of(page: PageBytes, first: int, last: int) -> tuple[int, int, int]:
    """As `reference_form`, whatever follows."""
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


@part
def is_up(page: PageBytes, begin: int, last: int) -> bool:
    """Whether `../` begins here."""
    if begin + 3 > last:
        return False
    return bool(page[begin] == _DOT == page[begin + 1] and page[begin + 2] == _SLASH)


@part
def scheme_end(page: PageBytes, first: int) -> int:
    """Behind `http://` or `https://`, 0 if neither begins here."""
    for i in range(1, 4):
        if page[first + i] != _HTTP[i]:
            return 0
    colon = first + 5 if page[first + 4] == _S else first + 4
    is_whole = page[colon] == _COLON and page[colon + 1] == _SLASH == page[colon + 2]
    return colon + 3 if is_whole else 0


@part
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


@part
def path_end(page: PageBytes, begin: int, last: int) -> int:
    """Behind a path that stays as it is; `begin` if it would not, as names of one or two dots."""
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


@part
def is_dots(page: PageBytes, position: int, last: int) -> bool:
    """Whether the name that begins with a dot here has no other character, or one more."""
    end = position + 1
    if end < last and page[end] == _DOT:
        end += 1
    return bool(end == last or not PARTS[page[end]] & IN_PATH or page[end] == _SLASH)


@part
def may_ask_nofollow(page: PageBytes, first: int, last: int) -> bool:
    """Whether a `rel` may have one of the words that ask not to count a link."""
    for position in range(first, last):
        byte = LOWER[page[position]]
        if byte == 38 or page[position] > 127:
            return True
        if position + 3 <= last and (is_word(page, position, last)):
            return True
    return False


@part
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


@part
def may_be_robots_or_refresh(page: PageBytes, first: int, last: int) -> bool:
    """Whether a name of a `meta` may be one of these two."""
    if first < 0 or first == last:
        return False
    byte = LOWER[page[first]]
    return bool(byte < 97 or byte > 122 or byte == 114)
