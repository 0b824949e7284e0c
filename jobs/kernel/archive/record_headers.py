"""The header of a WARC or ARC record: its end, its bounds, and the few fields that are needed.

Ordinary header lines are read here: warcio would take over a quarter of the time of reading. Tests
compare the two. warcio reads everything else (folded lines, bytes that are not UTF-8, lines without
a colon). ARC lines have no such oracle, as warcio reads version 1 only.
"""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from crawlrank.jobs.kernel.archive.byte_runs import ByteRun
from crawlrank.jobs.kernel.archive.frames import LONGEST_LINE, WARC_LINE, arc_line
from crawlrank.jobs.kernel.keys.uris import as_text
from crawlrank.jobs.kernel.machine.native import Native

MAX_HEADER = 2**20
BLANKS = " \t\r\n"  # around values; Unicode has more, which may be in a URI
_CONCURRENT = "warc-concurrent-to"
_ARC_FIELDS = ("date", "type", "length")  # groups of an ARC line
_DATE = re.compile(  # the usual form
    "([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    "T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)"
)

_BLANK_CONTINUATION = re.compile(rb"(?<=\n)[ \t]+\r?\n")  # a folded line of blanks alone
_URI_FIELD = re.compile(  # with its folded lines
    rb"^(?:warc-target-uri|warc-refers-to-target-uri|content-location|location|refresh|link)[ \t]*:"
    rb".*(?:\n[ \t].*)*",
    re.IGNORECASE | re.MULTILINE,
)

HeaderField = tuple[str, str]  # a name in lower case, as case does not matter in it, and its value
Fields = list[HeaderField]
# Half of all lines repeat one of few.
_known_fields: dict[str, HeaderField] = {}
_MOST_KNOWN, _LONGEST_KNOWN = 2**12, 100  # lines; characters


class Header(NamedTuple):
    """length: of the block after the header, None if missing or no number. size: of the header.

    values: of the first field of each name. complete: False if the run or another record ends it
    before its blank line.
    """

    kind: str
    uri: str
    timestamp: str
    media_type: str
    length: int | None
    size: int
    values: dict[str, str]
    concurrent_to: tuple[str, ...] = ()
    arc: bool = False
    complete: bool = True


_header = partial(tuple.__new__, Header)  # half the time of Header(…)
RESPONSE_SCAN = Native(
    "crawlrank.jobs.kernel.archive.scan_fields",
    "response_at",
    ("bytes", "int64", "uint8*", "int64*", "int64*", "int64*"),
    ("crawlrank.jobs.kernel.archive.scan_fields",),
)
MOST_ROWS = 64


def name_table(names: Sequence[str]) -> array[int]:
    """The table of names for the scan of fields."""
    padded = [bytes([len(name), *name.encode()]).ljust(32, b"\0") for name in names]
    return array("B", b"".join(padded))


RECORD_NAMES = (
    *("warc-type", "warc-target-uri", "warc-date", "content-type", "content-length"),
    *("warc-record-id", "warc-payload-digest"),
    *(_CONCURRENT, "warc-refers-to", "warc-refers-to-target-uri", "warc-refers-to-date"),
    "warc-profile",
)


def read_header(run: ByteRun) -> Header | None:
    """The header at the next byte of the run, which stays there; None if there is none."""
    head = run.peek(LONGEST_LINE)
    start = WARC_LINE.match(head)
    if start:
        at_end = False
        if not blank_line(head, start.end() - 1, len(head)):
            head = run.peek(MAX_HEADER)
            at_end = len(head) < MAX_HEADER
        return _warc_header(head, start.end(), at_end=at_end)
    line = arc_line(head)
    if not line:
        return None
    date, media_type, length = (field.decode("latin-1") for field in line.group(*_ARC_FIELDS))
    return arc_header(as_text(line["uri"]), date, media_type, _length(length), line.end())


def whole_record_header(data: bytes) -> Header | None:
    """The header of a WARC record that is exactly these bytes, with its two empty lines."""
    start = WARC_LINE.match(data)
    if not start or not data.endswith(b"\r\n\r\n"):
        return None
    header = _warc_header(data, start.end())
    if not header.complete or header.length is None:
        return None
    return header if header.size + header.length + 4 == len(data) else None


def _warc_header(head: bytes, begin: int, *, at_end: bool = False) -> Header:
    """begin: after the first line. at_end: whether no bytes follow; then a header whose last line
    is whole, and which tells its length, lacks no more than its empty line."""
    end = blank_line(head, begin - 1, len(head))
    block = head[:end] if end else head
    next_record = WARC_LINE.search(block, begin) if b"warc/" in block[begin:].lower() else None
    if next_record:
        block = block[: next_record.start()]
    complete = end > 0 or (at_end and block.endswith(b"\n") and b"content-length" in block.lower())
    return header_of(read_fields(block)[1], len(block), complete=complete and not next_record)


