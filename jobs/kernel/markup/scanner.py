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

_HERE = "jobs.kernel.markup"
_BYTES, _NUMBER, _WORDS, _NUMBERS, _ROWS = "bytes", "int64", "uint64*", "int64*", "int32*"
SCAN = Native(
    f"{_HERE}.scan_loops",
    "scan_at",
    (_BYTES, _NUMBER, _WORDS, _WORDS, *[_NUMBERS] * 4, _ROWS, _NUMBER),
    tuple(f"{_HERE}.scan_{name}" for name in ("loops", "rows", "tokens", "names")),
)
CONTENTS = ""  # the name under which a style element's contents are among its attributes
_FIRST = ("href", "rel", "xlink:href", "style", CONTENTS)  # as scan_loops.py has them
_OTHER, _FOREIGN = 255, 256
_MOST_ROWS, _COLUMNS = 2**17, 5
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
        self._room = (
            scan_names.element_table(numbers, tables=styled or "background" in wanted),
            scan_names.attribute_table(named),
            array("q", [slots, styled]),
            array("q", bytes(8 * scan_names.STATE)),
            array("q", bytes(8 * scan_names.DEEPEST)),
            array("q", bytes(16 * (slots + 1))),
            array("i", bytes(4 * _COLUMNS * _MOST_ROWS)),
        )
        self._addresses = [room.buffer_info()[0] for room in self._room]
        self._rows = memoryview(self._room[-1])

    def scanned(self, page: bytes) -> list[bytes | ScannedTag] | None:
        """In the order of the page: the `href` of each `a` of which nothing else is read, and other
        tags with what is read of them. None if a parser has to read the page."""
        scan = code.function = code.function or SCAN.ready()
        code.pages += 1
        count = scan(page, len(page), *self._addresses, _MOST_ROWS)
        if count < 0:
            code.parsed += 1
            return None
        rows = self._rows[: _COLUMNS * count].tolist()
        if not any(rows[1::_COLUMNS]):
            return [page[first:last] for first, last in zip(rows[3::5], rows[4::5], strict=True)]
        return list(self._tags(page, rows))

    def _tags(self, page: bytes, rows: list[int]) -> Iterator[bytes | ScannedTag]:
        latest, attributes = -1, dict[str, bytes]()
        columns = [rows[column::_COLUMNS] for column in range(_COLUMNS)]
        for begin, element, attribute, first, last in zip(*columns, strict=True):
            value = page[first:last]
            if not element:
                yield value
            elif begin == latest:
                attributes[self._attributes[attribute]] = value
            else:
                latest, attributes = begin, {self._attributes[attribute]: value}
                yield ScannedTag(self._name(page, begin, element), element >= _FOREIGN, attributes)

    def _name(self, page: bytes, begin: int, element: int) -> str:
        number = element % _FOREIGN
        if number != _OTHER:
            return self._elements[number]
        match = _TAG_NAME(page, begin)
        return match[1].decode("utf-8", "replace").lower() if match else ""
