"""Records of WARC (0.17 to 1.1) and ARC (1 and 2) files: plain, gzip, zstd or lz4, with a frame for
each record, one for many, or many for one.

The content decides the format, never the name. Damage costs what is damaged and nothing after it.
A record that does not end where its length says ends where the next begins. After a broken frame,
reading continues at the next frame that holds a record. warcio's iterator does neither: it raises
on such files, prints, and reads lines of any length. It is the tests' oracle for good files.

ResponseReader reads ordinary responses, which most records are: WARC records, a frame each, without
a field that is unusual or repeated in their headers. The slower way reads all others; it would give
the same for these, in twice the time.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO, NamedTuple

from crawlrank.jobs.kernel.archive.byte_runs import ByteRun, FrameSearch
from crawlrank.jobs.kernel.archive.damage import Damage, shown
from crawlrank.jobs.kernel.archive.frames import LONGEST_LINE, WARC_LINE
from crawlrank.jobs.kernel.archive.http_payload import (
    HTTP_NAMES,
    MAX_HTTP_HEADER,
    PACKED,
    VALIDATORS,
    content_type,
    decode,
    media_type,
    split_message,
    status_of,
)
from crawlrank.jobs.kernel.archive.record_headers import (
    MOST_ROWS,
    RECORD_NAMES,
    RESPONSE_SCAN,
    Fields,
    Header,
    name_table,
    read_header,
    timestamp14,
    unbracketed,
    whole_record_header,
)
from crawlrank.jobs.kernel.archive.run_reader import FEW_RECORDS, ArchiveRange, RunReader
from crawlrank.jobs.kernel.formats.rows import method_of
from crawlrank.jobs.kernel.machine.native import NativeFunction

ResponseRead = tuple[tuple[Any, ...], list[tuple[str, str]]]
_RARE = 10  # positions of the fields that an ordinary response does not have
_TYPE, _END = HTTP_NAMES[0], b"\r\n\r\n"
_NONE: list[tuple[str, str]] = []  # nobody changes it


class ResponseReader:
    """Reads both headers of a record by one call of machine code. more: names of fields of HTTP,
    beside HTTP_NAMES."""

    def __init__(self, more: tuple[str, ...] = ()) -> None:
        self._names = names = HTTP_NAMES + more
        counts = (len(RECORD_NAMES), len(names), MOST_ROWS, LONGEST_LINE, MAX_HTTP_HEADER)
        slots = array("q", bytes(16 * (2 + len(RECORD_NAMES) + len(names))))
        rows = array("q", bytes(24 * MOST_ROWS))
        self._room = name_table(RECORD_NAMES + names), array("q", counts), rows, slots
        self._addresses = [room.buffer_info()[0] for room in self._room]
        self._slots = memoryview(slots)
        self._scan: NativeFunction | None = None

    def read(self, offset: int, data: bytes, max_record: int) -> ResponseRead | None:
        """The fields of the record that is exactly these bytes, and the damage to its body; None
        if it is no ordinary response."""
        scan = self._scan = self._scan or RESPONSE_SCAN.ready()
        block, end = scan(data, len(data), *self._addresses), len(data) - 4
        if block < 0 or end - block > max_record or not WARC_LINE.match(data):
            return None
        (
            _, http_end, line, line_end, kind, kind_end, uri, uri_end, date, date_end, _, _,
            length, length_end, name, name_end, digest, digest_end, *others,
        ) = self._slots.tolist()  # fmt: skip
        text = data[:http_end].decode("ascii")
        if (
            text[kind:kind_end] != "response" or text[length:length_end] != str(end - block)
            or data[end:] != _END or max(others[:_RARE]) >= 0
        ):  # fmt: skip
            return None
        fields = _fields_of(text, others[_RARE:], self._names)
        status = status_of(text[line:line_end])
        if status and status < 200:  # an interim response, after which is another
            return None
        body, damage, stated = data[http_end:end], _NONE, text[digest:digest_end]
        if len(fields) > 1 or fields[0][0] != _TYPE or body.startswith(PACKED):
            body, damage, stated = decode(fields, body, max_record, stated)
        record = (
            "response", unbracketed(text[uri:uri_end]), timestamp14(text[date:date_end]),
            content_type(fields), body, offset, status, fields, text[name:name_end], (), "",
            stated, end, "", "", "",
        )  # fmt: skip
        return record, damage


def _fields_of(text: str, spans: list[int], names: tuple[str, ...]) -> Fields:
    """The fields of HTTP in their order. spans: begin and end of the value of each name."""
    if max(spans[2:]) < 0:  # nearly all
        return [(_TYPE, text[spans[0] : spans[1]])]
    placed = sorted(zip(spans[::2], spans[1::2], names, strict=True))
    return [(name, text[begin:end]) for begin, end, name in placed if begin >= 0]


EXPECTED = "a WARC or ARC file, plain, gzip, zstd or lz4"
_AT_A_TIME, _AT_A_TIME_BYTES = 128, 2**20  # records, and bytes of records


class Record(NamedTuple):
    """One record; '' where a field is unknown.

    kind: WARC-Type in lower case; records of an ARC are responses, its file header a warcinfo.
    status: of the HTTP response, None without an HTTP header. media_type: with its parameters, of
    the HTTP header if there is one, else of the record. http_headers: at least the fields that say
    something about links and codings and, where asked for, about versions. body: decoded, empty if
    the record is larger than the limit. offset: see byte_runs.py. size: inflated bytes of header
    and block. method: of HTTP, of a request and of the answer to it; '' if it is GET, or unknown.
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
    method: str = ""


