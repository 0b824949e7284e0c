"""What may reach a terminal: nothing that steers it, whatever URIs and file names hold."""

from __future__ import annotations

import io
import sys

from rich.console import Console
from rich.markup import escape

WIDE = 10_000  # columns of a pipe or file: no line is folded, no cell cut


def printable(text: str) -> str:
    """The text with everything but printable characters and ends of lines as escapes."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def cell(text: str) -> str:
    """Text from outside for a rich table: printable, one line, no markup."""
    return escape(printable(text).replace("\n", "\\n"))


def console(stderr: bool = False) -> Console:
    """As wide as the terminal; elsewhere so wide that tables keep their lines whole."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDE)


def escape_unwritable() -> None:
    """Characters that the encoding of a stream does not have are written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
