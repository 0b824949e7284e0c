"""HTML pages of an archive together with the metadata records that describe them, in either order.

Memory: pages and metadata that wait for each other, up to WAITING of each, and WAITING_BYTES.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from crawlrank.jobs.kernel.archive.metadata import (
    WAITING,
    WAITING_BYTES,
    capture_keys,
    described_keys,
    is_metadata,
    names,
)
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.captures.counters import CAPTURED
from crawlrank.jobs.kernel.keys.uris import as_crawled
from crawlrank.jobs.kernel.links.documents import document, inflated


class _Waiting:
    """Records, the oldest first, by the keys under which their counterparts look them up. most:
    records that may wait. gone: those that were dropped, as too many waited."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.records: OrderedDict[int, tuple[Record, list[int]]] = OrderedDict()
        self._by_key: dict[int, int] = {}
        self._bytes = self._number = self.gone = 0

    def add(self, record: Record, keys: list[int]) -> None:
        self._number += 1
        self.records[self._number] = record, keys
        self._by_key.update(dict.fromkeys(keys, self._number))
        self._bytes += len(record.body)
        while len(self.records) > (self._most if self._bytes <= WAITING_BYTES else 1):
            self._forget(next(iter(self.records)))
            self.gone += 1

    def take(self, keys: list[int]) -> Record | None:
        for key in keys:
            if number := self._by_key.get(key):
                return self._forget(number)
        return None

    def _forget(self, number: int) -> Record:
        record, keys = self.records.pop(number)
        self._bytes -= len(record.body)
        for key in keys:
            if self._by_key.get(key) == number:
                del self._by_key[key]
        return record


class DescribedPages:
    """Pages and metadata of an archive that wait for their counterparts. waiting: how many of each
    may."""

    def __init__(self, waiting: int = WAITING) -> None:
        self._pages, self._metadata = _Waiting(waiting), _Waiting(waiting)

    @property
    def alone(self) -> int:
        """Pages without metadata, once all records were added."""
        return self._pages.gone + len(self._pages.records)

    @property
    def metadata_alone(self) -> int:
        """Metadata without a page, likewise."""
        return self._metadata.gone + len(self._metadata.records)

    def add(self, record: Record, max_record: int) -> Iterator[tuple[Record, Record]]:
        """Yields a page and its metadata once both are there. max_record: bytes of a body."""
        if record.kind in CAPTURED and _is_page(record, max_record):
            keys = capture_keys(names(record))
            if metadata := self._metadata.take(keys):
                yield record, metadata
            else:
                self._pages.add(record, keys)
        elif is_metadata(record):
            keys = described_keys(record)
            if page := self._pages.take(keys):
                yield page, record
            else:
                self._metadata.add(record, keys)


def _is_page(record: Record, max_record: int) -> bool:
    if isinstance(as_crawled(record.uri), str):
        return False
    body, _ = inflated(record.body, record.media_type, record.uri, max_record)
    return body is record.body and document(record.media_type, body, record.uri) == "html"
