"""Ordinary responses, which most records are: WARC records, a frame each, without a field that is
unusual or repeated in their headers. records.py reads all others; for these it would give the same,
in twice the time."""

from __future__ import annotations

from array import array
from typing import Any

from crawlrank.jobs.kernel.archive.frames import LONGEST_LINE, WARC_LINE
from crawlrank.jobs.kernel.archive.http_payload import (
    HTTP_NAMES,
    MAX_HTTP_HEADER,
    PACKED,
    content_type,
    decode,
    status_of,
)
from crawlrank.jobs.kernel.archive.record_headers import (
    MOST_ROWS,
    RECORD_NAMES,
    RESPONSE_SCAN,
    Fields,
    name_table,
    timestamp14,
    unbracketed,
)
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
