"""Commands on a real terminal of some width, commands typed into a shell, and the tables that a
command has shown."""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from crawlrank.pipeline.terminal.tables import TextTable
from support.crawls import FORKED, environment

LINES, MAKE = TextTable.lines.__code__, TextTable.__init__.__code__


def on_terminal(width: int, *args: object) -> str:
    """Standard output of the command on a terminal; its standard error is none."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    around = {name: value for name, value in environment().items() if name != "COLUMNS"}
    with subprocess.Popen(
        [*FORKED, *map(str, args)], stdout=side, stderr=subprocess.DEVNULL, env=around
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


def in_shell(
    line: str, folder: Path, archive: Path, command: Sequence[str] = FORKED
) -> subprocess.CompletedProcess[str]:
    """A line of bash, in which `CRAWLRANK` is the command, and `ARCHIVE` the archive."""
    line = line.replace("CRAWLRANK", shlex.join(command)).replace("ARCHIVE", str(archive))
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder, env=environment(), capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip


class TablesSeen:
    """Tables of commands that run in the block `with TablesSeen() as seen:`.

    shown: those whose lines were asked for. made: the places of the code that made tables, file and
    function.
    """

    def __init__(self) -> None:
        self.shown: list[TextTable] = []
        self.made: set[tuple[str, str]] = set()

    def __enter__(self) -> TablesSeen:
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, arg: object) -> None:
        """At each call and return of a function."""
        if event != "call":
            return
        if frame.f_code is LINES:  # each time it continues, too
            table = frame.f_locals["self"]
            if not any(table is each for each in self.shown):
                self.shown.append(table)
        elif frame.f_code is MAKE and frame.f_back:
            code = frame.f_back.f_code
            self.made.add((code.co_filename, code.co_name))
