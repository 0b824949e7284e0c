"""Where a large archive may be cut into ranges that are extracted apart, and whether they fit.

A cut is where a record begins whose URI is another than that of the record before it, so that what
belongs to a capture stays together. Whether that is so everywhere shows only when the ranges have
been read: where they do not fit (`fit`), the archive has to be read as a whole. In an archive whose
metadata records come before their captures they never would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import BinaryIO, cast

from crawlrank.jobs.kernel.archive.cdx import kind_of as index_kind
from crawlrank.jobs.kernel.archive.metadata import is_metadata, is_of_heritrix
from crawlrank.jobs.kernel.archive.records import Record, records_of
from crawlrank.jobs.kernel.archive.run_reader import REREADS, ArchiveRange
from crawlrank.jobs.kernel.archive.sources import WACZ

_REACH = 1 << 22  # bytes after an offset in which a cut is looked for
_LOOKED_AT = 100  # records after the size that a range is meant to have


def ranges_of(file: BinaryIO, max_record: int, size: int) -> list[ArchiveRange]:
    """Ranges of some `size` bytes, in the order of the file; a single one where it is not known how
    to cut the file. Raises OSError."""
    total = file.seek(0, 2)
    begins, as_heritrix = [0], False
    if not (index_kind(file) or _begins(file).startswith(WACZ.beginnings)):
        as_heritrix = _is_of_heritrix(file, max_record, total)
        for wanted in range(size, total - size // 2, size):
            try:
                cut = _cut(file, max_record, wanted, wanted + size, joined=True)
            except _MetadataFirst:
                return [ArchiveRange()]
            if cut > begins[-1]:
                begins.append(cut)
    ends = [*begins[1:], ArchiveRange().end]
    return [
        ArchiveRange(begin, end, as_heritrix=as_heritrix and begin > 0)
        for begin, end in zip(begins, ends, strict=True)
    ]


def piece_of(
    file: BinaryIO, max_record: int, begin: int, end: int, size: int
) -> ArchiveRange | None:
    """The records from the first cut after one offset to the first after another; the range is
    empty where both are the same. size: of the file. None where the file has no cut, as one that is
    compressed as a whole. Raises OSError."""
    first = _cut(file, max_record, begin, begin + _REACH) if begin else 0
    if begin and not first:
        return ArchiveRange(begin, begin) if _cut(file, max_record, 0, _REACH) else None
    if end >= size:
        return ArchiveRange(first, size)
    last = _cut(file, max_record, end, end + _REACH)
    if not last and not begin and not _cut(file, max_record, 0, _REACH):
        return None
    return ArchiveRange(first, max(first, last or end))  # at worst a record is cut short


def head_of(file: BinaryIO, max_record: int) -> int:
    """How many bytes come before the first capture: what says who wrote the archive, and the
    dictionary of its frames. Raises OSError."""
    for record in _records(file, max_record, 0, _REACH):
        if record is None:
            break
        if record.kind != "warcinfo":
            return record.offset
    return 0


def fit(ranges: Sequence[ArchiveRange]) -> bool:
    """Whether these, which have been read, give together what the archive gives as a whole."""
    return (
        all(part.alone for part in ranges)
        and all(part.behind == following.begin for part, following in pairwise(ranges))
        and len({part.as_heritrix for part in ranges}) == 1
        and not (any(part.has_arc for part in ranges) and any(part.has_warc for part in ranges))
        and sum(part.rereads for part in ranges) < REREADS
    )


class _MetadataFirst(Exception):
    """An archive whose metadata records come before their captures."""


class _Beginning:
    """A file that ends at an offset, so that no search continues for long."""

    def __init__(self, file: BinaryIO, end: int) -> None:
        self._file, self._end = file, end

    def seek(self, position: int) -> int:
        return self._file.seek(position)

    def read(self, count: int) -> bytes:
        return self._file.read(max(0, min(count, self._end - self._file.tell())))


def _begins(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(16)


def _records(file: BinaryIO, max_record: int, begin: int, end: int) -> Iterator[Record | None]:
    """Some records from an offset on; None for damage."""
    beginning = cast(BinaryIO, _Beginning(file, end))
    for item in islice(records_of(beginning, max_record, ArchiveRange(begin)), _LOOKED_AT):
        yield item if isinstance(item, Record) else None


def _is_of_heritrix(file: BinaryIO, max_record: int, end: int) -> bool:
    """What the warcinfo records at the beginning say."""
    as_heritrix = False
    for record in _records(file, max_record, 0, end):
        if record is None or record.kind != "warcinfo":
            break
        as_heritrix = is_of_heritrix(record.body)
    return as_heritrix


def _cut(file: BinaryIO, max_record: int, begin: int, end: int, *, joined: bool = False) -> int:
    """The first offset between these two where the archive may be cut, 0 if none is seen. joined:
    whether the ranges are to give together what the archive gives."""
    before: Record | None = None
    for record in _records(file, max_record, begin, end):
        if record is None:
            before = None
            continue
        if before is not None and before.uri != record.uri:
            if joined and is_metadata(record):
                raise _MetadataFirst
            if _begins_range(file, max_record, record, end):
                return record.offset
        before = record
    return 0


def _begins_range(file: BinaryIO, max_record: int, record: Record, end: int) -> bool:
    """Whether reading can begin with this record: its offset may be one in inflated bytes."""
    first = next(_records(file, max_record, record.offset, end), None)
    return first is not None and (first.offset, first.uri) == (record.offset, record.uri)
