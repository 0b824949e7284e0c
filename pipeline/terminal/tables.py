"""Tables for people, in one style: a line for the title, one for the names of columns, rows.

On a terminal no line is wider than it. Numbers are never cut; URIs and paths are cut in the middle;
sentences are wrapped. The folder that all paths of a column share is in the title. If that does not
suffice, the columns stand in several blocks, one below the other.

In a pipe or file every row is one line with whole values, for programs and for people who search.

The widths of columns that fit a terminal, and which columns stand below others if none do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from rich.cells import cell_len

from crawlrank.pipeline.terminal.text import cut_apart, longest_word, printable, shared, wrapped

LEAST_TEXT = 24  # cells in which a URI is still one
LEAST_PROSE = 20


class CellsNeeded(NamedTuple):
    """The cells that a column needs, and those with which it shows all."""

    least: int
    natural: int


class Layout(NamedTuple):
    """Columns beside each other, by their numbers, and their widths."""

    columns: list[int]
    widths: list[int]


def measure(name: str, cells: Sequence[str], *, is_whole: bool, is_prose: bool) -> CellsNeeded:
    widest = max(map(cell_len, cells), default=0)
    natural = max(widest, cell_len(name))
    if is_whole:
        return CellsNeeded(max(widest, longest_word(name)), natural)
    least = LEAST_PROSE if is_prose else LEAST_TEXT
    return CellsNeeded(max(min(widest, least), longest_word(name)), natural)


def blocks_of(
    measures: Sequence[CellsNeeded], keys: Sequence[int], width: int, gap: int
) -> Iterator[Layout]:
    """One block if that fits, else as few as the width allows; each has the columns `keys`, by
    which its rows are known. A number that is wider than the terminal is not cut either."""
    rest = [number for number in range(len(measures)) if number not in keys]
    least = sum(measures[number].least + gap for number in keys)
    while True:
        block, taken = list(keys), least
        while rest and (taken + measures[rest[0]].least <= width or block == [*keys]):
            taken += measures[rest[0]].least + gap
            block.append(rest.pop(0))
        block.sort()
        yield Layout(block, _grown([measures[number] for number in block], width, gap))
        if not rest:
            return


def _grown(measures: Sequence[CellsNeeded], width: int, gap: int) -> list[int]:
    """The least widths, and equal parts of what is left for columns that need more."""
    widths = [each.least for each in measures]
    room = width - sum(widths) - gap * (len(widths) - 1)
    while room > 0 and (short := [i for i, m in enumerate(measures) if widths[i] < m.natural]):
        share = max(1, room // len(short))
        for number in short:
            more = min(share, measures[number].natural - widths[number], room)
            widths[number] += more
            room -= more
    return widths


GAP = "  "
PADDED = 60  # cells; a longer value of a pipe moves the rest of its own row alone


class ColumnKind(Enum):
    """How a column is fitted, by the first character of its name."""

    TEXT = ""  # cut in the middle
    NUMBER = ">"  # to the right, never cut
    PROSE = "~"  # wrapped between words
    NAME = "="  # of our own, never cut
    PATH = "/"  # like text, without the folder that all have


CUT = (ColumnKind.TEXT, ColumnKind.PATH)
SPARE = (ColumnKind.TEXT, ColumnKind.PROSE)  # left out where no row has anything


class Column(NamedTuple):
    name: str
    kind: ColumnKind


def _column(name: str) -> Column:
    kind = next(
        (kind for kind in ColumnKind if kind.value and name.startswith(kind.value)), ColumnKind.TEXT
    )
    return Column(name.removeprefix(kind.value), kind)


class TextTable:
    """What comes from outside is shown as plain text, also in the title."""

    def __init__(self, title: str, *columns: str) -> None:
        """columns: names, with the character of their kind before them."""
        self.title = _one_line(title)
        self.columns = [_column(name) for name in columns]
        self.rows: list[list[str]] = []
        self.notes: list[str] = []

    @property
    def row_count(self) -> int:
        return len(self.rows)

    def add(self, *values: str | int | None) -> None:
        """A row. Whole numbers get commas; None, and what is missing at the end, is empty."""
        texts = [f"{value:,}" if isinstance(value, int) else value or "" for value in values]
        texts += [""] * (len(self.columns) - len(texts))
        self.rows.append([_one_line(text) for text in texts])

    def note(self, text: str) -> None:
        """A sentence below the rows."""
        self.notes.append(_one_line(text))

    def lines(self, width: int | None) -> Iterator[str]:
        """The table as text without blanks at the ends of lines. width: of the terminal in cells,
        None for a pipe or file."""
        if full := self._without_empty_columns():
            yield from full.lines(width)
            return
        title, rows = self.title, self.rows
        if width is not None:
            title, rows = self._without_folders()
            yield from wrapped(title, width) if title else ()
            for number, block in enumerate(self._blocks(rows, width)):
                yield from [""] if number else ()
                yield from block
        else:
            yield from [title] if title else ()
            widths = [min(each.natural, PADDED) for each in self._measures(rows)]
            yield from self._filled([[column.name] for column in self.columns], widths)
            for row in rows:
                yield from self._filled([[text] for text in row], widths)
        for note in self.notes:
            yield from [note] if width is None else wrapped(note, width)

    def _without_empty_columns(self) -> TextTable | None:
        """The table without columns of text in which no row has anything; None where there are no
        such ones. The first column stays, as it names the rows."""
        kept = [
            number
            for number, column in enumerate(self.columns)
            if not number or column.kind not in SPARE or any(row[number] for row in self.rows)
        ]
        if not self.rows or len(kept) == len(self.columns):
            return None
        table = TextTable(self.title)
        table.columns = [self.columns[number] for number in kept]
        table.rows = [[row[number] for number in kept] for row in self.rows]
        table.notes = self.notes
        return table

    def _without_folders(self) -> tuple[str, list[list[str]]]:
        """The title and the rows, with the folders that paths share in the title."""
        title, rows = self.title, self.rows
        for number, column in enumerate(self.columns):
            folder = common_folder([row[number] for row in rows])
            if column.kind is ColumnKind.PATH and folder:
                title += f" in {folder}/"
                begin = len(folder) + 1
                rows = [[*row[:number], row[number][begin:], *row[number + 1 :]] for row in rows]
        return title, rows

    def _measures(self, rows: Sequence[Sequence[str]]) -> list[CellsNeeded]:
        return [
            measure(
                column.name,
                [row[number] for row in rows],
                is_whole=column.kind in (ColumnKind.NUMBER, ColumnKind.NAME),
                is_prose=column.kind is ColumnKind.PROSE,
            )
            for number, column in enumerate(self.columns)
        ]

    def _blocks(self, rows: Sequence[Sequence[str]], width: int) -> Iterator[Iterator[str]]:
        for block in blocks_of(self._measures(rows), self._keys(), width, len(GAP)):
            yield self._block(block, rows)

    def _keys(self) -> list[int]:
        """The columns by which a reader knows a row: the first with names, and row numbers."""
        kinds = (*CUT, ColumnKind.NAME)
        named = (n for n, column in enumerate(self.columns) if column.kind in kinds)
        return sorted({next(named, 0), *(n for n, c in enumerate(self.columns) if not c.name)})

    def _block(self, block: Layout, rows: Sequence[Sequence[str]]) -> Iterator[str]:
        """The names of some columns, and their cells."""
        widths, columns = block.widths, [self.columns[number] for number in block.columns]
        names = [wrapped(c.name, width) for c, width in zip(columns, widths, strict=True)]
        height = max(map(len, names))
        names = [[""] * (height - len(name)) + name for name in names]
        yield from self._filled(names, widths, columns)
        cut = {
            number: cut_apart([row[number] for row in rows], width)
            for number, width in zip(block.columns, widths, strict=True)
            if self.columns[number].kind in CUT
        }
        for row in rows:
            cells = [
                [cut[number][row[number]]] if number in cut else wrapped(row[number], width)
                for number, width in zip(block.columns, widths, strict=True)
            ]
            yield from self._filled(cells, widths, columns)

    def _filled(
        self,
        cells: Sequence[Sequence[str]],
        widths: Sequence[int],
        columns: Sequence[Column] | None = None,
    ) -> Iterator[str]:
        """The lines of a row, whose cells may have several."""
        kinds = [column.kind for column in columns or self.columns]
        for at in range(max(map(len, cells), default=0)):
            parts = []
            for cell, width, kind in zip(cells, widths, kinds, strict=True):
                text = cell[at] if at < len(cell) else ""
                blanks = " " * (width - cell_len(text))
                parts.append(blanks + text if kind is ColumnKind.NUMBER else text + blanks)
            yield GAP.join(parts).rstrip()


def common_folder(paths: Sequence[str]) -> str:
    """The folder that two or more different paths or URLs share, without its last slash; '' if
    there is none."""
    if len(set(paths)) < 2:
        return ""
    return paths[0][: shared(paths)].rpartition("/")[0]


def _one_line(text: str) -> str:
    return printable(text).replace("\n", "\\n")
