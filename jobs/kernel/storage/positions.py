"""How far a reader has come in a large file, reported while it reads."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

SECONDS = 0.5


@contextmanager
def repeated(act: Callable[[], None], seconds: float) -> Iterator[None]:
    """Act every so many seconds while the block runs, from a thread that ends with the block."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(seconds):
            act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def reported_position(
    stream: BinaryIO, report: Callable[[int], None], seconds: float = SECONDS
) -> Iterator[None]:
    """Report the position in the stream, in bytes, every so many seconds while the block runs. From
    a thread, so that the position moves within a record of a gigabyte too. At the end the size,
    also after an error, with which the file is done; but not where the block is interrupted."""
    raw = getattr(stream, "raw", stream)  # BufferedReader.tell is not safe beside its reads
    try:
        with repeated(lambda: report(raw.tell()), seconds):
            yield
    except Exception:
        report(raw.seek(0, io.SEEK_END))
        raise
    report(raw.seek(0, io.SEEK_END))
