"""The formats of archives: their names, the bytes they begin with and their readers, one row each.

A file's beginning decides how it is read. Names only tell which files of a folder are archives;
indexes (CDX) are read if they are named, and never come from a folder. A file that begins like no
row, a compressed one for instance, is searched for WARC and ARC records. WAT and WET files are WARC
files; the kind of their records tells them.

`container` says how an archive is made, by its beginning: packing, format of its records, frames.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO, NamedTuple

from crawlrank.jobs.kernel.archive.byte_runs import FrameSearch
from crawlrank.jobs.kernel.archive.cdx import WHAT as INDEX
from crawlrank.jobs.kernel.archive.cdx import index_records
from crawlrank.jobs.kernel.archive.cdx import kind_of as index_kind
from crawlrank.jobs.kernel.archive.damage import MAX_RECORD, Damage, shown
from crawlrank.jobs.kernel.archive.frames import (
    DICTIONARY_MAGIC,
    LONGEST_LINE,
    SUFFIXES,
    WARC_LINE,
    CompressedFrames,
)
from crawlrank.jobs.kernel.archive.range_lists import is_range_list, read_range_list
from crawlrank.jobs.kernel.archive.record_headers import read_header
from crawlrank.jobs.kernel.archive.records import EXPECTED, ArchiveRecords, Record, records_of
from crawlrank.jobs.kernel.archive.run_reader import ArchiveRange, RunReader
from crawlrank.jobs.kernel.archive.zip_files import ENTRY_MAGIC, LIST_END_MAGIC
from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError
from crawlrank.jobs.kernel.machine.shortage import shortage_of
from crawlrank.jobs.kernel.storage.opening import GZIP, binary_kind

RecordReader = Callable[..., Iterator[Record | Damage]]  # `read_records`, with its options


def read_records(
    stream: BinaryIO,
    name: str,
    *,
    max_record: int = MAX_RECORD,
    part: ArchiveRange | None = None,
    validators: bool = False,
) -> Iterator[Record | Damage]:
    """The records of a WARC or ARC file in the order of the file, and the damage between them.

    name: for messages. max_record: bytes of a block, and of a decoded body; memory stays within a
    few times that. part: of the file, with the order and damage of it alone. validators: of HTTP,
    among the fields of records. A stream that cannot seek is copied to a temporary file first.
    Raises BadInput if the file cannot be read, or not one record of it.
    """
    readable = False
    with _seekable(stream, name) as file:
        try:
            for item in records_of(file, max_record, part, validators=validators):
                readable = readable or isinstance(item, Record)
                yield item
            if not readable:
                file.seek(0)
                raise _without_records(name, file.read(64))
        except OSError as error:
            raise _unreadable(name, error) from error


def _read_warc(
    file: BinaryIO, name: str, reader: RecordReader, part: ArchiveRange | None = None
) -> Iterator[ArchiveRecords]:
    yield ArchiveRecords(name, reader(file, name, part=part))


def _read_wacz(file: BinaryIO, name: str, reader: RecordReader) -> Iterator[ArchiveRecords]:
    from crawlrank.jobs.kernel.archive.wacz import Wacz

    return Wacz(file, name, partial(reader, name=name)).archives()


class ArchiveFormat(NamedTuple):
    """what: the file and what it holds, for messages. beginnings: of the file, uncompressed.

    suffixes: of the names that are looked for in folders. packed: files of these names with a
    suffix of compression are looked for too. read: None for a format that is refused, for which
    `cure` says what to do.
    """

    what: str
    beginnings: tuple[bytes, ...] = ()
    read: Callable[[BinaryIO, str, RecordReader], Iterator[ArchiveRecords]] | None = None
    suffixes: tuple[str, ...] = ()
    packed: bool = True
    cure: str = ""


WARC = ArchiveFormat("a WARC file", (b"WARC/",), _read_warc, (".warc",))
WAT = ArchiveFormat(
    "a WAT file, without the text of its pages", WARC.beginnings, _read_warc, (".wat",)
)
WET = ArchiveFormat(
    "a WET file, with the text of pages and no links", WARC.beginnings, _read_warc,
    cure="Give the WARC or the WAT of the same pages.",
)  # fmt: skip
WACZ = ArchiveFormat("a WACZ", (ENTRY_MAGIC, LIST_END_MAGIC), _read_wacz, (".wacz",), packed=False)
FORMATS = (
    WARC,
    ArchiveFormat("an ARC file", (b"filedesc:",), _read_warc, (".arc",)),
    WAT,
    WACZ,
    WET,
    ArchiveFormat(f"{INDEX}, and not one readable record", (b" CDX ",), cure="Leave it out."),
    ArchiveFormat("a zip file", (ENTRY_MAGIC,), cure="Unzip it."),
    ArchiveFormat("a bzip2 file", (b"BZh",), cure="Unpack it with `bunzip2`."),
    ArchiveFormat("an xz file", (b"\xfd7zXZ",), cure="Unpack it with `unxz`."),
)
_ENDINGS = tuple(
    suffix + compression
    for row in FORMATS
    for suffix in row.suffixes
    for compression in ("", *(SUFFIXES if row.packed else ()))
)


def _patterns(*, packed: bool) -> str:
    return ", ".join(f"*{name}" for row in FORMATS if row.packed == packed for name in row.suffixes)


NAMES = (  # for messages
    f"{_patterns(packed=True)} (also with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]})"
    f" and {_patterns(packed=False)}"
)


def has_archive_name(name: str) -> bool:
    return not name.startswith(".") and name.lower().endswith(_ENDINGS)


def read_archives(
    stream: BinaryIO,
    name: str,
    *,
    max_record: int,
    part: ArchiveRange | None = None,
    validators: bool = False,
) -> Iterator[ArchiveRecords]:
    """The archive itself or, of a WACZ, those in it as `NAME!archive/x.warc.gz`. part: of a file
    that is no WACZ. validators: as in `read_records`.

    Raises BadInput where nothing can be read, as `read_records` does, while items are read.
    """
    reader = partial(read_records, max_record=max_record, validators=validators)
    record_read = getattr(getattr(stream, "raw", None), "record_read", None)  # WebFile's
    with _seekable(stream, name) as file:
        archives = _archives(file, name, reader, part)
        if record_read is None:
            yield from archives
            return
        for archive in archives:
            yield archive._replace(items=_noted(archive.items, record_read))


def _archives(
    file: BinaryIO, name: str, reader: RecordReader, part: ArchiveRange | None
) -> Iterator[ArchiveRecords]:
    if part is not None:
        yield from _read_warc(file, name, reader, part)
        return
    if kind := index_kind(file):
        yield ArchiveRecords(name, index_records(file, name, kind), is_index=True)
        return
    if is_range_list(name, file):
        yield from read_range_list(file, name, reader)
        return
    head = file.read(16)
    file.seek(0)
    readers = (row.read for row in FORMATS if row.read and head.startswith(row.beginnings))
    yield from next(readers, _read_warc)(file, name, reader)


def _noted(
    items: Iterator[Record | Damage], record_read: Callable[[], None]
) -> Iterator[Record | Damage]:
    """The items. Calls the function at each record: damage is no progress."""
    for item in items:
        if isinstance(item, Record):
            record_read()
        yield item


@contextmanager
def _seekable(stream: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """The stream itself, or a temporary copy of one that cannot seek. Raises BadInput."""
    if stream.seekable():
        yield stream
        return
    import shutil  # takes longer to load than a small archive to read

    from crawlrank.jobs.kernel.storage.temporary import temporary_file

    with temporary_file() as copy:
        try:
            shutil.copyfileobj(stream, copy)
        except OSError as error:
            raise _unreadable(name, error) from error
        copy.seek(0)
        yield copy


def _unreadable(name: str, error: OSError) -> CrawlrankError:
    if shortage := shortage_of(error):  # such as a full disk of temporary files
        return shortage
    return BadInput(name, f"cannot be read ({error})", EXPECTED, "Copy it again.")


def empty_file(name: str) -> BadInput:
    """The fault of an archive without a byte."""
    return BadInput(name, "an empty file", EXPECTED, "Copy it again, or leave it out.")


def _without_records(name: str, head: bytes) -> BadInput:
    if not head:
        return empty_file(name)
    for row in FORMATS:
        if not row.read and head.startswith(row.beginnings):
            return BadInput(name, row.what, EXPECTED, row.cure)
    if kind := binary_kind(head):
        if not head.startswith(GZIP):
            return BadInput(name, kind[0], EXPECTED, "Leave it out.")
    elif name.lower().endswith(".gz"):
        what = f"{shown(head)} at its beginning: " if _is_text(head) else ""
        what += "no gzip, although its name ends in .gz"
        return BadInput(name, what, EXPECTED, "Copy it again, or leave it out.")
    what = f"{shown(head)} at its beginning" if _is_text(head) else "bytes that are no text"
    if frame := CompressedFrames().open(head):
        what = f"{'an' if frame.name == 'lz4' else 'a'} {frame.name} file"
    return BadInput(name, f"{what}, and not one readable record", EXPECTED, "Leave it out.")


def _is_text(head: bytes) -> bool:
    """Whether bytes at a beginning are UTF-8 without control characters; the last may be cut."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head)
    return all(char.isprintable() or char in "\t\r\n" for char in text.removeprefix("\ufeff")) and (
        "\ufffd" not in text
    )


