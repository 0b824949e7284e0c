"""Rows of captures, completed with `via` and `hopsFromSeed` from their metadata records.

Heritrix writes the metadata record after its capture, others before it. So a row waits for its
record, and the values of a record wait for their row: at most WAITING of each, some megabytes. Rows
leave in the order of the archive.

Last-Modified and ETag of a response (RFC 9110, 8.8) name the version of its page.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator
from datetime import timezone
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import Any

from crawlrank.jobs.kernel.archive.metadata import (
    Names,
    capture_keys,
    described_keys,
    id_key,
    names,
    provenance,
)
from crawlrank.jobs.kernel.archive.record_headers import Fields, every
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.captures.counters import count_type
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture
from crawlrank.jobs.kernel.keys.uris import LONGEST, as_crawled, field

LONGEST_DATE = 64  # characters; a date of HTTP has 29 to 33
LONGEST_TAG = 256  # bytes; one that is cut would be equal to others


def modified_of(fields: Fields) -> bytes:
    """Last-Modified as 14 digits, UTC; `-` if it is absent, no date, or there with two values."""
    text = _only(fields, "last-modified")
    try:
        date = parsedate_to_datetime(text if len(text) <= LONGEST_DATE else "")
        date = date.astimezone(timezone.utc) if date.tzinfo else date  # dates of HTTP are in UTC
    except (ValueError, TypeError, IndexError, OverflowError):  # what that makes of other texts
        return UNKNOWN
    return b"%04d%02d%02d%02d%02d%02d" % date.timetuple()[:6]


def etag_of(fields: Fields) -> bytes:
    """ETag with its quotes and the `W/` of a weak one, escaped; `-` if it is absent, longer than
    any in use, or there with two values."""
    tag = field(_only(fields, "etag"), LONGEST_TAG + 1)
    return tag if len(tag) <= LONGEST_TAG else UNKNOWN


def _only(fields: Fields, name: str) -> str:
    """The value of the fields of that name, if it is one."""
    values = set(every(fields, name))
    return values.pop() if len(values) == 1 else ""


WAITING = 1000
LONGEST_DIGESTS = 512  # bytes: two of SHA-512 in hexadecimal digits
_capture = partial(tuple.__new__, Capture)  # half the time of Capture(…)
_DEFAULTS = tuple(Capture._field_defaults.values())


class _WaitingRow:
    """A capture's row until it leaves."""

    __slots__ = ("capture", "complete", "names")

    def __init__(self, capture: Capture, names: Names) -> None:
        self.capture, self.names, self.complete = capture, names, False

    def add(self, via: bytes, hops: bytes) -> None:
        self.capture = self.capture._replace(via=via, hops=hops)
        self.complete = True


class _Provenance:
    """The values of a metadata record, until its capture comes."""

    __slots__ = ("hops", "used", "via")

    def __init__(self, via: bytes, hops: bytes) -> None:
        self.via, self.hops, self.used = via, hops, False