class ArchiveRecords(NamedTuple):
    """name: for captures. items: all of them must be read before the next archive is. is_index:
    whether they are those of an index, without bodies. titles: what a package says of its pages, by
    URI; to be called before items are read."""

    name: str
    items: Iterator[Record | Damage]
    is_index: bool = False
    titles: Callable[[], Mapping[bytes, str]] = dict


RecordRead = tuple[Record, list[tuple[str, str]]]  # with (reason, detail) of damage in its body
_make = partial(tuple.__new__, Record)  # half the time of Record(…)
_read_response, _read_validated = ResponseReader().read, ResponseReader(VALIDATORS).read


def records_of(
    file: BinaryIO, max_record: int, part: ArchiveRange | None = None, *, validators: bool = False,
    few: int = FEW_RECORDS,
) -> Iterator[Record | Damage]:  # fmt: skip
    """The records and the damage between them, in the order of the file. few: as in RunReader.
    Raises OSError."""
    reader = RunReader(file, max_record, part, few)
    while True:
        yield from _read_whole(reader, max_record, validators)
        run = reader.next_run()
        if not run:
            break
        if isinstance(run, FrameSearch):
            run.take_until_start(0)
            if run.peek(1):
                reader.leave(run.offset)
        else:
            yield from _read_run(run, reader, max_record, validators)
        yield from reader.take_damage()
    yield from reader.take_damage()


def _read_whole(reader: RunReader, max_record: int, validators: bool) -> Iterator[Record | Damage]:
    """Records that are one frame each, up to the first that is not."""
    while whole := reader.next_whole():
        read = _response(*whole, max_record, validators)
        read = read or _read_frame(*whole, max_record, validators)
        if read is None:
            reader.again(whole[0])
            return
        del whole  # frees its bytes while the record is used
        record, damage = read
        for reason, detail in damage:
            yield Damage(record.offset, reason, detail)
        yield record
        yield from reader.take_damage()


def _response(
    offset: int, data: bytes, max_record: int, validators: bool = False
) -> RecordRead | None:
    """Read a frame as `_read_frame` does, but only ordinary responses."""
    read = (_read_validated if validators else _read_response)(offset, data, max_record)
    return (_make(read[0]), read[1]) if read else None


def _read_frame(
    offset: int, data: bytes, max_record: int, validators: bool = False
) -> RecordRead | None:
    """The record that is exactly these bytes; None if they are not one record, or it is too
    large."""
    header = whole_record_header(data)
    if header is None or header.length is None or header.length > max_record:
        return None
    end = header.size + header.length
    return record_of(header, data[header.size : end], offset, end, max_record, validators)


def _read_run(
    run: ByteRun, reader: RunReader, max_record: int, validators: bool
) -> Iterator[Record | Damage]:
    for count in itertools.count():
        if not run.skip_blank_lines() or reader.flooded(run, count):
            return
        if run.at_frame() or reader.is_behind(run):
            reader.leave(run.offset)
            return
        header = read_header(run)
        if header is None:
            yield Damage(run.offset, "bad-header", shown(run.peek(60)))
            run.skip(1)
            run.take_until_start(0)
        else:
            yield from _read_record(run, header, reader, max_record, validators)