class Container(NamedTuple):
    """'' for what the beginning does not show.

    packing: plain, gzip, zstd, lz4 or zip (a WACZ). records: `WARC/1.1` and the like, `ARC/1`, or
    the kind of an index (index/files.py).
    frames: `record` if the first frame ends with its first record, as random access needs it, else
    `shared`; '' without frames.
    """

    packing: str = ""
    records: str = ""
    frames: str = ""


def container(stream: BinaryIO, max_record: int = MAX_RECORD) -> Container:
    """How the archive in a stream that can seek is made. Leaves it at its beginning. Raises
    OSError."""
    stream.seek(0)
    head = stream.read(16)
    if head.startswith(WACZ.beginnings):
        stream.seek(0)
        return Container("zip")
    packing = _packing(head)
    if kind := index_kind(stream):
        return Container(packing or "plain", kind)
    records, frames = _first_record(RunReader(stream, max_record), max_record)
    stream.seek(0)
    return Container(packing or ("plain" if records else ""), records, frames if packing else "")


def _packing(head: bytes) -> str:
    if head.startswith(DICTIONARY_MAGIC):
        return "zstd"
    inflater = CompressedFrames().open(head)
    return inflater.name if inflater else ""


def _first_record(reader: RunReader, max_record: int) -> tuple[str, str]:
    """Format of the first record, and frames as in `Container`."""
    run = reader.next_run()
    if run is None or isinstance(run, FrameSearch):
        return "", ""
    run.skip_blank_lines()
    head = run.peek(LONGEST_LINE)
    header = read_header(run)
    if header is None:
        return "", ""
    run.skip(header.size)
    records = f"ARC/{_digit(run.peek(1))}"
    if not header.arc:
        line = WARC_LINE.match(head)
        records = line[0].split()[0].decode("latin-1").upper() if line else ""
    if header.length is None or header.length > max_record or not run.skip(header.length):
        return records, ""
    run.skip_blank_lines()
    return records, "shared" if run.peek(1) else "record"


def _digit(version: bytes) -> str:
    """The version of an ARC; its first record begins with it."""
    return version.decode() if version in (b"1", b"2") else "?"
