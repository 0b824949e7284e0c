"""The references of plain anchors, as a scan of a page found them, and their targets."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from crawlrank.jobs.kernel.machine.native import Native, NativeFunction
from crawlrank.jobs.kernel.markup.scan_names import MOST_UP, UP

_HERE = "crawlrank.jobs.kernel.markup"
_BYTES, _NUMBER, _NUMBERS = "bytes", "int64", "int64*"
TARGETS = Native(
    f"{_HERE}.scan_targets",
    "targets_at",
    (_BYTES, _NUMBER, "int32*", _NUMBER, _BYTES, _NUMBERS, _BYTES, _NUMBER, _NUMBERS, "uint8*"),
    tuple(f"{_HERE}.scan_{name}" for name in ("targets", "names")),
)
_LEFT_OUT = {UP + n: b"../" * (n + 1) for n in range(MOST_UP)} | {UP + MOST_UP: b"#"}
COLUMNS = 6  # of a row (scan_rows.py), each of ROW_BYTES // COLUMNS bytes
ROW_BYTES = 4 * COLUMNS
# as scan_targets.py has them
_LEFT, _MOST_LEFT, _ROOM = 2, 2**10, 2**16


class References:
    """The `href` of elements `a` of which nothing else matters, in the order of the page.

    rows: of the scan, as bytes. Iterating gives whole references without fragments.
    """

    __slots__ = ("page", "rows")

    def __init__(self, page: bytes, rows: bytes) -> None:
        self.page, self.rows = page, rows

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

    def join(self, references: References, before: Before, uri: bytes) -> int:
        function = self._function = self._function or TARGETS.ready()
        page, rows = references.page, references.rows
        return function(
            page, len(page), rows, len(rows) // ROW_BYTES, before.parts, before.ends,
            uri, len(uri), *self._addresses,
        )  # fmt: skip


_joining = _Joining()


def targets_of(
    references: References, before: Before, uri: bytes
) -> tuple[list[bytes], list[tuple[int, bytes]]]:
    """The targets in the order of the page, and the references of another form: the place of each
    among the targets, where there is nothing yet, and what was written. uri: of the page."""
    numbers, page = _joining.numbers, references.page
    numbers[0] = done = 0
    targets, others = list[bytes](), list[tuple[int, bytes]]()
    while done < len(references):
        size = _joining.join(references, before, uri)
        lines = _joining.lines[:size].tobytes().split(b"\n")
        lines.pop()
        if count := numbers[1]:
            written = numbers[_LEFT : _LEFT + 3 * count].tolist()
            for line, first, last in zip(written[::3], written[1::3], written[2::3], strict=True):
                others.append((done + line, page[first:last]))
        done = numbers[0]
        if not targets and done == len(references):
            return lines, others
        targets += lines
    return targets, others
