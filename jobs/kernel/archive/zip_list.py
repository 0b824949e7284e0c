"""The list of entries that a zip has at its end, one entry at a time, whatever their number.

A record at the very end has the beginning and the size of the list; another one before it has them
in numbers of 64 bits (APPNOTE 4.3.12 to 4.3.16). Python's zipfile makes an object of every entry.
"""

from __future__ import annotations

import io
import struct
from array import array
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from crawlrank.jobs.kernel.archive.file_bytes import FileBytes

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
        """Where the list begins and ends, and how far the whole zip lies behind its own offsets."""
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
        """The entry at a position of the file, and the position behind it."""
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
