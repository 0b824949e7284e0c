"""The bytes of one entry of a zip as a stream that can seek, without unpacking it to a disk."""

from __future__ import annotations

import hashlib
import zlib
from typing import BinaryIO

from crawlrank.jobs.kernel.archive.run_reader import BOMB_RATIO

_STEP = 2**16


class _Part:
    """What `read_records` needs of a stream."""

    _at = 0

    def seekable(self) -> bool:
        return True

    def seek(self, position: int) -> int:
        self._at = position
        return position

    def tell(self) -> int:
        return self._at


class FilePart(_Part):
    """Some bytes of a file as a stream."""

    def __init__(self, file: BinaryIO, begin: int, size: int) -> None:
        self._file, self._begin, self._size = file, begin, size

    def read(self, count: int) -> bytes:
        self._file.seek(self._begin + self._at)
        data = self._file.read(max(0, min(count, self._size - self._at)))
        self._at += len(data)
        return data


class EntrySums:
    """What the bytes of an entry should sum up to. crc: CRC-32, None if it is not known. sha256: in
    hexadecimal digits, '' if it is not known."""

    def __init__(self, crc: int | None = None, sha256: str = "") -> None:
        self._expected, self._sha256 = crc, sha256
        self.restart()

    def restart(self) -> None:
        self._crc, self._hash = 0, hashlib.sha256() if self._sha256 else None

    def add(self, data: bytes) -> None:
        self._crc = zlib.crc32(data, self._crc)
        if self._hash:
            self._hash.update(data)

    def problem(self) -> str:
        """What is wrong with all bytes; '' if nothing is."""
        if self._expected not in (None, self._crc):
            return "fails its checksum"
        if self._hash and self._hash.hexdigest() != self._sha256:
            return "is not what datapackage.json says (its sha256 differs)"
        return ""


class StoredPart(FilePart):
    """An entry that is stored: its bytes are summed while they are read."""

    def __init__(self, file: BinaryIO, begin: int, size: int, sums: EntrySums) -> None:
        super().__init__(file, begin, size)
        self._sums, self._summed = sums, 0

    def read(self, count: int) -> bytes:
        begin = self._at
        data = super().read(count)
        if begin <= self._summed < self._at:
            self._sums.add(data[self._summed - begin :] if begin < self._summed else data)
            self._summed = self._at
        return data

    @property
    def problem(self) -> str:
        """What is wrong with the entry, of which what was not yet read is read now; or ''."""
        self.seek(self._summed)
        while self.read(_STEP):
            pass
        return self._sums.problem()


class Bomb(Exception):
    """An entry that inflates beyond all proportion, or must be inflated too often."""


class InflatedPart(_Part):
    """A deflated part as a stream; going back further than WINDOW inflates it again.

    consumed: compressed bytes that were read so far. problem: what is wrong with it, or ''.
    """

    WINDOW = 2**24  # inflated bytes that are kept, for readers that go back a little
    AGAIN = 2**33  # bytes that may be inflated more than once

    def __init__(self, part: FilePart, sums: EntrySums) -> None:
        self._part, self._sums = part, sums
        self._again = 0
        self.problem = ""
        self._restart()

    def _restart(self) -> None:
        self._inflater = zlib.decompressobj(-15)
        self._raw, self.consumed = b"", 0
        self._sums.restart()
        self._window, self._begin = bytearray(), 0

    def read(self, count: int) -> bytes:
        if self._at < self._begin:
            self._again += self._begin + len(self._window)
            if self._again > self.AGAIN:
                raise Bomb("too much of it would be inflated again and again")
            self._restart()
        while self._begin + len(self._window) < self._at + count and self._more():
            surplus = min(len(self._window) - self.WINDOW, self._at - self._begin)
            if surplus > self.WINDOW:
                del self._window[:surplus]
                self._begin += surplus
        begin = self._at - self._begin
        data = bytes(self._window[begin : begin + count])
        self._at += len(data)
        return data

    def _more(self) -> bool:
        """Inflate a step. False at the end, or where the part breaks."""
        if not self._raw:
            self._part.seek(self.consumed)
            self._raw = self._part.read(_STEP)
            self.consumed += len(self._raw)
        try:
            data = self._inflater.decompress(self._raw, _STEP)
        except zlib.error as error:
            self.problem = str(error)
            return False
        if not (data or self._raw or self._inflater.eof):
            self.problem = "its compressed bytes end too early"
            return False
        self._raw = self._inflater.unconsumed_tail
        self._window += data
        self._sums.add(data)
        if self._inflater.eof:
            self.problem = self._sums.problem()
        size = self._begin + len(self._window)
        if size > self.WINDOW and size > BOMB_RATIO * self.consumed:
            raise Bomb(f"more than {size} bytes")
        return not self._inflater.eof
