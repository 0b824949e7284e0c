"""The widths of columns that fit a terminal, and which columns stand below others if none do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from crawlrank.pipeline.terminal.text import longest_word

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
