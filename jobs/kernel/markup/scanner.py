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

from jobs.kernel.machine.native import Native, NativeFunction
from jobs.kernel.markup import scan_names
from jobs.kernel.markup.scan_names import MOST_UP, UP

_HERE = "jobs.kernel.markup"
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
_MOST_ROWS, _COLUMNS = 2**17, 6
_LEFT_OUT = {UP + n: b"../" * (n + 1) for n in range(MOST_UP)} | {UP + MOST_UP: b"#"}
_TAG_NAME = re.compile(rb"<([^\t\n\f\r />]+)").match


class ScannedTag(NamedTuple):
    """The attributes that are read of a start tag, as bytes of the page. foreign: of SVG."""

    element: str
    foreign: bool
    attributes: dict[str, bytes]


class References:
    """The `href` of elements `a` of which nothing else matters, in the order of the page.

    raw: what of them is put behind a directory or the like, as the form says; all of it if that is
    OTHER_FORM. forms: see scan_names.py. Iterating gives whole references without fragments.
    """

    __slots__ = ("forms", "raw")

    def __init__(self, raw: list[bytes], forms: list[int]) -> None:
        self.raw, self.forms = raw, forms

    def __len__(self) -> int:
        return len(self.raw)

    def __iter__(self) -> Iterator[bytes]:
        forms_and_raw = zip(self.forms, self.raw, strict=True)
        return (_LEFT_OUT[form] + raw if form >= UP else raw for form, raw in forms_and_raw)


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
        rows = array("i", bytes(4 * _COLUMNS * _MOST_ROWS))
        spans = array("q", bytes(16 * (slots + 1)))
        self._room = tables, array("q", [slots, styled, *free]), spans, rows
        self._addresses = [room.buffer_info()[0] for room in self._room]
        self._rows = memoryview(rows)

    def scanned(self, page: bytes) -> list[References | ScannedTag] | None:
        """In the order of the page. None if a parser has to read the page."""
        scan = code.function = code.function or SCAN.ready()
        code.pages += 1
        count = scan(page, len(page), *self._addresses, _MOST_ROWS)
        if count < 0:
            return None
        rows = self._rows[: _COLUMNS * count].tolist()
        elements, firsts, lasts, forms = [rows[column::_COLUMNS] for column in (1, 3, 4, 5)]
        values = [page[first:last] for first, last in zip(firsts, lasts, strict=True)]
        if not any(elements):
            return [References(values, forms)]
        columns = rows[::_COLUMNS], elements, rows[2::_COLUMNS], forms
        return list(self._parts(page, columns, values))

    def _parts(
        self, page: bytes, columns: tuple[list[int], ...], values: list[bytes]
    ) -> Iterator[References | ScannedTag]:
        begins, elements, attributes, forms = columns
        position, size = 0, len(values)
        while position < size:
            first, begin, element = position, begins[position], elements[position]
            if element:
                while position < size and begins[position] == begin:
                    position += 1
                numbers = attributes[first:position]
                names = [self._attributes[number] for number in numbers]
                read = dict(zip(names, values[first:position], strict=True))
                yield ScannedTag(self._name(page, begin, element), element >= _FOREIGN, read)
            else:
                while position < size and not elements[position]:
                    position += 1
                yield References(values[first:position], forms[first:position])

    def _name(self, page: bytes, begin: int, element: int) -> str:
        number = element % _FOREIGN
        if number != _OTHER:
            return self._elements[number]
        match = _TAG_NAME(page, begin)
        return match[1].decode("utf-8", "replace").lower() if match else ""
