"""Metadata records (application/warc-fields, text/anvl): fields, and the outlinks of Heritrix.

Lines are `name: value` and end with CRLF or LF. A line that begins with a blank continues the one
before it. Heritrix writes a line `outlink: URI HOP CONTEXT` for each link.

Records and captures come in either order and are matched in bounded memory. A metadata record names
its capture by id (WARC-Concurrent-To or WARC-Refers-To). Some writers name
an id that no record has, so URI and time are compared too.

The field `software` of a warcinfo, or of an ARC's header, says which software wrote an archive.
"""

from __future__ import annotations

import io
import re
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawlrank.jobs.kernel.archive.record_headers import BLANKS
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.keys.uris import as_text

MEDIA_TYPES = ("application/warc-fields", "text/anvl")
LONGEST_LINE = 2**14
_FIELDS = 2**16  # bytes in which the fields of a capture are looked for

# Heritrix gives some of these hop L, but they are guesses from a value, or the base, and no links.
_GUESSED = frozenset(
    {"option", "option/@value", "param", "param/@value", "input/@value", "base/@href"}
)


class Outlink(NamedTuple):
    """uri: as Heritrix wrote it. hop: one capital letter. context: such as `a/@href`; may be ''."""

    uri: str
    hop: str
    context: str


class Field(NamedTuple):
    """Any other line."""

    name: str
    value: str


class Junk(NamedTuple):
    """A line that is no field and no outlink, continues no line, or is too long."""

    beginning: str


def is_metadata(record: Record) -> bool:
    """Whether it describes a capture in lines, not in JSON as a WAT does."""
    return record.kind == "metadata" and record.media_type.lower().startswith(MEDIA_TYPES)


def read_metadata(body: bytes) -> Iterator[Outlink | Field | Junk]:
    """The lines of a metadata record's body in order, one at a time, whatever is in it."""
    for line in _unfolded(body):
        name, colon, value = line.partition(":")
        name, value = name.rstrip(BLANKS), value.strip(BLANKS)
        if not colon or not name or " " in name or len(line) > LONGEST_LINE:
            yield Junk(line[:60])
        elif name.lower() != "outlink":
            yield Field(name, value)
        else:
            yield _outlink(value) or Junk(line[:60])


def provenance(body: bytes) -> tuple[str, str]:
    """(via, hopsFromSeed) of a metadata record, '' if missing; they come before the outlinks."""
    values: dict[str, str] = {}
    for line in read_metadata(body[:_FIELDS]):
        if isinstance(line, Outlink):
            break
        if isinstance(line, Field):
            values.setdefault(line.name.lower(), line.value)
    return values.get("via", ""), values.get("hopsfromseed", "")


def _unfolded(body: bytes) -> Iterator[str]:
    """Lines with their continuations and without line ends; empty ones are left out."""
    line = ""
    for raw in io.BytesIO(body):
        part = raw[: LONGEST_LINE + 1].rstrip()
        if not part:
            continue
        if line and part[:1] in (b" ", b"\t"):
            line += (" " + as_text(part.lstrip())) if len(line) <= LONGEST_LINE else ""
            continue
        if line:
            yield line
        line = as_text(part)
    if line:
        yield line


def _outlink(value: str) -> Outlink | None:
    """`URI HOP CONTEXT`. The URI may contain blanks, so the hop is the first lone capital."""
    words = value.split(" ")
    for index, word in enumerate(words[1:], 1):
        if len(word) == 1 and "A" <= word <= "Z":
            context = " ".join(words[index + 1 :])
            hop = "X" if context.lower() in _GUESSED else word
            return Outlink(" ".join(words[:index]), hop, context)
    return None


REMEMBERED = 50_000  # captures whose metadata may still come
WAITING = 1000  # metadata records whose capture may still come
WAITING_BYTES = 2**25  # of these records
LONGEST_NAME = 160  # characters of an id or a URI that are remembered as they are

Names = tuple[str, str, str]  # of a capture: record id or '', URI, timestamp


