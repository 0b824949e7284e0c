"""How far a reader has come in a large file, told while it reads."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

SECONDS = 0.5


@contextmanager
def repeated(act: Callable[[], None], seconds: float) -> Iterator[None]:
    """Act every so many seconds while the block runs, from a thread, which has ended behind it."""
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
def told_position(stream: BinaryIO, tell: Callable[[int], None]) -> Iterator[None]:
    """Tell the place in the stream, in bytes, every SECONDS while the block runs, and its size at
    the end. From a thread: a record of a gigabyte moves too, and records need not be counted."""
    raw = getattr(stream, "raw", stream)  # BufferedReader.tell is not safe beside its reads
    try:
        with repeated(lambda: tell(raw.tell()), SECONDS):
            yield
    finally:
        tell(raw.seek(0, io.SEEK_END))
