"""The rows of a scan: an attribute that is read of a start tag, each; made machine code by
jobs/kernel/machine/native.py.

A row is the position of the tag, the number of its element (PLAIN for an `a` of which nothing but
`href` matters, OTHER for one that is not among those wanted; FOREIGN_ROW is added in SVG), the
number of the attribute, where its value begins and ends, and of an `a` with PLAIN the form of the
reference (scan_references.py), of which the value is a part then.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.native import part
from crawlrank.jobs.kernel.markup import scan_names as names
from crawlrank.jobs.kernel.markup.scan_names import (
    BASES,
    BODIES,
    COUNT,
    FOREIGN,
    IN_FORM,
    NESTED,
    TABLES,
    TAGS,
)
from crawlrank.jobs.kernel.markup.scan_references import (
    may_ask_nofollow,
    may_be_robots_or_refresh,
    reference_form,
)
from crawlrank.jobs.kernel.markup.scan_tokens import Integers, PageBytes, has_reference

ScanRows = npt.NDArray[np.int32]

UNDECIDED = -1
# numbers of attributes, and of elements in rows
HREF, REL, XLINK, STYLE, TEXT, HTTP_EQUIV, NAME = range(7)
PLAIN, OTHER, FOREIGN_ROW = 0, 255, 256


@part
def add_rows(
    page: PageBytes, begin: int, meaning: int, state: Integers, spans: Integers, rows: ScanRows
) -> None:
    """Add those of a tag."""
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
                add_row(rows, state, begin, element, which, spans[which, 0], spans[which, 1], 0)


@part
def is_only_named(spans: Integers) -> bool:
    """Whether nothing can be a link among the attributes of an `a`."""
    for which in range(len(spans) - 1):
        if which != REL and which != HTTP_EQUIV and which != NAME and spans[which, 0] >= 0:
            return False
    return True


@part
def is_plain(page: PageBytes, spans: Integers) -> bool:
    """Whether nothing but `href` matters of an `a`."""
    if spans[HREF, 0] < 0 or spans[XLINK, 0] >= 0 or spans[STYLE, 0] >= 0:
        return False
    return spans[REL, 0] < 0 or not may_ask_nofollow(page, spans[REL, 0], spans[REL, 1])


@part
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


@part
def is_decided(meaning: int, state: Integers, spans: Integers) -> bool:
    """Whether it is known without a tree which element has the attributes of a tag."""
    if meaning & names.IS_BASE and spans[HREF, 0] >= 0:
        state[BASES] += 1
        return bool(state[BASES] == 1)
    if meaning & names.IS_BODY:
        state[BODIES] += 1
        return bool(state[BODIES] == 1)
    return not (meaning & names.IS_PART and state[TABLES] and state[NESTED])


@part
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
