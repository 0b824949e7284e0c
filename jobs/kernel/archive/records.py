"""Records of WARC (0.17 to 1.1) and ARC (1 and 2) files: plain, or gzip, zstd or lz4, in one frame
a record, in one for many, or in many for one.

The format is told by content, never by name. Damage costs what is damaged and nothing behind it:
a record that does not end where its length says ends where the next begins, and after a broken
frame reading goes on at the next that holds a record. warcio's iterator does neither: it
raises on such files, prints, and reads lines of any length; so it serves as the tests' oracle.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from jobs.kernel.archive.byte_runs import FrameSearch, Run
from jobs.kernel.archive.damage import MAX_RECORD, Damage, shown
from jobs.kernel.archive.frames import Frames
from jobs.kernel.archive.http_payload import MAX_HTTP_HEADER, decode, split_message
from jobs.kernel.archive.record_headers import (
    Fields,
    Header,
    first,
    read_header,
    timestamp14,
    unbracketed,
    whole_record_header,
)
from jobs.kernel.archive.record_starts import LONGEST_LINE
from jobs.kernel.archive.run_reader import RunReader
from jobs.kernel.errors import BadInput
from jobs.kernel.storage.endless import require_file

LONGEST_TYPE = 1024  # characters of a media type with its parameters: a thousand are remembered
EXPECTED = "a WARC or ARC file, plain, gzip, zstd or lz4"

_OTHER_FORMATS = {
    b"PK\x03\x04": ("a zip file", "Unzip it."),
    b"BZh": ("a bzip2 file", "Unpack it with `bunzip2`."),
    b"\xfd7zXZ": ("an xz file", "Unpack it with `unxz`."),
}


class Record(NamedTuple):
    """One record; '' where a field is unknown.

    kind: WARC-Type in lower case; records of an ARC are responses, its file header a warcinfo.
    status: of the HTTP response, None without an HTTP header. media_type: the value with its
    parameters, of the HTTP header if there is one, else of the record. body: decoded, empty if the
    record is larger than the limit. offset: see byte_runs.py. size: bytes of the record
    in the archive, inflated, header and block.
    """

    kind: str
    uri: str
    timestamp: str
    media_type: str
    body: bytes
    offset: int
    status: int | None = None
    http_headers: Fields = []  # noqa: RUF012 (a NamedTuple's default; nobody changes it)
    record_id: str = ""
    concurrent_to: tuple[str, ...] = ()
    refers_to: str = ""
    digest: str = ""
    size: int = 0
    refers_to_uri: str = ""
    refers_to_timestamp: str = ""


_make = partial(tuple.__new__, Record)  # in half the time of Record(…)


def open_archive(path: str | os.PathLike[str]) -> BinaryIO:
    """The file as a stream of bytes; BadInput if it cannot be opened, or is none."""
    require_file(path, EXPECTED)
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise BadInput(
            str(path), f"cannot be opened ({error.strerror})", EXPECTED, "Check name and rights."
        ) from error


def read_records(
    stream: BinaryIO, name: str, *, max_record: int = MAX_RECORD
) -> Iterator[Record | Damage]:
    """The records of an archive in the order of the file, and the damage between them.

    name: for messages. max_record: bytes of a block, and of a decoded body; memory stays within a
    few times that. A stream that cannot seek is copied to a temporary file first.
    Raises BadInput if the file cannot be read or has not one readable record.
    """
    found = False
    with seekable(stream, name) as file:
        try:
            for item in _read_file(file, max_record):
                found = found or isinstance(item, Record)
                yield item
            if not found:
                file.seek(0)
                raise _no_archive(name, file.read(64))
        except OSError as error:
            raise _unreadable(name, error) from error


@contextmanager
def seekable(stream: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """The stream itself, or a temporary copy of one that cannot seek. Raises BadInput."""
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile() as copy:
        try:
            shutil.copyfileobj(stream, copy)
        except OSError as error:
            raise _unreadable(name, error) from error
        copy.seek(0)
        yield copy


def _unreadable(name: str, error: OSError) -> BadInput:
    return BadInput(name, f"cannot be read ({error})", EXPECTED, "Copy it again.")


def _no_archive(name: str, head: bytes) -> BadInput:
    if not head:
        return BadInput(name, "an empty file", EXPECTED, "Copy it again, or leave it out.")
    for magic, (found, cure) in _OTHER_FORMATS.items():
        if head.startswith(magic):
            return BadInput(name, found, EXPECTED, cure)
    what = f"{shown(head)} at its beginning"
    if frame := Frames().open(head):
        what = f"{'an' if frame.name == 'lz4' else 'a'} {frame.name} file"
    return BadInput(name, f"{what}, and not one readable record", EXPECTED, "Leave it out.")


def _read_file(file: BinaryIO, max_record: int) -> Iterator[Record | Damage]:
    reader = RunReader(file, max_record)
    while True:
        yield from _read_whole(reader, max_record)
        run = reader.next_run()
        if not run:
            break
        if isinstance(run, FrameSearch):
            run.take_until_start(0)
            if run.peek(1):
                reader.leave(run.offset)
        else:
            yield from _read_run(run, reader, max_record)
        yield from reader.take_damage()
    yield from reader.take_damage()


def _read_whole(reader: RunReader, max_record: int) -> Iterator[Record | Damage]:
    """Records of a frame each, as long as nothing is strange about them."""
    while whole := reader.next_whole():
        offset, data = whole
        header = whole_record_header(data)
        if header is None or header.length is None or header.length > max_record:
            reader.again(offset)
            return
        end = header.size + header.length
        record, damage = _record(header, data[header.size : end], offset, end, max_record)
        del data  # it would live on while the record is used
        for kind, detail in damage:
            yield Damage(offset, kind, detail)
        yield record
        yield from reader.take_damage()


def _read_run(run: Run, reader: RunReader, max_record: int) -> Iterator[Record | Damage]:
    for count in itertools.count():
        if not run.skip_blank_lines() or reader.flooded(run, count):
            return
        if run.at_frame():
            reader.leave(run.offset)
            return
        header = read_header(run)
        if header is None:
            yield Damage(run.offset, "bad-header", shown(run.peek(60)))
            run.skip(1)
            run.take_until_start(0)
        else:
            yield from _read_record(run, header, reader, max_record)


def _read_record(
    run: Run, header: Header, reader: RunReader, max_record: int
) -> Iterator[Record | Damage]:
    run.arc_seen, run.warc_seen = run.arc_seen or header.arc, run.warc_seen or not header.arc
    offset, place = run.offset, run.place
    run.skip(header.size)
    if not header.complete:  # its last field may be cut, even the URI
        yield Damage(offset, "truncated", shown(header.uri.encode("utf-8", "replace")))
        return
    if header.length is None:
        block, reason = run.take_until_start(max_record).rstrip(b"\r\n"), "bad-length"
    elif header.length > max_record:
        block, reason = _large_block(run, header.length, reader, max_record)
    else:
        block, reason = _block(run, header.length, reader, max_record)
    if reason:
        yield Damage(offset, reason, shown(header.uri.encode("utf-8", "replace")))
    record, damage = _record(header, block, offset, run.place - place, max_record)
    del block  # it would live on while the record is used
    if reason == "record-too-large":
        yield record._replace(body=b"")
        return
    yield from (Damage(offset, kind, detail) for kind, detail in damage)
    yield record


def _block(run: Run, length: int, reader: RunReader, max_record: int) -> tuple[bytes, str]:
    """(the bytes of a record, reason of damage or ''), its length believed if it fits.

    A length is right if a record follows, or the two empty lines that end a WARC record (then
    garbage follows). Otherwise the block ends where in it, or behind it, the next record starts.
    """
    if reader.rereads <= 0:
        block = run.take_until_start(max_record)
        return block[:length], "" if length <= len(block) <= length + 4 else "bad-length"
    block = run.take(length)
    if len(block) == length and (run.ends_well() or run.peek(4) == b"\r\n\r\n"):
        return block, ""
    place = run.find_in(block + run.peek(LONGEST_LINE))  # a start may lie across the end
    reader.rereads -= len(block)
    if 0 <= place < len(block):
        run.push_back(block[place:])
        return block[:place].rstrip(b"\r\n"), "bad-length"
    if len(block) < length:
        return block.removesuffix(b"\r\n\r\n"), "truncated"
    if run.peek(1) in (b"\r", b"\n"):
        return block, ""
    return block + run.take_until_start(max_record - length).rstrip(b"\r\n"), "bad-length"


def _large_block(run: Run, length: int, reader: RunReader, max_record: int) -> tuple[bytes, str]:
    """As `_block`, for a length over the limit: only the beginning, for its HTTP header."""
    place, head = run.place, run.peek(MAX_HTTP_HEADER)
    if reader.rereads > 0:
        whole = run.skip(length)
        if whole and (run.ends_well() or run.peek(4) == b"\r\n\r\n"):
            return head, "record-too-large"
        reader.rereads -= run.place if not run.plain else run.place - place
        run.rewind(place)
    return run.take_until_start(max_record).rstrip(b"\r\n"), "bad-length"


def _record(
    header: Header, block: bytes, offset: int, size: int, max_record: int
) -> tuple[Record, list[tuple[str, str]]]:
    """The record, and (reason, detail) of what of its body does not decode."""
    media_type, body, status = header.media_type, block, None
    fields: Fields = []
    damage: list[tuple[str, str]] = []
    is_http = media_type.lower().startswith("application/http")
    if header.kind in ("response", "revisit") or (is_http and header.kind != "request"):
        status, fields, payload = split_message(block)
        body, damage = decode(fields, payload, max_record)
        if fields or is_http:
            media_type = first(fields, "content-type")
    media_type = media_type[:LONGEST_TYPE]
    value = header.values.get
    record = (
        *(header.kind, header.uri, header.timestamp),
        *(media_type, body, offset, status, fields),
        value("warc-record-id", ""),
        header.concurrent_to,
        value("warc-refers-to", ""),
        value("warc-payload-digest", ""),
        size,
        unbracketed(value("warc-refers-to-target-uri", "")),
        timestamp14(value("warc-refers-to-date", "")),
    )
    return _make(record), damage
