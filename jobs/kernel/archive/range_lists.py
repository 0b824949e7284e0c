"""Lists of ranges: the records that an index of captures names, read from where they are.

A list is text. Its first line is HEAD, and each of the others is JSON:

    {"line": 17, "offset": 4711, "wrong": "no filename"}
    {"archive": "https://host/a.warc.gz", "ranges": [[1000, 250], [9000, 310]]}
    {"archive": "/crawl/b.warc.gz", "ranges": [[0, 812]], "fingerprint": "5f0c…"}

The first is a line of the index that names no record: its number, its offset, and what is wrong.
Others are archives by path or URL, with the first byte and the number of bytes of each range. The
fingerprint of a file is a digest of its size and some pieces: another one makes another list.
A range holds one record or several, whole. The records of an archive are read as those of the
archive itself, with its name and their offsets in it. Nothing beside the ranges is read, but the
dictionary at the beginning of a `.warc.zst`.

`crawlrank run` writes lists from an index. A file that comes from elsewhere must not name files of
this machine, so a list is known by its name, which no folder is searched for, and only on a disk.

Ranges are fetched ahead by threads, because a store takes its time for each. Memory: AT_ONCE ranges
and one of at most PIECE bytes; a longer one is copied to a temporary file.
"""

from __future__ import annotations

import io
import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from typing import Any, BinaryIO, NamedTuple, cast

from crawlrank.jobs.kernel.archive.cdx import lines_of
from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.frames import DICTIONARY_MAGIC, LONGEST_DICTIONARY, skippable
from crawlrank.jobs.kernel.archive.records import EXPECTED, ArchiveRecords, Record
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.shortage import shortage_of
from crawlrank.jobs.kernel.storage.opening import (
    PathOrUrl,
    absolute,
    as_path_or_url,
    is_url,
    name_of,
    open_binary,
    read_range,
)
from crawlrank.jobs.kernel.storage.temporary import temporary_file

SUFFIX = ".ranges"
HEAD = b"crawlrank ranges"
AT_ONCE = 4
PIECE = 1 << 24  # bytes that are held in memory
_NEAR = (io.FileIO, io.BytesIO)  # of a disk, or in memory
CURE = "Look at the index, and at --prefix."
BASE = "https://data.commoncrawl.org/"
_LINE = re.compile(rb"^(?:\S+ [0-9]{14,} +)?\{\s*\"", re.MULTILINE)

RangeItems = Iterator[Record | Damage]


class IndexOfRanges(NamedTuple):
    """An index that is given as a list of archives. base: the folder or URL of its archives."""

    index_file: PathOrUrl
    base: str


def base_of(prefix: str) -> str:
    """The folder or URL of archives, for a prefix that ends in a slash, or is ''."""
    return (prefix or BASE) if is_url(prefix or BASE) else f"{absolute(prefix)}/"


def begins_as_index(head: bytes) -> bool:
    """Whether a list of archives that begins so is an index."""
    return bool(_LINE.search(head))


class WrongLine(NamedTuple):
    """A line of an index that names no record. number: from 1 on. offset: in the index, in
    bytes."""

    number: int
    offset: int
    what: str
    archive: str = ""

    def written(self) -> bytes:
        return _line({"line": self.number, "offset": self.offset, "wrong": self.what})


class ArchiveRanges(NamedTuple):
    """Ranges of an archive, each its first byte and its number of bytes, ascending and apart.
    fingerprint: '' where it is not known."""

    archive: str
    ranges: Sequence[Sequence[int]]
    fingerprint: str = ""

    def written(self) -> bytes:
        document: dict[str, Any] = {"archive": self.archive, "ranges": self.ranges}
        if self.fingerprint:
            document["fingerprint"] = self.fingerprint
        return _line(document)


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode() + b"\n"


def is_range_list(name: str, stream: BinaryIO) -> bool:
    """Whether a file of this name, at its beginning, is a list of ranges. Leaves it there."""
    if not name.endswith(SUFFIX) or not isinstance(getattr(stream, "raw", stream), _NEAR):
        return False
    head = stream.read(len(HEAD))
    stream.seek(0)
    return head == HEAD


def read_range_list(
    file: BinaryIO, name: str, read: Callable[[BinaryIO, str], RangeItems]
) -> Iterator[ArchiveRecords]:
    """The records of each archive of a list, in its order, and first what is wrong in the index.
    read: gives the records of a stream, which has a name for messages. Raises BadInput for a list
    without a record, and for a range that cannot be read."""
    reader = _RangeReader(read)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        fetched = _fetched(_entries(file, name), threads)
        for archive, entries in groupby(fetched, key=lambda entry: entry.archive):
            yield ArchiveRecords(name_of(archive) if archive else name, reader.items(entries))
    if not reader.records_seen:
        what = "ranges of an index without a readable record"
        raise BadInput(name, what, EXPECTED, CURE)


