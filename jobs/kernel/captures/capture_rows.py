"""Rows of captures, completed by what Heritrix tells of them: where from, and over which hops.

`via` and `hopsFromSeed` stand in the capture's metadata record, which Heritrix writes behind it and
others before it. So a row waits for its record, and what a record tells for its row: WAITING of
each at most, some megabytes. Rows leave in the order of the archive.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator

from jobs.kernel.archive.metadata import provenance
from jobs.kernel.archive.metadata_matching import Names, capture_keys, described_keys, names
from jobs.kernel.archive.records import Record
from jobs.kernel.formats.rows import Capture
from jobs.kernel.keys.uris import LONGEST, field

WAITING = 1000


class _Row:
    """A capture's row until it leaves."""

    __slots__ = ("capture", "complete", "names")

    def __init__(self, capture: Capture, names: Names) -> None:
        self.capture, self.names = capture, names
        self.complete = False

    def add(self, via: bytes, hops: bytes) -> None:
        self.capture = self.capture._replace(via=via, hops=hops)
        self.complete = True


class _Told:
    """What a metadata record told, until its capture comes."""

    def __init__(self, via: bytes, hops: bytes) -> None:
        self.via, self.hops = via, hops
        self.used = False


class CaptureRows:
    """Of one archive. counters: `metadata.unmatched`, records that told of no capture here, or of
    one too far away."""

    def __init__(self, counters: Counter[str]) -> None:
        self._counters = counters
        self._rows: deque[_Row] = deque()
        self._by_key: dict[int, _Row] | None = None  # from the first metadata record on
        self._told: OrderedDict[int, _Told] = OrderedDict()

    def add_capture(self, record: Record, capture: Capture) -> Iterable[Capture]:
        """The rows that are complete now, or have waited long enough."""
        row = _Row(capture, names(record))
        self._rows.append(row)
        if self._by_key is not None:
            self._match(row, self._by_key)
        return self._leaving()

    def _match(self, row: _Row, by_key: dict[int, _Row]) -> None:
        keys = capture_keys(row.names)
        told = [one for key in keys if (one := self._told.pop(key, None)) and not one.used]
        if told:
            row.add(told[0].via, told[0].hops)
            told[0].used = True
        else:
            by_key.update(dict.fromkeys(keys, row))

    def add_metadata(self, record: Record) -> Iterable[Capture]:
        """The same, after a metadata record."""
        via, hops = provenance(record.body)
        if not (via or hops):
            return ()
        if self._by_key is None:
            self._by_key = {}
            for row in self._rows:
                self._match(row, self._by_key)
        told = _Told(field(via, LONGEST), field(hops))
        keys = described_keys(record)
        for key in keys:
            known = self._by_key.get(key)
            if known and not known.complete:
                known.add(told.via, told.hops)
                return self._leaving()
        self._told.update(dict.fromkeys(keys, told))
        while len(self._told) > 2 * WAITING:
            self._give_up(self._told.popitem(last=False)[1])
        return ()

    def rest(self) -> Iterator[Capture]:
        """At the end of the archive."""
        for told in self._told.values():
            self._give_up(told)
        for row in self._rows:
            yield row.capture

    def _leaving(self) -> list[Capture]:
        rows, leaving = self._rows, list[Capture]()
        while rows and (rows[0].complete or len(rows) > WAITING):
            row = rows.popleft()
            leaving.append(row.capture)
            if self._by_key is not None:
                for key in capture_keys(row.names):
                    if self._by_key.get(key) is row:
                        del self._by_key[key]
        return leaving

    def _give_up(self, told: _Told) -> None:
        self._counters["metadata.unmatched"] += not told.used
        told.used = True
