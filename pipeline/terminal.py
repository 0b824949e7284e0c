"""What may reach a terminal: nothing that steers it, whatever URIs and file names hold."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape
from rich.table import Table

WIDE = 10_000  # columns of a pipe or file: no line is folded, no cell cut


def printable(text: str) -> str:
    """The text with everything but printable characters and ends of lines as escapes."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def cell(text: str) -> str:
    """Text from outside for a rich table: printable, one line, no markup."""
    return escape(printable(text).replace("\n", "\\n"))


def new_table(title: str, *columns: str) -> Table:
    """Columns whose name starts with > are numbers."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        right = column.startswith(">")
        table.add_column(column.lstrip(">"), justify="right" if right else "left")
    return table


def lines(table: Table, width: int) -> Iterator[str]:
    """The table in plain text, a line a row: columns keep their width, and what is behind the
    edge of the terminal is cut. width: that of the terminal, in cells."""
    text = io.StringIO()
    Console(file=text, width=WIDE, color_system=None).print(table)
    for line in text.getvalue().splitlines():
        shown = line.rstrip()
        yield shown if cell_len(shown) <= width else set_cell_size(shown, width - 1) + "…"


def console(stderr: bool = False) -> Console:
    """As wide as the terminal; elsewhere so wide that tables keep their lines whole."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDE)


def escape_unwritable() -> None:
    """Characters that the encoding of a stream does not have are written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
