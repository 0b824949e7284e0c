"""Bytes to a file, or to standard output where `-` is given for one."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterable
from pathlib import Path

from pipeline.data.datasets import write_file

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


def reader_has_left() -> bool:
    """Whether standard output is a pipe or socket that nobody reads any more."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)  # errors and the end are told anyhow
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def give_up_output() -> None:
    """Let what is not written yet go nowhere, or Python would complain of it at its exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
