"""The streams that a command writes to: a terminal with a width, or a pipe or file without."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

USUAL = 80  # columns of a terminal that does not say how many it has


def width_of(stream: TextIO) -> int | None:
    """The columns of the terminal behind a stream; None for a pipe or file. The variable COLUMNS
    overrides what a terminal says, as it does for other programs."""
    if not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    except OSError:
        return USUAL


def escape_unwritable() -> None:
    """Write characters that the encoding of stdout or stderr lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
