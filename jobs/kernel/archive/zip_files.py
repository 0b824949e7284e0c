"""The entries of a zip, one at a time, whatever their number, and the bytes of each.

A record at the very end has the beginning and the size of the list; another one before it has them
in numbers of 64 bits (APPNOTE 4.3.12 to 4.3.16). Python's zipfile makes an object of every entry.

The bytes of an entry are a stream that can seek, without unpacking the entry to a disk.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from array import array
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from crawlrank.jobs.kernel.archive.byte_runs import FileBytes
from crawlrank.jobs.kernel.archive.run_reader import BOMB_RATIO

MOST_ENTRIES = 2**20  # 16 bytes each
ENTRY_MAGIC, LIST_END_MAGIC = b"PK\x03\x04", b"PK\x05\x06"
_END = struct.Struct("<4s4H2LH")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LONGEST_COMMENT = 2**16
NOWHERE = -1
_IN_64 = 2**32 - 1  # stands for a number that is in the extra field


class NoList(Exception):
    """There is no list, or it breaks off."""


class Listed(NamedTuple):
    """offset: of the entry's header in the file, or NOWHERE. size: compressed, as the list says."""

    name: str
    offset: int
    size: int
    crc: int


class ZipList:
    """The files whose names begin with folder, in the order of the zip.

    over: whether there are more than `most`; the others are left out. Raises NoList, OSError.
    """

    def __init__(self, file: BinaryIO, folder: str, most: int = MOST_ENTRIES) -> None:
        self._read = FileBytes(file).read
        self._size = file.seek(0, io.SEEK_END)
        self._begin, self._end, self._moved = self._bounds()
        self._positions = array("Q")
        offsets = array("q")
        self.over = False
        for position, entry in self._all():
            if entry.name.startswith(folder) and not entry.name.endswith("/"):
                if len(offsets) >= most:
                    self.over = True
                    break
                self._positions.append(position)
                offsets.append(entry.offset)
        if any(offsets[at] > offsets[at + 1] for at in range(len(offsets) - 1)):
            order = sorted(range(len(offsets)), key=offsets.__getitem__)
            self._positions = array("Q", (self._positions[at] for at in order))

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[Listed]:
        for position in self._positions:
            yield self._entry(position)[0]

    def _bounds(self) -> tuple[int, int, int]:
        """Where the list begins and ends, and how far the whole zip lies after its own offsets."""
        tail_at = max(0, self._size - _LONGEST_COMMENT - _END.size)
        tail = self._read(tail_at, self._size - tail_at)
        at = tail.rfind(LIST_END_MAGIC, 0, max(0, len(tail) - _END.size + 4))
        if at < 0:
            raise NoList("File is not a zip file")
        *_, size, offset, _ = _END.unpack_from(tail, at)
        end = tail_at + at
        if bounds := self._end_64(end):
            size, offset, end = bounds
        begin = end - size
        if begin < 0 or begin - offset < 0:
            raise NoList("Bad offset for central directory")
        return begin, end, begin - offset

    def _end_64(self, end: int) -> tuple[int, int, int] | None:
        """Size, offset and end of the list by its 64-bit record, if it has one."""
        locator = self._read(max(0, end - _LOCATOR_64.size), _LOCATOR_64.size)
        position = end - _LOCATOR_64.size - _END_64.size
        if position < 0 or not locator.startswith(b"PK\x06\x07"):
            return None
        record = self._read(position, _END_64.size)
        if not record.startswith(b"PK\x06\x06"):
            return None
        *_, size, offset = _END_64.unpack(record)
        return size, offset, position

    def _all(self) -> Iterator[tuple[int, Listed]]:
        position = self._begin
        while position < self._end:
            entry, behind = self._entry(position)
            yield position, entry
            position = behind

    def _entry(self, position: int) -> tuple[Listed, int]:
        """The entry at a position of the file, and the position after it."""
        head = self._read(position, _ENTRY.size)
        if len(head) < _ENTRY.size or not head.startswith(b"PK\x01\x02"):
            raise NoList("Bad magic number for central directory")
        fields = _ENTRY.unpack(head)
        flags, crc, size, whole_size = fields[3], *fields[7:10]
        name_size, extra_size, comment_size, offset = *fields[10:13], fields[16]
        position += _ENTRY.size
        rest = self._read(position, name_size + extra_size)
        if len(rest) < name_size + extra_size:
            raise NoList("Truncated central directory")
        numbers = _extended(rest[name_size:], [whole_size, size, offset])
        name = rest[:name_size].decode("utf-8" if flags & 0x800 else "cp437", "replace")
        offset = numbers[2] + self._moved
        begins = 0 <= offset < self._size  # a false list may say anything
        entry = Listed(name, offset if begins else NOWHERE, numbers[1], crc)
        return entry, position + name_size + extra_size + comment_size


def _extended(extra: bytes, numbers: list[int]) -> list[int]:
    """The numbers of an entry; those that do not fit 32 bits are in its extra field of type 1."""
    at = 0
    while _IN_64 in numbers and at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            field = extra[at + 4 : at + 4 + size]
            wide = iter(struct.unpack_from(f"<{len(field) // 8}Q", field))
            return [next(wide, number) if number == _IN_64 else number for number in numbers]
        at += 4 + size
    return numbers


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
    """A deflated part as a stream; going back further than the window inflates it again.

    window: inflated bytes that are kept, for readers that go back a little. most_again: bytes that
    may be inflated more than once. consumed: compressed bytes that were read so far. problem: what
    is wrong with it, or ''.
    """

    def __init__(
        self, part: FilePart, sums: EntrySums, window: int = 2**24, most_again: int = 2**33
    ) -> None:
        self._part, self._sums = part, sums
        self._kept, self._most_again = window, most_again
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
            if self._again > self._most_again:
                raise Bomb("too much of it would be inflated again and again")
            self._restart()
        while self._begin + len(self._window) < self._at + count and self._more():
            surplus = min(len(self._window) - self._kept, self._at - self._begin)
            if surplus > self._kept:
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
        if size > self._kept and size > BOMB_RATIO * self.consumed:
            raise Bomb(f"more than {size} bytes")
        return not self._inflater.eof
