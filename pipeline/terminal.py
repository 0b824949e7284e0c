"""Text and tables for a terminal: nothing in URIs or file names can control it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from copy import copy

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape, render
from rich.table import Table

WIDE = 10_000  # columns of a pipe or file, so that no line is folded and no cell cut


def printable(text: str) -> str:
    """The text with everything but printable characters and ends of lines as escapes."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def cell(text: str) -> str:
    """Text from outside for a rich table: printable, one line, no markup."""
    return escape(printable(text).replace("\n", "\\n"))


class TextTable(Table):
    """A table for people. What comes from outside is shown as plain text, also in the title."""

    def __init__(self, title: str, *columns: str) -> None:
        """Columns with a name that starts with > are numbers."""
        super().__init__(title=cell(title), title_justify="left", box=None, pad_edge=False)
        for column in columns:
            right = column.startswith(">")
            self.add_column(column.lstrip(">"), justify="right" if right else "left")

    def add(self, *values: str | int | None) -> None:
        """A row. Whole numbers get commas, None is an empty cell."""
        texts = (f"{value:,}" if isinstance(value, int) else value or "" for value in values)
        self.add_row(*map(cell, texts))


def lines(table: Table, width: int) -> Iterator[str]:
    """The table in plain text, a line for its title and for each row. Columns keep their width;
    lines are cut at the edge of the terminal. width: of the terminal, in cells."""
    if isinstance(table.title, str):
        yield render(table.title).plain  # rich would fold it to the width of the table
    text, body = io.StringIO(), copy(table)
    body.title = None
    Console(file=text, width=WIDE, color_system=None).print(body)
    for line in text.getvalue().splitlines():
        shown = line.rstrip()
        yield shown if cell_len(shown) <= width else set_cell_size(shown, width - 1) + "…"


def console(stderr: bool = False) -> Console:
    """A console as wide as the terminal, and WIDE and without colour for a pipe or file, also under
    FORCE_COLOR."""
    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return Console(file=stream)
    return Console(file=stream, width=WIDE, force_terminal=False)


def escape_unwritable() -> None:
    """Write characters that the encoding of stdout or stderr lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
