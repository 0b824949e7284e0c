"""The digest of a file, and how far its reader has come, while it is read.

The digest is BLAKE2b of 128 bits over all bytes, in order. Readers of archives go forward with
small steps back, so the digest reads hardly a byte twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from crawlrank.jobs.kernel.errors import BadInput

BLOCK = 2**20


class Digesting:
    """What readers of archives need of a stream; the bytes that they read go into the digest."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._digest = hashlib.blake2b(digest_size=16)
        self._at, self._digested = stream.tell(), 0

    @property
    def raw(self) -> Any:
        """The stream whose position `reported_position` reports."""
        return getattr(self._stream, "raw", self._stream)

    def seekable(self) -> bool:
        return self._stream.seekable()

    def tell(self) -> int:
        return self._at

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        self._at = self._stream.seek(position, whence)
        return self._at

    def read(self, count: int = -1) -> bytes:
        data = self._stream.read(count)
        begin = self._at
        self._at += len(data)
        if begin <= self._digested < self._at:
            self._digest.update(data[self._digested - begin :])
            self._digested = self._at
        return data

    def hexdigest(self) -> str:
        """The digest of the whole file: reads the rest first. Raises OSError."""
        self.seek(self._digested)
        while self.read(BLOCK):
            pass
        return self._digest.hexdigest()


@contextlib.contextmanager
def digested(stream: BinaryIO, report: Callable[[str], None]) -> Iterator[BinaryIO]:
    """The stream, for a reader. Reports the digest of the whole file at the end, also after a
    BadInput, unless the rest of the file cannot be read."""
    digesting = Digesting(stream)
    failed: BadInput | None = None
    try:
        yield cast(BinaryIO, digesting)
    except BadInput as error:
        failed = error
    with contextlib.suppress(OSError, BadInput):
        report(digesting.hexdigest())
    if failed:
        raise failed


SECONDS = 0.5


@contextmanager
def repeated(act: Callable[[], None], seconds: float) -> Iterator[None]:
    """Act every `seconds` seconds while the block runs, from a thread that ends with the block."""
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
    """Report the position in the stream, in bytes, every `seconds` seconds while the block runs.

    A thread reports, so that the position moves within a record of a gigabyte too. At the end the
    size is reported, also after an error, with which the file is done; but not if the block is
    interrupted.
    """
    raw = getattr(stream, "raw", stream)  # BufferedReader.tell is not safe beside its reads
    try:
        with repeated(lambda: report(raw.tell()), seconds):
            yield
    except Exception:
        report(raw.seek(0, io.SEEK_END))
        raise
    report(raw.seek(0, io.SEEK_END))
