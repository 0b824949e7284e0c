"""The attributes of a page that may be links, found by one pass over its bytes, without a tree.

Pages for which a tree would be needed are left to a parser: those with `template`, `frameset` or
MathML, with tags in a `select`, in a title of SVG or between elements of SVG that do not match, and
the like. The pass is machine code (jobs/kernel/machine/native.py), as is joining the references of
plain anchors to their targets.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

from crawlrank.jobs.kernel.machine.native import Native, NativeFunction, OfThread
from crawlrank.jobs.kernel.markup import scan_names
from crawlrank.jobs.kernel.markup.scan_names import MOST_UP, UP

_HERE = "crawlrank.jobs.kernel.markup"
_BYTES, _NUMBER, _WORDS, _NUMBERS, _ROWS = "bytes", "int64", "uint64*", "int64*", "int32*"
TARGETS = Native(
    f"{_HERE}.scan_targets",
    "targets_at",
    (_BYTES, _NUMBER, _ROWS, _NUMBER, _BYTES, _NUMBERS, _BYTES, _NUMBER, _NUMBERS, "uint8*"),
    tuple(f"{_HERE}.scan_{name}" for name in ("targets", "names")),
)
_LEFT_OUT = {UP + n: b"../" * (n + 1) for n in range(MOST_UP)} | {UP + MOST_UP: b"#"}
COLUMNS = 6  # of a row (scan_rows.py), each of ROW_BYTES // COLUMNS bytes
ROW_BYTES = 4 * COLUMNS
# as scan_targets.py has them
_LEFT, _MOST_LEFT, _ROOM = 2, 2**10, 2**16


class References:
    """The `href` of elements `a` of which nothing else matters, in the order of the page.

    rows: of the scan, as bytes. Iterating gives whole references without fragments. lines: the
    words of each link, where they are read, as scan_words.py writes them. worded: how many have
    words.
    """

    __slots__ = ("lines", "page", "rows", "worded")

    def __init__(self, page: bytes, rows: bytes, lines: bytes = b"", worded: int = 0) -> None:
        self.page, self.rows, self.lines, self.worded = page, rows, lines, worded

    def __len__(self) -> int:
        return len(self.rows) // ROW_BYTES

    def __iter__(self) -> Iterator[bytes]:
        numbers, page = memoryview(self.rows).cast("i").tolist(), self.page
        columns = [numbers[column::COLUMNS] for column in (3, 4, 5)]
        for first, last, form in zip(*columns, strict=True):
            yield _LEFT_OUT.get(form, b"") + page[first:last]


class Before:
    """What is put before the references of a directory; by form of scan_names.py but the first and
    the last."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        ends = [0]
        for part in parts:
            ends.append(ends[-1] + len(part))
        self.parts, self._ends = b"".join(parts), array("q", ends)
        self.ends = self._ends.buffer_info()[0]


class _Joining:
    """The machine code, and the room that it writes to."""

    def __init__(self) -> None:
        numbers, lines = array("q", bytes(8 * (_LEFT + 3 * _MOST_LEFT))), array("B", bytes(_ROOM))
        self._addresses = numbers.buffer_info()[0], lines.buffer_info()[0]
        self.numbers, self.lines = memoryview(numbers), memoryview(lines)
        self._function: NativeFunction | None = None

    def join(self, references: References, count: int, before: Before, uri: bytes) -> int:
        """count: of the references."""
        function = self._function = self._function or TARGETS.ready()
        page = references.page
        return function(
            page, len(page), references.rows, count, before.parts, before.ends,
            uri, len(uri), *self._addresses,
        )  # fmt: skip


_joining = OfThread(_Joining)


def targets_of(
    references: References, before: Before, uri: bytes
) -> tuple[list[bytes], list[tuple[int, bytes]]]:
    """The targets in the order of the page, and the references of another form: the place of each
    among the targets, where there is nothing yet, and what was written. uri: of the page."""
    joining, page, size = _joining(), references.page, len(references)
    numbers = joining.numbers
    numbers[0] = done = 0
    targets: list[bytes] = []
    others: list[tuple[int, bytes]] = []
    while done < size:
        end = joining.join(references, size, before, uri)
        lines = joining.lines[:end].tobytes().split(b"\n")
        lines.pop()
        if count := numbers[1]:
            written = numbers[_LEFT : _LEFT + 3 * count].tolist()
            for line, first, last in zip(written[::3], written[1::3], written[2::3], strict=True):
                others.append((done + line, page[first:last]))
        done = numbers[0]
        if not targets and done == size:
            return lines, others
        targets += lines
    return targets, others