class _FetchedRange(NamedTuple):
    """A range of an archive, and a stream of its bytes, shorter where the archive ends in it. They
    come after a number of other bytes."""

    archive: str
    begin: int
    stream: Future[tuple[BinaryIO, int]]


class _RangeReader:
    """records_seen: whether a range had a record."""

    def __init__(self, read: Callable[[BinaryIO, str], RangeItems]) -> None:
        self._read = read
        self.records_seen = False

    def items(self, entries: Iterator[_FetchedRange | WrongLine]) -> RangeItems:
        for entry in entries:
            if isinstance(entry, WrongLine):
                yield Damage(entry.offset, "bad-line", f"line {entry.number:,}: {entry.what}")
            else:
                yield from self._records(entry)

    def _records(self, entry: _FetchedRange) -> RangeItems:
        """The records of a range and the damage in it, by their offsets in the archive."""
        shown = name_of(entry.archive)
        stream, before = _stream(entry)
        with stream:
            try:
                for item in self._read(stream, shown):
                    offset = item.offset - before + entry.begin
                    if isinstance(item, Damage):
                        where = f"{shown}: {item.detail}" if item.detail else shown
                        yield item._replace(offset=offset, detail=where)
                    else:
                        self.records_seen = True
                        yield item._replace(offset=offset)
            except BadInput as unreadable:
                yield Damage(entry.begin, "bad-range", f"{shown}: {unreadable.found}")


def _stream(entry: _FetchedRange) -> tuple[BinaryIO, int]:
    """Raises BadInput for a range that cannot be read."""
    try:
        return entry.stream.result()
    except OSError as error:
        if shortage_of(error):
            raise
        what = f"{name_of(entry.archive)} cannot be read ({error.strerror or error})"
        raise BadInput(
            entry.archive, what, EXPECTED, "Look at the index, and at --prefix."
        ) from error


def _fetched(
    entries: Iterator[ArchiveRanges | WrongLine], threads: ThreadPoolExecutor
) -> Iterator[_FetchedRange | WrongLine]:
    """The ranges in their order, of which some are fetched ahead."""
    ahead = deque[_FetchedRange | WrongLine]()
    for entry in entries:
        if isinstance(entry, WrongLine):
            yield entry
            continue
        dictionary = threads.submit(_dictionary_of, entry.archive)
        for begin, size in entry.ranges:
            stream = threads.submit(_fetch, entry.archive, begin, size, dictionary)
            ahead.append(_FetchedRange(entry.archive, begin, stream))
            if len(ahead) > AT_ONCE:
                yield ahead.popleft()
    yield from ahead


def _dictionary_of(archive: str) -> bytes:
    """The frame of the dictionary that frames of the archive need, b"" if there is none."""
    if not archive.endswith(".zst"):
        return b""
    head = _bytes_at(archive, 0, 8)
    size = skippable(head) if head.startswith(DICTIONARY_MAGIC) else 0
    return _bytes_at(archive, 0, size) if 0 < size <= 8 + LONGEST_DICTIONARY else b""


def _fetch(archive: str, begin: int, size: int, dictionary: Future[bytes]) -> tuple[BinaryIO, int]:
    """A range after the dictionary, and the length of that."""
    before = dictionary.result() if begin else b""  # which was asked for before
    if size <= PIECE:
        return io.BytesIO(before + _bytes_at(archive, begin, size)), len(before)
    copy = temporary_file()
    copy.write(before)
    end = begin + size
    while begin < end and (data := _bytes_at(archive, begin, min(PIECE, end - begin))):
        copy.write(data)
        begin += len(data)
    copy.seek(0)
    return cast(BinaryIO, copy), len(before)


def _bytes_at(archive: str, begin: int, count: int) -> bytes:
    path = as_path_or_url(archive)
    if is_url(path):
        return read_range(path, begin, count)
    with open_binary(path) as file:
        file.seek(begin)
        return file.read(count)


def _entries(file: BinaryIO, name: str) -> Iterator[ArchiveRanges | WrongLine]:
    """What the lines after the first say. Raises BadInput for one that crawlrank has not
    written."""
    for offset, line in lines_of(file):
        if not offset:
            continue
        try:
            document = json.loads(line) if isinstance(line, bytes) else {}
            if "wrong" in document:
                yield WrongLine(document["line"], document["offset"], document["wrong"])
            else:
                yield ArchiveRanges(document["archive"], document["ranges"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            cure = "Give the index again, which writes it anew."
            raise BadInput(name, "a list of ranges that has changed", EXPECTED, cure) from error
