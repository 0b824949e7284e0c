"""The attributes of a page that may be links, found by one pass over its bytes, without a tree.

Pages for which a tree would be needed are left to a parser: those with `template`, `frameset` or
MathML, with tags in a `select`, in a title of SVG or between elements of SVG that do not match, and
the like. The pass is machine code (jobs/kernel/machine/native.py).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawlrank.jobs.kernel.machine.native import Native, NativeFunction
from crawlrank.jobs.kernel.markup import scan_names
from crawlrank.jobs.kernel.markup.references import COLUMNS, ROW_BYTES, References

_HERE = "crawlrank.jobs.kernel.markup"
_BYTES, _NUMBER, _WORDS, _NUMBERS, _ROWS = "bytes", "int64", "uint64*", "int64*", "int32*"
SCAN = Native(
    f"{_HERE}.scan_loops",
    "scan_at",
    (_BYTES, _NUMBER, _WORDS, _NUMBERS, _NUMBERS, _ROWS, _NUMBER),
    tuple(f"{_HERE}.scan_{name}" for name in ("loops", "rows", "references", "tokens", "names")),
)
CONTENTS = ""  # the name under which a style element's contents are among its attributes
# as scan_rows.py has them
_FIRST = ("href", "rel", "xlink:href", "style", CONTENTS, "http-equiv", "name")
_OTHER, _FOREIGN = 255, 256
_MOST_ROWS = 2**17
_TAGS = scan_names.PLAN + scan_names.TAGS
_TAG_NAME = re.compile(rb"<([^\t\n\f\r />]+)").match


class ScannedTag(NamedTuple):
    """The attributes that are read of a start tag, as bytes of the page. foreign: of SVG."""

    element: str
    foreign: bool
    attributes: dict[str, bytes]


class Code:
    """The machine code of this process. pages, parsed: how many were scanned, and how many of these
    were left to the parser."""

    def __init__(self) -> None:
        self.function: NativeFunction | None = None  # until a page is scanned
        self.pages = self.parsed = 0


code = Code()


class Scanner:
    """elements, attributes: those that are read; `style` among the attributes adds that attribute
    of all elements, and the contents of style elements."""

    def __init__(self, elements: Iterable[str], attributes: Iterable[str]) -> None:
        wanted = set(attributes)
        self._elements = ["", *sorted(elements)]
        self._attributes = [*_FIRST, *sorted(wanted.difference(_FIRST))]
        styled = "style" in wanted
        numbers = {name: number for number, name in enumerate(self._elements) if name}
        named = {
            name: number
            for number, name in enumerate(self._attributes)
            if name and (styled or name != "style")
        }
        slots = len(self._attributes)
        tables = scan_names.element_table(
            numbers, tables=styled or "background" in wanted
        ) + scan_names.attribute_table(named)
        free = [0] * (scan_names.STATE + scan_names.DEEPEST)
        rows = array("i", bytes(ROW_BYTES * _MOST_ROWS))
        spans = array("q", bytes(16 * (slots + 1)))
        self._numbers = array("q", [slots, styled, *free])
        self._room = tables, self._numbers, spans, rows
        self._addresses = [room.buffer_info()[0] for room in self._room]
        self._rows = memoryview(rows)

    def scanned(self, page: bytes) -> list[References | ScannedTag] | None:
        """In the order of the page. None if a parser has to read the page."""
        scan = code.function = code.function or SCAN.ready()
        code.pages += 1
        count = scan(page, len(page), *self._addresses, _MOST_ROWS)
        if count < 0:
            return None
        rows = self._rows[: COLUMNS * count]
        if not self._numbers[_TAGS]:
            return [References(page, rows.tobytes())] if count else []
        return list(self._parts(page, rows))

    def _parts(self, page: bytes, rows: memoryview[int]) -> Iterator[References | ScannedTag]:
        elements = rows[1::COLUMNS].tolist()
        position, size = 0, len(elements)
        while position < size:
            begin, element = position, elements[position]
            if element:
                tag = rows[COLUMNS * begin]
                read = {}
                while position < size and rows[COLUMNS * position] == tag:
                    _, _, number, first, last, _ = rows[COLUMNS * position :][:COLUMNS]
                    read[self._attributes[number]] = page[first:last]
                    position += 1
                yield ScannedTag(self._name(page, tag, element), element >= _FOREIGN, read)
            else:
                while position < size and not elements[position]:
                    position += 1
                yield References(page, rows[COLUMNS * begin : COLUMNS * position].tobytes())

    def _name(self, page: bytes, begin: int, element: int) -> str:
        number = element % _FOREIGN
        if number != _OTHER:
            return self._elements[number]
        match = _TAG_NAME(page, begin)
        return match[1].decode("utf-8", "replace").lower() if match else ""
