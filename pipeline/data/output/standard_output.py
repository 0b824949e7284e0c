"""Bytes to a file, or to standard output where `-` is given for one."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from crawlrank.pipeline.data.datasets import write_file

STDOUT = Path("-")
CLOSED = 141  # exit code of a program whose reader has left, 128 + SIGPIPE, as shells know it


def write_output(pieces: Iterable[bytes], output: Path) -> None:
    """Write the pieces, in place of a file that has the name. Raises BrokenPipeError where whoever
    reads standard output has left."""
    if output != STDOUT:
        write_file(pieces, output)
        return
    sys.stdout.flush()
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