SCAN = Native(
    f"{_HERE}.scan_loops",
    "scan_at",
    (_BYTES, _NUMBER, _WORDS, _NUMBERS, _NUMBERS, _ROWS, _NUMBER, "uint8*"),
    tuple(f"{_HERE}.scan_{name}" for name in ("loops", "rows", "words", "tokens", "names")),
)
CONTENTS = ""  # the name under which a style element's contents are among its attributes
# as scan_rows.py has them
_FIRST = ("href", "rel", "xlink:href", "style", CONTENTS, "http-equiv", "name", "alt")
_OTHER, _FOREIGN = 255, 256
_MOST_ROWS = 2**17
_TAGS, _TITLE_BEGIN, _TITLE_END, _END, _WORDED = (
    scan_names.PLAN + number
    for number in (
        *(scan_names.TAGS, scan_names.TITLE_BEGIN, scan_names.TITLE_END),
        *(scan_names.END, scan_names.WORDED),
    )
)
_TAG_NAME = re.compile(rb"<([^\t\n\f\r />]+)").match


class ScannedTag(NamedTuple):
    """The attributes that are read of a start tag, as bytes of the page. foreign: of SVG. line: the
    words of an `a`, where they are read, as scan_words.py writes them."""

    element: str
    foreign: bool
    attributes: dict[str, bytes]
    line: bytes


class Code:
    """The machine code of this process. pages, parsed: how many were scanned, and how many of these
    were left to the parser."""

    def __init__(self) -> None:
        self.function: NativeFunction | None = None  # until a page is scanned
        self.pages = self.parsed = 0


code = Code()


class Scanner:
    """elements, attributes: those that are read; `style` among the attributes adds that attribute
    of all elements, and the contents of style elements. words: those of links are read, too."""

    def __init__(
        self, elements: Iterable[str], attributes: Iterable[str], words: bool = False
    ) -> None:
        wanted = set(attributes)
        self._elements = ["", *sorted(elements)]
        self._attributes = [*_FIRST, *sorted(wanted.difference(_FIRST))]
        styled = "style" in wanted
        numbers = {name: number for number, name in enumerate(self._elements) if name}
        named = {
            name: number
            for number, name in enumerate(self._attributes)
            if name and (styled or name != "style") and (words or name != "alt")
        }
        slots = len(self._attributes)
        tables = scan_names.element_table(
            numbers, tables=styled or "background" in wanted
        ) + scan_names.attribute_table(named)
        free = [0] * (scan_names.STATE + scan_names.DEEPEST)
        rows = array("i", bytes(ROW_BYTES * _MOST_ROWS))
        spans = array("q", bytes(16 * (slots + 1)))
        self._numbers = array("q", [slots, styled, words, *free])
        self._room = tables, self._numbers, spans, rows
        self._addresses = [*[room.buffer_info()[0] for room in self._room], _MOST_ROWS, 0]
        self._rows, self._words = memoryview(rows), words
        self._make_room(0)

    def scanned(self, page: bytes) -> list[References | ScannedTag] | None:
        """The tags in the order of the page; None if a parser has to read the page."""
        scan = code.function = code.function or SCAN.ready()
        code.pages += 1
        if self._words and len(page) > len(self._lines):
            self._make_room(len(page))
        count = scan(page, len(page), *self._addresses)
        if count < 0:
            return None
        rows, numbers = self._rows[: COLUMNS * count], self._numbers
        if not self._words:
            if numbers[_TAGS]:
                return list(self._parts(page, rows, iter(())))
            return [References(page, rows.tobytes())] if count else []
        lines = self._lines[: numbers[_END]].tobytes()
        if numbers[_TAGS]:
            return list(self._parts(page, rows, iter(lines.split(b"\n"))))
        if not count:
            return []
        return [References(page, rows.tobytes(), lines, numbers[_WORDED])]

    def _make_room(self, size: int) -> None:
        """Room for the lines of a page of this size."""
        lines = array("B", bytes(max(_ROOM, 1 << size.bit_length())))
        self._lines = memoryview(lines)
        self._addresses[-1] = lines.buffer_info()[0]

    def title(self, page: bytes) -> bytes:
        """The contents of the first title of the page that was scanned last, which is outside of
        SVG; b"" without one."""
        return page[self._numbers[_TITLE_BEGIN] : self._numbers[_TITLE_END]]

    def _parts(
        self, page: bytes, rows: memoryview[int], lines: Iterator[bytes]
    ) -> Iterator[References | ScannedTag]:
        """lines: the words of each `a` that has rows, if they are read."""
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
                name = self._name(page, tag, element)
                line = next(lines) if self._words and name == "a" else b""
                yield ScannedTag(name, element >= _FOREIGN, read, line)
            else:
                while position < size and not elements[position]:
                    position += 1
                words = [*islice(lines, position - begin)] if self._words else []
                part = rows[COLUMNS * begin : COLUMNS * position].tobytes()
                text = b"\n".join([*words, b""])
                yield References(page, part, text, len(words) - words.count(b""))

    def _name(self, page: bytes, begin: int, element: int) -> str:
        number = element % _FOREIGN
        if number != _OTHER:
            return self._elements[number]
        match = _TAG_NAME(page, begin)
        return match[1].decode("utf-8", "replace").lower() if match else ""


#: makes a scanner, or gives the one with the same elements and attributes that the thread has
scanner_of = OfThread(lambda: cache(Scanner))