class MetadataMatching:
    """Which metadata records count, as soon as that is known. They get the time of the capture that
    they describe, as some writers date them later.

    alone: whether each could be matched by the surest of its keys, to a capture before it, so that
    nothing before the first record matters.
    """

    alone = True

    def __init__(self) -> None:
        # Until the first metadata record: most archives have none, and keys take time to make.
        self._unmatched: deque[tuple[Names, bool]] | None = deque(maxlen=REMEMBERED)
        # of captures: the time of each, None if lines about it do not count
        self._verdicts: OrderedDict[int, str | None] = OrderedDict()
        self._waiting: OrderedDict[int, Record] = OrderedDict()  # by offset
        self._by_key: dict[int, int] = {}
        self._bytes = 0

    def add_capture(self, record: Record, lines_count: bool) -> Iterable[Record]:
        """Remember whether lines about this capture count. Returns the metadata records that waited
        for it and count."""
        if self._unmatched is not None:
            self._unmatched.append((names(record), lines_count))
            return ()
        return self._matched(names(record), lines_count)

    def add_other_method(self, record: Record) -> None:
        """Note a request of another method than GET, or its answer: metadata that describes it by
        its id does not count. Another capture may have its URI and its time."""
        if self._unmatched is not None:
            self._unmatched.append(((names(record)[0], "", ""), False))
        else:
            self._matched((names(record)[0], "", ""), False)

    def _matched(self, named: Names, lines_count: bool) -> list[Record]:
        counting, keys = [], capture_keys(named)
        self._verdicts.update(dict.fromkeys(keys, named[2] if lines_count else None))
        for key in keys:
            waiting = self._waiting.get(self._by_key.get(key, -1))
            if waiting:
                self._forget(waiting)
                if lines_count:
                    counting.append(self._of_capture(waiting, named[2]))
        while len(self._verdicts) > 2 * REMEMBERED:
            self._verdicts.popitem(last=False)
        return counting

    def add_metadata(self, record: Record) -> Iterator[Record]:
        """The records whose lines count now: this one, or those that waited too long."""
        for named, lines_count in self._unmatched or ():
            self._matched(named, lines_count)
        self._unmatched = None
        for key in described_keys(record):
            if key in self._verdicts:
                timestamp = self._verdicts[key]
                if timestamp is not None:
                    yield self._of_capture(record, timestamp)
                return
            self.alone = False
        self._waiting[record.offset] = record
        self._by_key.update(dict.fromkeys(described_keys(record), record.offset))
        self._bytes += _held(record)
        while len(self._waiting) > WAITING or self._bytes > WAITING_BYTES:
            oldest = next(iter(self._waiting.values()))
            self._forget(oldest)
            yield oldest

    def _of_capture(self, record: Record, timestamp: str) -> Record:
        """A record as one of the capture of this time that it names, if that has its URI."""
        if record.timestamp == timestamp:
            return record
        has_its_uri = hash((_short(record.uri), timestamp)) in self._verdicts
        return record._replace(timestamp=timestamp) if has_its_uri else record

    def rest(self) -> Iterator[Record]:
        """The records that are left at the end: their capture is in another archive."""
        yield from self._waiting.values()

    def _forget(self, record: Record) -> None:
        del self._waiting[record.offset]
        self._bytes -= _held(record)
        for key in described_keys(record):
            self._by_key.pop(key, None)


def _held(record: Record) -> int:
    """Characters and bytes that a waiting record keeps in memory."""
    ids = (record.record_id, record.refers_to, *record.concurrent_to)
    return len(record.body) + len(record.uri) + len(record.digest) + sum(map(len, ids))


def names(record: Record) -> Names:
    record_id, uri = record.record_id, record.uri
    if len(record_id) > LONGEST_NAME or len(uri) > LONGEST_NAME:
        record_id, uri = _short(record_id), _short(uri)
    return record_id, uri, record.timestamp


def id_key(record: Record) -> int:
    """The key of its id."""
    return hash(names(record)[0])


def _short(name: str) -> str:
    """The name, or a short form of a name that is too long to be remembered."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]} {hash(name)}"


def capture_keys(named: Names) -> list[int]:
    """Keys by which a metadata record may know this capture."""
    record_id, *by_time = named
    keys = [hash(tuple(by_time))]
    return [hash(record_id), *keys] if record_id else keys


def described_keys(record: Record) -> list[int]:
    """Keys of the capture that this metadata record describes, the surest first."""
    named = [hash(_short(name)) for name in (*record.concurrent_to[:20], record.refers_to) if name]
    return [*named[:20], hash((_short(record.uri), record.timestamp))]


LONGEST = 2**14  # bytes of a record that are looked at
_HERITRIX = re.compile(
    rb"^software:[^\n]*heritrix|<(?:\w+:)?software>[^<]*heritrix", re.IGNORECASE | re.MULTILINE
).search


def is_of_heritrix(body: bytes) -> bool:
    """body: of the record, or of the header."""
    return _HERITRIX(body[:LONGEST]) is not None
