"""Which capture a metadata record describes, in either order, with bounded memory.

A metadata record names its capture by id (WARC-Concurrent-To or WARC-Refers-To). Some writers name
an id that no record has, so URI and time are compared too.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator

from crawlrank.jobs.kernel.archive.records import Record

REMEMBERED = 50_000  # captures whose metadata may still come
WAITING = 1000  # metadata records whose capture may still come
WAITING_BYTES = 2**25  # of these records
LONGEST_NAME = 160  # characters of an id or a URI that are remembered as they are

Names = tuple[str, str, str]  # of a capture: record id or '', URI, timestamp


class MetadataMatching:
    """Which metadata records count, as soon as that is known.

    alone: whether each could be matched by the surest of its keys, to a capture before it, so that
    nothing before the first record matters.
    """

    alone = True

    def __init__(self) -> None:
        # Until the first metadata record: most archives have none, and keys take time to make.
        self._unmatched: deque[tuple[Names, bool]] | None = deque(maxlen=REMEMBERED)
        self._verdicts: OrderedDict[int, bool] = OrderedDict()
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
        """Of a request of another method than GET, or its answer: what describes it by its id does
        not count. Another capture may have its URI and its time."""
        if self._unmatched is not None:
            self._unmatched.append(((names(record)[0], "", ""), False))
        else:
            self._matched((names(record)[0], "", ""), False)

    def _matched(self, named: Names, lines_count: bool) -> list[Record]:
        counting = []
        for key in capture_keys(named):
            self._verdicts[key] = lines_count
            waiting = self._waiting.get(self._by_key.get(key, -1))
            if waiting:
                self._forget(waiting)
                if lines_count:
                    counting.append(waiting)
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
                if self._verdicts[key]:
                    yield record
                return
            self.alone = False
        self._waiting[record.offset] = record
        self._by_key.update(dict.fromkeys(described_keys(record), record.offset))
        self._bytes += _held(record)
        while len(self._waiting) > WAITING or self._bytes > WAITING_BYTES:
            oldest = next(iter(self._waiting.values()))
            self._forget(oldest)
            yield oldest

    def rest(self) -> Iterator[Record]:
        """At the end of the archive: the records whose capture is in another."""
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
