"""The header of a WARC or ARC record: found, bounded, and read into the same few fields.

Ordinary header lines are read here, as warcio takes over a quarter of the time of reading for them;
the tests hold the two equal, and everything else (folded lines, bytes that are not UTF-8, lines
without a colon) is left to warcio. ARC lines have no other oracle: it takes version 1 only.
"""

from __future__ import annotations

import io
import re
from functools import partial
from typing import NamedTuple

from jobs.kernel.archive.byte_runs import Run
from jobs.kernel.archive.record_starts import LONGEST_LINE, WARC_LINE, arc_line
from jobs.kernel.keys.uris import as_text

MAX_HEADER = 2**20
_CONCURRENT = "warc-concurrent-to"
_DATE = re.compile(  # as nearly all are written
    "([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    "T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9]|60)"
)

_URI_FIELD = re.compile(  # with its folded lines
    rb"^(?:warc-target-uri|warc-refers-to-target-uri|content-location|location|refresh|link)[ \t]*:"
    rb".*(?:\n[ \t].*)*",
    re.IGNORECASE | re.MULTILINE,
)

Fields = list[tuple[str, str]]  # names in lower case, as case does not matter in them


class Header(NamedTuple):
    """length: of the block behind the header, None if missing or no number. size: of the header.

    values: of the first field of each name. complete: False if it ends without its blank line, at
    the end of the run or at another record.
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


_header = partial(tuple.__new__, Header)  # in half the time of Header(…)


def read_header(run: Run) -> Header | None:
    """The header at the next byte of the run, not yet read past; None if there is none."""
    head = run.peek(LONGEST_LINE)
    start = WARC_LINE.match(head)
    if start:
        if not blank_line(head, start.end() - 1, len(head)):
            head = run.peek(MAX_HEADER)
        return _warc_header(head, start.end())
    line = arc_line(head)
    return _arc_header(line) if line else None


def whole_record_header(data: bytes) -> Header | None:
    """The header of a WARC record that is just these bytes, with its two empty lines behind it."""
    start = WARC_LINE.match(data)
    if not start or not data.endswith(b"\r\n\r\n"):
        return None
    header = _warc_header(data[:LONGEST_LINE], start.end())
    if not header.complete or header.length is None:
        return None
    return header if header.size + header.length + 4 == len(data) else None


def _warc_header(head: bytes, begin: int) -> Header:
    end = blank_line(head, begin - 1, len(head))
    block = head[:end] if end else head
    other = WARC_LINE.search(block, begin) if b"warc/" in block[begin:].lower() else None
    if other:
        block = block[: other.start()]
    fields = read_fields(block)[1]
    values = dict(reversed(fields))
    value = values.get
    header = (
        value("warc-type", "").lower(),
        unbracketed(value("warc-target-uri", "")),
        timestamp14(value("warc-date", "")),
        value("content-type", ""),
        _length(value("content-length", "")),
        len(block),
        values,
        every(fields, _CONCURRENT) if _CONCURRENT in values else (),
        False,
        end > 0 and not other,
    )
    return _header(header)


def blank_line(data: bytes, begin: int, end: int) -> int:
    """The place behind the first `\\n\\n`, `\\n\\r\\n` or `\\n\\r\\r\\n` that is whole between
    begin and end, 0 if there is none. The last is of files that were converted as text."""
    behind = 0
    for blank in (b"\n\r\n", b"\n\n", b"\n\r\r\n"):
        place = data.find(blank, begin, end)
        if place >= 0:
            behind, end = place + len(blank), min(end, place + len(blank) - 1)
    return behind


def _arc_header(line: re.Match[bytes]) -> Header:
    uri = as_text(line["uri"])
    return Header(
        kind="warcinfo" if uri.lower().startswith("filedesc:") else "response",
        uri=uri,
        timestamp=_arc_timestamp(line["date"].decode("latin-1")),
        media_type=line["type"].decode("latin-1"),
        length=_length(line["length"].decode("latin-1")),
        size=line.end(),
        values={},
        arc=True,
    )


def _arc_timestamp(date: str) -> str:
    """Of digits, whatever stands behind them; '' for what else takes the place of a date."""
    digits = re.match("[0-9]{8,}", date)
    if digits:
        return timestamp14(digits[0])
    return timestamp14(date) if date.isdigit() or date[4:5] == "-" else ""


def read_fields(block: bytes) -> tuple[str, Fields]:
    """As `parse_lines`, with each byte of a URI that is not UTF-8 escaped."""
    if not block.isascii():
        block = _URI_FIELD.sub(lambda match: as_text(match[0]).encode(), block)
    return parse_lines(block)


def parse_lines(block: bytes) -> tuple[str, Fields]:
    """The first line of a header, and its fields in order; what is no field is left out.

    As warcio reads them: lines of UTF-8 or Latin-1, up to the first empty one; a line that begins
    with a blank goes on with the field before it. Ordinary headers are read here.
    """
    try:
        start, *lines = block.rstrip().decode().split("\n")
        fields = [
            (name.lower(), value.strip()) for line in lines for name, value in [line.split(":", 1)]
        ]
    except ValueError:  # not UTF-8, or a line without a colon, or empty
        return _by_warcio(block)
    names = "".join([name for name, _ in fields])
    if " " in names or "\t" in names:  # a folded line, or a blank before the colon
        return _by_warcio(block)
    protocol, _, status = start.rstrip().partition(" ")
    first_line = f"{protocol} {status.strip()}"
    return first_line, fields if first_line != " " else []


def _by_warcio(block: bytes) -> tuple[str, Fields]:
    from warcio.statusandheaders import StatusAndHeadersParser

    parsed = StatusAndHeadersParser([], verify=False).parse(io.BytesIO(block))
    fields = [(name.lower(), value.strip()) for name, value in parsed.headers]
    return f"{parsed.protocol} {parsed.statusline}", fields


def first(fields: Fields, name: str) -> str:
    """The value of the first field of that name, or ''."""
    for key, value in fields:
        if key == name:
            return value.strip()
    return ""


def every(fields: Fields, name: str) -> tuple[str, ...]:
    """The values of all fields of that name."""
    return tuple([value.strip() for key, value in fields if key == name])


def timestamp14(date: str) -> str:
    """The 14 digits of a date of WARC (`2017-03-06T04:03:53.5Z`, or only `2017-03`) or ARC.

    What is missing is filled with the earliest; '' if there is no year or a field is impossible.
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
