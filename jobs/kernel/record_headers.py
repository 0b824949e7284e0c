"""The header of a WARC or ARC record: found, bounded, and read into the same few fields.

warcio reads the lines of a WARC header (folded lines, either end of line, UTF-8 or Latin-1).
ARC lines are read here: warcio takes version 1 only, and its conversion to WARC makes up record
ids at random, so two runs over one file would differ.
"""

from __future__ import annotations

import io
import re
from typing import NamedTuple

from warcio.statusandheaders import StatusAndHeadersParser

from jobs.kernel.byte_runs import Run
from jobs.kernel.record_starts import LONGEST_LINE, WARC_LINE, arc_line

MAX_HEADER = 2**20
_BLANK_LINE = re.compile(rb"\n\r?\n")
_NO_VERIFY = StatusAndHeadersParser([], verify=False)

Fields = list[tuple[str, str]]


class Header(NamedTuple):
    """length: of the block behind the header, None if missing or no number. size: of the header.

    complete: False if it ends without its blank line, at the end of the run or at another record.
    """

    kind: str
    uri: str
    timestamp: str
    media_type: str
    length: int | None
    size: int
    fields: Fields
    arc: bool = False
    complete: bool = True


def read_header(run: Run) -> Header | None:
    """The header at the next byte of the run, not yet read past; None if there is none."""
    head = run.peek(LONGEST_LINE)
    start = WARC_LINE.match(head)
    if start:
        return _warc_header(run, head, start.end())
    line = arc_line(head)
    return _arc_header(line) if line else None


def _warc_header(run: Run, head: bytes, begin: int) -> Header:
    end = _BLANK_LINE.search(head, begin - 1)
    if not end:
        head = run.peek(MAX_HEADER)
        end = _BLANK_LINE.search(head, begin - 1)
    block = head[: end.end()] if end else head
    other = WARC_LINE.search(block, begin)
    if other:
        block = block[: other.start()]
    fields = parse_lines(block)[1]
    return Header(
        kind=first(fields, "WARC-Type").lower(),
        uri=unbracketed(first(fields, "WARC-Target-URI")),
        timestamp=timestamp14(first(fields, "WARC-Date")),
        media_type=first(fields, "Content-Type"),
        length=_length(first(fields, "Content-Length")),
        size=len(block),
        fields=fields,
        complete=bool(end) and not other,
    )


def _arc_header(line: re.Match[bytes]) -> Header:
    uri = line["uri"].decode("utf-8", "replace")
    return Header(
        kind="warcinfo" if uri.lower().startswith("filedesc:") else "response",
        uri=uri,
        timestamp=timestamp14(line["date"].decode("latin-1")),
        media_type=line["type"].decode("latin-1"),
        length=_length(line["length"].decode("latin-1")),
        size=line.end(),
        fields=[],
        arc=True,
    )


def parse_lines(block: bytes) -> tuple[str, Fields]:
    """The first line of a header, and its fields in order; what is no field is left out."""
    parsed = _NO_VERIFY.parse(io.BytesIO(block))
    return f"{parsed.protocol} {parsed.statusline}", list(parsed.headers)


def first(fields: Fields, name: str) -> str:
    """The value of the first field of that name (case does not matter), or ''."""
    wanted = name.lower()
    return next((value.strip() for key, value in fields if key.lower() == wanted), "")


def every(fields: Fields, name: str) -> tuple[str, ...]:
    """The values of all fields of that name."""
    wanted = name.lower()
    return tuple(value.strip() for key, value in fields if key.lower() == wanted)


def timestamp14(date: str) -> str:
    """The 14 digits of a date of WARC (`2017-03-06T04:03:53.5Z`, or only `2017-03`) or ARC.

    What is missing is filled with the earliest; '' if there is no year or a field is impossible.
    """
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
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None
