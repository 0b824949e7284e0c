"""The bytes of an archive's file: read ahead in large steps, and inflated frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from crawlrank.jobs.kernel.archive.frames import STEP, Broken, Inflater

_AHEAD = 4 * STEP
FIRST = STEP // 8  # most frames hold one page, and bytes beyond are copied in vain


class FileBytes:
    """Bytes of a file at any position, read in large pieces where positions ascend."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._data, self._begin, self._last = b"", 0, False

    def read(self, position: int, count: int = STEP) -> bytes:
        """The bytes at a position, fewer only at the end of the file. Raises OSError."""
        begin = position - self._begin
        if begin < 0 or (begin + count > len(self._data) and not self._last):
            self._file.seek(position)
            wanted = max(count, _AHEAD)
            self._data = self._file.read(wanted)
            self._begin, self._last, begin = position, len(self._data) < wanted, 0
        return self._data[begin : begin + count]


class OpenFrame:
    """A frame of the file while it is inflated. head: its first bytes. position: in the file,
    behind the bytes that were inflated."""

    def __init__(
        self, read: Callable[[int, int], bytes], inflater: Inflater, begin: int, head: bytes
    ) -> None:
        self.inflater, self.begin, self.position = inflater, begin, begin
        self._read, self._raw = read, head
        self._ahead = b""

    def look(self) -> bytes:
        """What `next` will return."""
        self._ahead = self._ahead or self.next()
        return self._ahead

    def give_back(self, data: bytes) -> None:
        """Undo the calls of `next` that returned these bytes."""
        self._ahead = data + self._ahead

    def next(self) -> bytes:
        """The next bytes, b"" at the end of the frame. Raises Broken, and OSError."""
        data, self._ahead = self._ahead, b""
        while not data and not self.inflater.eof:
            if not self._raw and not self.inflater.full:
                self._raw = self._read(self.position, STEP)
                if not self._raw:
                    raise Broken(b"", 0, "the file ends inside it")
            data = self._inflate()
        return data

    def _inflate(self) -> bytes:
        before = len(self._raw)
        try:
            data, self._raw = self.inflater.feed(self._raw, STEP)
        except Broken as error:
            self.position += error.consumed
            raise
        self.position += before - len(self._raw)
        return data
