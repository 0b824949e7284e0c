"""Archives in a WACZ, a zip with WARC files in `archive/`: read in place, one after the other; and
the titles of pages in its `pages/`, which a browser had when it made the archives.

A zip lists its entries at its end. Each entry also begins with a header, which finds it where the
list is missing or false. Entries are stored, as the WACZ specification demands, or deflated.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice, pairwise
from typing import BinaryIO, NamedTuple, cast

from crawlrank.jobs.kernel.archive.damage import Damage, shown
from crawlrank.jobs.kernel.archive.records import EXPECTED, ArchiveRecords, Record
from crawlrank.jobs.kernel.archive.zip_files import (
    ENTRY_MAGIC,
    MOST_ENTRIES,
    Bomb,
    EntrySums,
    FilePart,
    InflatedPart,
    NoList,
    StoredPart,
    ZipList,
)
from crawlrank.jobs.kernel.errors import BadInput, Unreachable
from crawlrank.jobs.kernel.keys.uris import as_crawled
from crawlrank.jobs.kernel.markup.page_text import shown_title

FOLDER, PACKAGE, PAGES = "archive/", "datapackage.json", "pages/"
_MOST_PAGES = 2**20  # of which titles are read
_MOST_TITLES = 2**26  # bytes of URIs and titles, of a WACZ
_LONGEST_PACKAGE = 2**24  # bytes: 100,000 archives
_SHA_256 = re.compile("sha256:[0-9a-f]{64}")
_STEP = 2**20
_HEADER = struct.Struct("<4s5H3L2H")  # of an entry; name and extra field follow
_ENTRY = re.compile(ENTRY_MAGIC + rb".{26}" + FOLDER.encode() + rb"[^/]", re.DOTALL)

Items = Iterator[Record | Damage]


class _ZipEntry:
    """offset: of its header. begin: of its bytes, as many as size, or up to the next entry."""

    def __init__(self, name: str, offset: int, problem: str = "") -> None:
        self.name, self.offset, self.problem = name, offset, problem
        self.begin = 0
        self.size: int | None = None
        self.crc: int | None = None
        self.sha256 = ""
        self.deflated = False


class Wacz:
    """read: gives the records of a file in the WACZ. most: entries that are read."""

    def __init__(
        self, file: BinaryIO, name: str, read: Callable[[BinaryIO], Items], most: int = MOST_ENTRIES
    ) -> None:
        self._file, self._name, self._read, self._most = file, name, read, most
        self._has_records = False
        self._titles: dict[bytes, str] | None = None

    def titles(self) -> Mapping[bytes, str]:
        """Titles by URI, read when they are first asked for. Faults of these files cost titles
        alone (https://specs.webrecorder.net/wacz/1.1.1/#pages-jsonl)."""
        if self._titles is None:
            self._titles = _titles(self._file)
        return self._titles

    def archives(self) -> Iterator[ArchiveRecords]:
        """The archives of the WACZ, as `NAME!archive/x.warc.gz`. Raises BadInput if none has a
        record."""
        digests, unread = _digests(self._file)
        entries, problem = _entries(self._file, self._most)
        what = "nothing in archive/"
        faults = {"list of entries": problem, PACKAGE: unread}
        damage = [
            Damage(0, "bad-zip", f"{of}: {fault[:60]!a}") for of, fault in faults.items() if fault
        ]
        if damage:
            yield ArchiveRecords(self._name, iter(damage))
        for entry in entries:
            entry.sha256 = digests.get(entry.name, "")
            what = "not one readable record"
            name = f"{self._name}!{entry.name}"
            yield ArchiveRecords(name, self._items(entry), titles=self.titles)
        if not self._has_records:
            raise BadInput(
                self._name,
                f"a zip file with {what}",
                f"{EXPECTED}, or a WACZ",
                "Unzip it, and name its archives.",
            )

    def _items(self, entry: _ZipEntry) -> Items:
        """The records of an entry. Damage names the entry, as offsets are those in it."""
        name = shown(entry.name.encode("utf-8", "replace"))
        if entry.problem:
            yield Damage(entry.offset, "bad-zip", f"{name}: {entry.problem}")
            return
        try:
            stream = _stream(self._file, entry)
            for item in self._read(cast(BinaryIO, stream)):
                if isinstance(item, Damage):
                    yield item._replace(detail=f"{name}: {item.detail}")
                else:
                    self._has_records = True
                    yield item
            if problem := stream.problem:
                yield Damage(entry.offset, "bad-zip", f"{name}: {problem}")
        except Bomb as error:
            yield Damage(entry.offset, "bomb", f"{name}: {error}")
        except Unreachable:
            raise
        except BadInput as unreadable:  # a name of its own, as mypyc gives a name one type
            yield Damage(entry.offset, "bad-zip", f"{name}: {unreadable.found}")


class StoredArchive(NamedTuple):
    """An archive in a WACZ: where its bytes are in the file, and a stream of what it holds. plain:
    whether these are the same bytes, as they are unless it is deflated."""

    begin: int
    end: int
    stream: StoredPart | InflatedPart

    @property
    def plain(self) -> bool:
        return isinstance(self.stream, StoredPart)


def stored_archives(file: BinaryIO) -> Iterator[StoredArchive]:
    """The archives of a WACZ that can be read, in the order of the file."""
    for entry in _entries(file)[0]:
        if not entry.problem:
            size = _size_of(file, entry)
            yield StoredArchive(entry.begin, entry.begin + size, _stream(file, entry))


def _entries(file: BinaryIO, most: int = MOST_ENTRIES) -> tuple[Iterable[_ZipEntry], str]:
    """The entries in the order of the file, and what is wrong with their list, or ''."""
    try:
        entries = ZipList(file, FOLDER, most)
        wrong = any(not _headed(file, entry.offset).begin for entry in entries)
    except NoList as error:
        return _searched(file), str(error)
    if not len(entries) or (wrong and next(_searched(file), None)):
        return _searched(file), "no entry where it says one is" if wrong else ""
    problem = f"more than {most} entries; the others are not read"
    return _listed(file, entries), problem if entries.over else ""


def _digests(file: BinaryIO) -> tuple[dict[str, str], str]:
    """The digests by the names of entries: the SHA-256 that datapackage.json gives them, and why it
    cannot be read, or '' (https://specs.webrecorder.net/wacz/1.1.1/#datapackage-json)."""
    try:
        listed = next(iter(ZipList(file, PACKAGE, 1)), None)
    except NoList:
        return {}, ""
    entry = _headed(file, listed.offset) if listed else None
    if listed is None or entry is None or listed.name != PACKAGE:
        return {}, ""
    entry.size, entry.crc = listed.size, listed.crc
    if entry.problem:
        return {}, entry.problem
    try:
        data = _stream(file, entry).read(_LONGEST_PACKAGE + 1)
        if len(data) > _LONGEST_PACKAGE:
            return {}, f"more than {_LONGEST_PACKAGE:,} bytes"
        resources = json.loads(data).get("resources") or []
        texts = ((str(each["path"]), str(each.get("hash", ""))) for each in resources)
        return {path: text[7:] for path, text in texts if _SHA_256.fullmatch(text)}, ""
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, Bomb) as error:
        return {}, f"{type(error).__name__}: {error}"


