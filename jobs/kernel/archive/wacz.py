"""Archives in a WACZ, a zip with WARC files in `archive/`: read in place, one after the other.

A zip lists its entries at its end; each begins with a header of its own, by which they are found
where the list is missing or false. Entries are stored, as the WACZ specification demands, or
deflated.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple, cast

from jobs.kernel.archive.damage import Damage, shown
from jobs.kernel.archive.records import EXPECTED, Record, read_records, seekable
from jobs.kernel.archive.zip_list import MOST_ENTRIES, NoList, ZipList
from jobs.kernel.archive.zip_parts import Bomb, Inflated, Part
from jobs.kernel.errors import BadInput

FOLDER = "archive/"
_STEP = 2**20
BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
_HEADER = struct.Struct("<4s5H3L2H")  # of an entry; name and extra field follow
_ENTRY = re.compile(rb"PK\x03\x04.{26}" + FOLDER.encode() + rb"[^/]", re.DOTALL)


class Archive(NamedTuple):
    """name: for captures. items: its records and damage; the reader must come to their end."""

    name: str
    items: Iterator[Record | Damage]


class _Entry:
    """offset: of its header. begin: of its bytes, as many as size, or up to the next entry."""

    def __init__(self, name: str, offset: int, problem: str = "") -> None:
        self.name, self.offset, self.problem = name, offset, problem
        self.begin = 0
        self.size: int | None = None
        self.crc: int | None = None
        self.deflated = False


def read_archives(stream: BinaryIO, name: str, *, max_record: int) -> Iterator[Archive]:
    """The archive itself or, of a WACZ, those in it as `NAME!archive/x.warc.gz`.

    Raises BadInput where nothing can be read, as `read_records` does, while items are read.
    """
    with seekable(stream, name) as file:
        head = file.read(4)
        file.seek(0)
        if head not in BEGINNINGS:
            yield Archive(name, read_records(file, name, max_record=max_record))
            return
        wacz = _Wacz(file, name, max_record)
        yield from wacz.archives()
        wacz.require_records()


class _Wacz:
    def __init__(self, file: BinaryIO, name: str, max_record: int) -> None:
        self._file, self._name, self._max_record = file, name, max_record
        self._found = self._any = False

    def archives(self) -> Iterator[Archive]:
        entries, problem = _entries(self._file)
        if problem:
            damage = Damage(0, "bad-zip", f"list of entries: {problem[:60]!a}")
            yield Archive(self._name, iter([damage]))
        for entry in entries:
            self._any = True
            yield Archive(f"{self._name}!{entry.name}", self._items(entry))

    def require_records(self) -> None:
        if not self._found:
            what = "not one readable record" if self._any else "nothing in archive/"
            raise BadInput(
                self._name,
                f"a zip file with {what}",
                f"{EXPECTED}, or a WACZ",
                "Unzip it, and name its archives.",
            )

    def _items(self, entry: _Entry) -> Iterator[Record | Damage]:
        """Of one entry; its damage names it, as offsets are those in the entry."""
        name = shown(entry.name.encode("utf-8", "replace"))
        if entry.problem:
            yield Damage(entry.offset, "bad-zip", f"{name}: {entry.problem}")
            return
        try:
            stream = _stream(self._file, entry)
            for item in read_records(
                cast(BinaryIO, stream), self._name, max_record=self._max_record
            ):
                if isinstance(item, Damage):
                    yield item._replace(detail=f"{name}: {item.detail}")
                else:
                    self._found = True
                    yield item
            if isinstance(stream, Inflated) and stream.problem:
                yield Damage(entry.offset, "bad-zip", f"{name}: {stream.problem}")
        except Bomb as error:
            yield Damage(entry.offset, "bomb", f"{name}: {error}")
        except BadInput as error:
            yield Damage(entry.offset, "bad-zip", f"{name}: {error.found}")


def _entries(file: BinaryIO) -> tuple[Iterable[_Entry], str]:
    """The entries in the order of the file, and what is wrong with their list, or ''."""
    try:
        entries = ZipList(file, FOLDER)
        wrong = any(not _headed(file, entry.offset).begin for entry in entries)
    except NoList as error:
        return _searched(file), str(error)
    if not len(entries) or (wrong and next(_searched(file), None)):
        return _searched(file), "no entry where it says one is" if wrong else ""
    problem = f"more than {MOST_ENTRIES} entries; the others are not read"
    return _listed(file, entries), problem if entries.over else ""


def _listed(file: BinaryIO, entries: ZipList) -> Iterator[_Entry]:
    """The entries of the list in the order of the file; none may lie in another (a zip bomb)."""
    end = 0
    for listed in entries:
        entry = _headed(file, listed.offset)
        entry.name, entry.size, entry.crc = listed.name, listed.size, listed.crc
        if entry.offset < end and not entry.problem:
            entry.problem = "lies inside the entry before it"
        end = max(end, entry.begin + listed.size)
        yield entry


def _searched(file: BinaryIO) -> Iterator[_Entry]:
    """The entries that can be found by their headers, up to the next where they tell no size."""
    before: _Entry | None = None
    place, kept = 0, b""
    file.seek(0)
    while block := file.read(_STEP):
        data = kept + block
        for found in _ENTRY.finditer(data):
            entry = _headed(file, place - len(kept) + found.start())
            if before:
                before.size = before.size or entry.offset - before.begin
                yield before
            before = entry
        place += len(block)
        kept = data[-(_HEADER.size + len(FOLDER)) :]
        file.seek(place)
    if before:
        yield before


def _headed(file: BinaryIO, offset: int) -> _Entry:
    header = b""
    if offset >= 0:  # a false list may say anything
        file.seek(offset)
        header = file.read(_HEADER.size)
    if len(header) < _HEADER.size or not header.startswith(b"PK\x03\x04"):
        return _Entry("", offset, problem="no entry where the list says")
    _, _, flags, method, _, _, crc, size, _, name_size, extra_size = _HEADER.unpack(header)
    entry = _Entry(file.read(name_size).decode("utf-8", "replace"), offset)
    entry.begin = offset + _HEADER.size + name_size + extra_size
    entry.size = None if flags & 8 or size == 2**32 - 1 else size
    entry.crc = None if flags & 8 else crc  # with that flag they are told behind the bytes
    entry.deflated = method == zipfile.ZIP_DEFLATED
    if flags & 1:
        entry.problem = "encrypted"
    elif method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        entry.problem = f"compressed by method {method}"
    return entry


def _stream(file: BinaryIO, entry: _Entry) -> Part | Inflated:
    size = entry.size if entry.size is not None else file.seek(0, io.SEEK_END) - entry.begin
    part = Part(file, entry.begin, size)
    return Inflated(part, entry.crc) if entry.deflated else part
