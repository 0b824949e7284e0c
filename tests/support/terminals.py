"""Commands on a real terminal of some width, and the tables that a command has shown."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.terminal.tables import TextTable
from support.crawls import COMMAND, environment


def on_terminal(width: int, *args: object) -> str:
    """Standard output of the command on a terminal; its standard error is none."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    around = {name: value for name, value in environment().items() if name != "COLUMNS"}
    with subprocess.Popen(
        [*COMMAND, *map(str, args)], stdout=side, stderr=subprocess.DEVNULL, env=around
    ) as process:
        os.close(side)
        data = bytearray()
        while block := _read(main):
            data += block
    os.close(main)
    assert process.returncode == 0, data.decode()
    return data.decode().replace("\r\n", "\n")


def _read(main: int) -> bytes:
    try:
        return os.read(main, 1 << 16)
    except OSError:  # so Linux says that the other side is closed
        return b""


@contextmanager
def shown_tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[TextTable]]:
    """Tables whose lines are asked for in the block, whichever command that is."""
    shown: list[TextTable] = []
    real = TextTable.lines

    def noted(table: TextTable, width: int | None) -> Iterator[str]:
        shown.append(table)
        return real(table, width)

    with monkeypatch.context() as patch:
        patch.setattr(TextTable, "lines", noted)
        yield shown


@contextmanager
def made_tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[tuple[str, str]]]:
    """The places of the code that make tables in the block: file and function."""
    import sys

    made: set[tuple[str, str]] = set()
    real = TextTable.__init__

    def noted(table: TextTable, title: str, *columns: str) -> None:
        code = sys._getframe(1).f_code
        made.add((str(Path(code.co_filename)), code.co_name))
        real(table, title, *columns)

    with monkeypatch.context() as patch:
        patch.setattr(TextTable, "__init__", noted)
        yield made