def header_of(fields: Fields, size: int = 0, *, complete: bool = True) -> Header:
    """The header of a WARC record with these fields."""
    values = dict(reversed(fields))
    value = values.get
    header = (
        value("warc-type", "").lower(),
        unbracketed(value("warc-target-uri", "")),
        timestamp14(value("warc-date", "")),
        value("content-type", ""),
        _length(value("content-length", "")),
        size,
        values,
        every(fields, _CONCURRENT) if _CONCURRENT in values else (),
        False,
        complete,
    )
    return _header(header)


def blank_line(data: bytes, begin: int, end: int) -> int:
    """The position after the first `\\n\\n`, `\\n\\r\\n` or `\\n\\r\\r\\n` that is whole between
    begin and end, 0 if there is none. Files that were converted as text have the last form."""
    behind = 0
    for blank in (b"\n\r\n", b"\n\n", b"\n\r\r\n"):
        position = data.find(blank, begin, end)
        if position >= 0:
            behind, end = position + len(blank), min(end, position + len(blank) - 1)
    return behind


def arc_header(
    uri: str, date: str, media_type: str, length: int | None = None, size: int = 0
) -> Header:
    kind = "warcinfo" if uri.lower().startswith("filedesc:") else "response"
    return Header(kind, uri, _arc_timestamp(date), media_type, length, size, values={}, arc=True)


def _arc_timestamp(date: str) -> str:
    """The timestamp of digits, whatever follows them; '' for anything else in place of a date."""
    digits = re.match("[0-9]{8,}", date)
    if digits:
        return timestamp14(digits[0])
    return timestamp14(date) if date.isdigit() or date[4:5] == "-" else ""


def read_fields(block: bytes) -> tuple[str, Fields]:
    """Read fields as `parse_lines` does, with each byte of a URI that is not UTF-8 escaped."""
    if not block.isascii():
        block = _URI_FIELD.sub(lambda match: as_text(match[0]).encode(), block)
    return parse_lines(block)


def parse_lines(block: bytes) -> tuple[str, Fields]:
    """The first line of a header, and its fields in order; lines that are no fields are left out.

    As warcio reads them: lines of UTF-8 or Latin-1, up to the first empty one; a line that begins
    with a blank continues the field before it.
    """
    try:
        start, *lines = block.rstrip().decode().split("\n")
        known = _known_fields.get
        fields = [known(line) or _field(line) for line in lines]
    except ValueError:  # not UTF-8, or a line without a colon, or empty
        return _by_warcio(block)
    names = "".join([name for name, _ in fields])
    if " " in names or "\t" in names:  # a folded line, or a blank before the colon
        return _by_warcio(block)
    protocol, _, status = start.rstrip().partition(" ")
    first_line = f"{protocol} {status.strip()}"
    return first_line, fields if first_line != " " else []


def _field(line: str) -> HeaderField:
    name, value = line.split(":", 1)
    field = name.lower(), value.strip(BLANKS)
    if len(_known_fields) >= _MOST_KNOWN:
        _known_fields.clear()
    if len(line) <= _LONGEST_KNOWN:
        _known_fields[line] = field
    return field


def _by_warcio(block: bytes) -> tuple[str, Fields]:
    from warcio.statusandheaders import StatusAndHeadersParser

    block = _BLANK_CONTINUATION.sub(b"", block)  # which ends the header for warcio
    parsed = StatusAndHeadersParser([], verify=False).parse(io.BytesIO(block))
    fields = [(name.lower(), value.strip()) for name, value in parsed.headers]
    return f"{parsed.protocol} {parsed.statusline}", fields


def first(fields: Fields, name: str) -> str:
    """The value of the first field of that name, or ''."""
    for key, value in fields:
        if key == name:
            return value.strip(BLANKS)
    return ""


def every(fields: Fields, name: str) -> tuple[str, ...]:
    """The values of all fields of that name."""
    return tuple([value.strip(BLANKS) for key, value in fields if key == name])


def timestamp14(date: str) -> str:
    """The 14 digits of a date of WARC (`2017-03-06T04:03:53.5Z`, or only `2017-03`) or ARC.

    The earliest time fills what is missing. '' if there is no year or a field is impossible.
    """
    if not date:
        return ""
    if usual := _DATE.match(date):
        return "".join(usual.groups())
    digits = re.sub(r"[^0-9]", "", date[:40])[:14]
    if not re.match(r"[0-9]{4}", date):
        return ""
    whole = digits + "00000101000000"[len(digits) :]
    limits = ((4, 6, 1, 12), (6, 8, 1, 31), (8, 10, 0, 23), (10, 12, 0, 59), (12, 14, 0, 60))
    possible = all(low <= int(whole[begin:end]) <= high for begin, end, low, high in limits)
    return whole if possible else ""


def unbracketed(uri: str) -> str:
    """wget 1.19 writes the URI as `<uri>`."""
    return uri[1:-1] if uri.startswith("<") and uri.endswith(">") else uri


def _length(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None
