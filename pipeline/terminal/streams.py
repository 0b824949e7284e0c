"""The streams that a command writes to: a terminal with a width, or a pipe or file without."""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

USUAL = 80  # columns of a terminal that does not say how many it has


def width_of(stream: TextIO) -> int | None:
    """The columns of the terminal of a stream; None for a pipe or file. The variable COLUMNS
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


class _Output(io.FileIO):
    """Standard output, whose errors name it."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = "standard output"
            raise


def name_output() -> None:
    """Let errors of standard output name it. It gets a buffer where Python was told to have none
    (PYTHONUNBUFFERED), and each line is written when it ends then: without a buffer a write may be
    cut short, and nobody is told."""
    stream = sys.stdout
    if stream is sys.__stdout__ and isinstance(stream, io.TextIOWrapper):
        by_line = stream.line_buffering or stream.write_through
        stream.flush()
        raw = _Output(stream.fileno(), "w", closefd=False)
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=by_line
        )


def escape_unwritable() -> None:
    """Write characters that the encoding of stdout or stderr lacks as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def reader_has_left() -> bool:
    """Whether standard output is a pipe or socket that nobody reads any more."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)  # errors and the end are told anyhow
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def give_up_unwritten() -> None:
    """Write what standard output has not written yet, or let it go nowhere."""
    try:
        sys.stdout.flush()
    except OSError:  # of which the user was told
        give_up(sys.stdout)


def give_up(*streams: TextIO) -> None:
    """Let what is not written yet go nowhere, or Python would complain of it at its exit."""
    for stream in streams:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


class _Messages(io.FileIO):
    """Standard error. Once its reader has left, what is written goes nowhere: the results of a
    command are not there. If the reader of standard output has left, too, BrokenPipeError ends the
    command, as nobody waits for it."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.EIO) or reader_has_left():
                raise
            give_up(sys.stderr)
            return memoryview(data).nbytes


def outlive_reader() -> None:
    """Let this process continue when whoever reads its standard error leaves, or its terminal."""
    stream = sys.stderr
    if stream is sys.__stderr__ and isinstance(stream, io.TextIOWrapper):
        stream.flush()
        raw = _Messages(stream.fileno(), "w", closefd=False)
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(raw), stream.encoding, "backslashreplace", line_buffering=True
        )