def _titles(file: BinaryIO) -> dict[bytes, str]:
    """The titles of the pages in a WACZ; of a URI that is there more often the last one."""
    titles: dict[bytes, str] = {}
    size = 0
    for line in islice(_page_lines(file), _MOST_PAGES):
        uri, title = _page_of(line)
        size += len(uri) + len(title)
        if size > _MOST_TITLES:
            break
        if title:
            titles[uri] = title
    return titles


def _page_of(line: bytes) -> tuple[bytes, str]:
    """The URI and the title of a line; the title is '' where there is none."""
    if b'"title"' not in line:
        return b"", ""
    try:
        page = json.loads(line)
        uri, title = as_crawled(page["url"]), shown_title(page["title"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return b"", ""
    return (uri, title) if isinstance(uri, bytes) else (b"", "")


def _page_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of the files of pages. A line of more than _STEP bytes comes in parts."""
    try:
        listed = [entry for entry in ZipList(file, PAGES) if entry.name.endswith(".jsonl")]
    except NoList:
        return
    for one in listed:
        entry = _headed(file, one.offset)
        if entry.problem or entry.name != one.name:
            continue
        entry.size, entry.crc = one.size, one.crc
        stream, kept = _stream(file, entry), b""
        try:
            while block := stream.read(_STEP):
                *lines, kept = (kept + block).split(b"\n")
                yield from lines
                kept = b"" if len(kept) > _STEP else kept
        except Bomb:
            continue
        yield kept


def _listed(file: BinaryIO, entries: ZipList) -> Iterator[_ZipEntry]:
    """The entries of the list in the order of the file. None may lie in another (a zip bomb)."""
    end, size = 0, file.seek(0, io.SEEK_END)
    for listed, behind in pairwise(chain(entries, [None])):
        assert listed is not None
        entry = _headed(file, listed.offset)
        entry.name, entry.size, entry.crc = listed.name, listed.size, listed.crc
        if entry.offset < end and not entry.problem:
            entry.problem = "lies inside the entry before it"
        if entry.begin + listed.size <= size:
            end = max(end, entry.begin + listed.size)
        else:  # a false size, which must not cover others
            entry.size = max(0, (behind.offset if behind else size) - entry.begin)
        yield entry


def _searched(file: BinaryIO) -> Iterator[_ZipEntry]:
    """The entries that their headers show; one without a size goes up to the next."""
    before: _ZipEntry | None = None
    position, kept = 0, b""
    file.seek(0)
    while block := file.read(_STEP):
        data = kept + block
        for match in _ENTRY.finditer(data):
            entry = _headed(file, position - len(kept) + match.start())
            if before:
                before.size = before.size or entry.offset - before.begin
                yield before
            before = entry
        position += len(block)
        kept = data[-(_HEADER.size + len(FOLDER)) :]
        file.seek(position)
    if before:
        yield before


def _headed(file: BinaryIO, offset: int) -> _ZipEntry:
    """The entry whose header is at that offset."""
    header = b""
    if offset >= 0:  # a false list may say anything
        file.seek(offset)
        header = file.read(_HEADER.size)
    if len(header) < _HEADER.size or not header.startswith(ENTRY_MAGIC):
        return _ZipEntry("", offset, problem="no entry where the list says")
    _, _, flags, method, _, _, crc, size, _, name_size, extra_size = _HEADER.unpack(header)
    entry = _ZipEntry(file.read(name_size).decode("utf-8", "replace"), offset)
    entry.begin = offset + _HEADER.size + name_size + extra_size
    entry.size = None if flags & 8 or size == 2**32 - 1 else size
    entry.crc = None if flags & 8 else crc  # with that flag, after the bytes
    entry.deflated = method == zipfile.ZIP_DEFLATED
    if flags & 1:
        entry.problem = "encrypted"
    elif method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        entry.problem = f"compressed by method {method}"
    return entry


def _size_of(file: BinaryIO, entry: _ZipEntry) -> int:
    return entry.size if entry.size is not None else file.seek(0, io.SEEK_END) - entry.begin


def _stream(file: BinaryIO, entry: _ZipEntry) -> StoredPart | InflatedPart:
    size, sums = _size_of(file, entry), EntrySums(entry.crc, entry.sha256)
    if entry.deflated:
        return InflatedPart(FilePart(file, entry.begin, size), sums)
    return StoredPart(file, entry.begin, size, sums)