class CaptureRows:
    """The rows of one archive. Counts `metadata.unmatched`: records whose capture is not here, or
    too far away. alone: as in MetadataMatching."""

    alone = True

    def __init__(self, counters: Counter[str]) -> None:
        self._counters = counters
        self._rows: deque[_WaitingRow] = deque()
        self._by_key: dict[int, _WaitingRow] | None = None  # from the first metadata record on
        self._provenance: OrderedDict[int, _Provenance] = OrderedDict()  # by key
        self._other_methods: OrderedDict[int, None] = OrderedDict()  # keys of what is no capture

    def add_capture(self, record: Record, capture: Capture) -> Iterable[Capture]:
        """The rows that are complete now, or have waited long enough."""
        row = _WaitingRow(capture, names(record))
        self._rows.append(row)
        if self._by_key is not None:
            self._match(row, self._by_key)
        return self._leaving()

    def add_other_method(self, record: Record) -> None:
        """Note a request of another method than GET, or its answer: no row is completed by what
        describes it."""
        key = id_key(record)
        self._other_methods[key] = None
        if values := self._provenance.pop(key, None):
            values.used = True
        while len(self._other_methods) > WAITING:
            self._other_methods.popitem(last=False)

    def _match(self, row: _WaitingRow, by_key: dict[int, _WaitingRow]) -> None:
        keys = capture_keys(row.names)
        waiting = [self._provenance.pop(key, None) for key in keys]
        provenance = next((values for values in waiting if values and not values.used), None)
        if provenance:
            row.add(provenance.via, provenance.hops)
            provenance.used = True
        else:
            by_key.update(dict.fromkeys(keys, row))

    def add_metadata(self, record: Record) -> Iterable[Capture]:
        """The rows that are complete now."""
        via, hops = provenance(record.body)
        if not (via or hops):
            return ()
        if self._by_key is None:
            self._by_key = {}
            for waiting in self._rows:
                self._match(waiting, self._by_key)
        values = _Provenance(field(via, LONGEST), field(hops))
        keys = described_keys(record)
        if not self._other_methods.keys().isdisjoint(keys[:-1]):
            return ()
        for key in keys:
            row = self._by_key.get(key)
            if row and not row.complete:
                row.add(values.via, values.hops)
                return self._leaving()
            self.alone = False
        self._provenance.update(dict.fromkeys(keys, values))
        while len(self._provenance) > 2 * WAITING:
            self._give_up(self._provenance.popitem(last=False)[1])
        return ()

    def rest(self) -> Iterator[Capture]:
        """The rows that are left at the end of the archive."""
        for values in self._provenance.values():
            self._give_up(values)
        for row in self._rows:
            yield row.capture

    def _leaving(self) -> list[Capture]:
        leaving: list[Capture] = []
        rows = self._rows
        while rows and (rows[0].complete or len(rows) > WAITING):
            row = rows.popleft()
            leaving.append(row.capture)
            if self._by_key is not None:
                for key in capture_keys(row.names):
                    if self._by_key.get(key) is row:
                        del self._by_key[key]
        return leaving

    def _give_up(self, values: _Provenance) -> None:
        self._counters["metadata.unmatched"] += not values.used
        values.used = True


@lru_cache(1000)  # most records of an archive have one of few
def _media_type(value: str) -> bytes:
    """The media type of a header's value, without its parameters."""
    return field(value.partition(";")[0].lower())


@lru_cache(1000)
def _named(kind: str, status: int | None) -> tuple[Any, ...]:
    """Both as fields of a row, and the counters of such a capture."""
    shown = str(status) if status else "-"
    counted = ("captures", f"captures.{kind}", f"captures.status.{shown}")
    return kind.encode(), shown.encode(), *counted


def capture_of(
    record: Record, uri: bytes, archive: bytes, counters: Counter[str],
    options: ExtractionOptions, title: str = "",
) -> Capture:  # fmt: skip
    """The row of a record, which is counted."""
    kind, status, *names = _named(record.kind, record.status)
    for name in names:
        counters[name] += 1
    media_type = _media_type(record.media_type)
    count_type(media_type.decode(), counters)
    values = (
        uri,
        record.timestamp.encode() or UNKNOWN,
        status,
        media_type,
        field(record.digest, LONGEST_DIGESTS),
        kind,
        archive,
        b"%d" % record.offset,
    )
    row = _capture(values + _DEFAULTS)
    if options.timestamps:
        row = row._replace(**_references(record))
    if options.validators:
        fields = record.http_headers
        row = row._replace(modified=modified_of(fields), etag=etag_of(fields))
    if title:
        row = row._replace(title=title.encode("utf-8", "replace"))
    return row


def _in_brackets(id: str) -> str:
    """An id of a record as the standard has it: some writers leave out the `<>`."""
    return f"<{id}>" if id and not id.startswith("<") else id


def _references(record: Record) -> dict[str, bytes]:
    """The id of a record and, of a revisit, what it refers to."""
    columns = {"id": field(_in_brackets(record.record_id))}
    if record.kind == "revisit":
        uri = as_crawled(record.refers_to_uri)
        columns["refers_to"] = field(_in_brackets(record.refers_to))
        columns["refers_to_uri"] = uri if isinstance(uri, bytes) else UNKNOWN
        columns["refers_to_timestamp"] = record.refers_to_timestamp.encode() or UNKNOWN
    return columns