def _read_record(
    run: ByteRun, header: Header, reader: RunReader, max_record: int, validators: bool
) -> Iterator[Record | Damage]:
    run.arc_seen, run.warc_seen = run.arc_seen or header.arc, run.warc_seen or not header.arc
    offset, begin = run.offset, run.position
    run.skip(header.size)
    if not header.complete:  # its last field may be cut off, even the URI
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
    size = run.position - begin
    record, damage = record_of(header, block, offset, size, max_record, validators)
    del block  # frees it while the record is used
    stated = header.values.get("warc-payload-digest", "")
    if reason and record.digest != stated:  # that of what is left says nothing
        record = record._replace(digest=stated)
    if reason == "record-too-large":
        yield record._replace(body=b"")
        return
    yield from (Damage(offset, kind, detail) for kind, detail in damage)
    yield record


def _block(run: ByteRun, length: int, reader: RunReader, max_record: int) -> tuple[bytes, str]:
    """(the bytes of a record, reason of damage or '').

    A length is right if a record follows, or the two empty lines that end a WARC record; garbage
    may follow these. Otherwise the block ends where the next record starts, in it or after it.
    """
    if reader.rereads <= 0:
        block = run.take_until_start(max_record)
        return block[:length], "" if length <= len(block) <= length + 4 else "bad-length"
    block = run.take(length)
    if len(block) == length and (run.ends_well() or run.peek(4) == b"\r\n\r\n"):
        return block, ""
    start = run.find_in(block + run.peek(LONGEST_LINE))  # a start may lie across the end
    reader.rereads -= len(block)
    if 0 <= start < len(block):
        run.push_back(block[start:])
        return block[:start].rstrip(b"\r\n"), "bad-length"
    if len(block) < length:
        return block.removesuffix(b"\r\n\r\n"), "truncated"
    if run.peek(1) in (b"\r", b"\n"):
        return block, ""
    return block + run.take_until_start(max_record - length).rstrip(b"\r\n"), "bad-length"


def _large_block(
    run: ByteRun, length: int, reader: RunReader, max_record: int
) -> tuple[bytes, str]:
    """Read a block over the limit: only the beginning, for its HTTP header."""
    begin, head = run.position, run.peek(MAX_HTTP_HEADER)
    if reader.rereads > 0:
        whole = run.skip(length)
        if whole and (run.ends_well() or run.peek(4) == b"\r\n\r\n"):
            return head, "record-too-large"
        reader.rereads -= run.position - begin if run.plain else run.position
        run.rewind(begin)
    return run.take_until_start(max_record).rstrip(b"\r\n"), "bad-length"


def record_of(
    header: Header, block: bytes, offset: int, size: int, max_record: int, validators: bool = False
) -> RecordRead:
    """The record, and the damage to its body."""
    body, status, fields = block, None, Fields()
    damage: list[tuple[str, str]] = []
    value = header.values.get
    digest = value("warc-payload-digest", "")
    is_http = header.media_type.lower().startswith("application/http")
    if header.kind in ("response", "revisit") or (is_http and header.kind != "request"):
        status, fields, payload = split_message(block, validators=validators)
        body, damage, of_payload = decode(fields, payload, max_record, digest)
        digest = digest if header.kind == "revisit" else of_payload  # that of a whole payload
    if header.kind == "revisit" and status is None and _is_not_modified(header):
        status = 304  # without the header that says so
    own = not (fields or (is_http and header.kind != "request"))
    record = (
        *(header.kind, header.uri, header.timestamp),
        media_type((header.media_type,)) if own else content_type(fields),
        *(body, offset, status, fields),
        value("warc-record-id", ""),
        header.concurrent_to,
        value("warc-refers-to", ""),
        digest,
        size,
        unbracketed(value("warc-refers-to-target-uri", "")),
        timestamp14(value("warc-refers-to-date", "")),
        method_of(block) if header.kind == "request" else "",
    )
    return _make(record), damage


def _is_not_modified(header: Header) -> bool:
    return "server-not-modified" in header.values.get("warc-profile", "").lower()


def some_at_a_time(items: Iterable[Record | Damage]) -> Iterator[list[Record | Damage]]:
    """The items in short lists, each emptied when the next is asked for: a seventh of the time of
    extraction, as the same code works for some in a row."""
    some, size = list[Record | Damage](), 0
    failure: Exception | None = None
    try:
        for item in items:
            some.append(item)
            size += item.size if isinstance(item, Record) else 0
            del item
            if size > _AT_A_TIME_BYTES or len(some) == _AT_A_TIME:
                yield some
                some.clear()
                size = 0
    except Exception as error:  # noqa: BLE001 (raised below, after what was read before it)
        failure = error
    yield some
    if failure is not None:
        raise failure
