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
def reported_position(stream: BinaryIO, report: Callable[[int], None]) -> Iterator[None]:
    """Report the position in the stream, in bytes, every SECONDS while the block runs, and the size
    at the end. From a thread, so that the position moves within a record of a gigabyte too."""
    raw = getattr(stream, "raw", stream)  # BufferedReader.tell is not safe beside its reads
    try:
        with repeated(lambda: report(raw.tell()), SECONDS):
            yield
    finally:
        report(raw.seek(0, io.SEEK_END))
