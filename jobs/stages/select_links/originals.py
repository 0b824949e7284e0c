"""What the two stages of select_links that look for originals of revisits share."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.captures.choosing import is_original
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.select_links.captures import FIRST, TAKE, CapturesJob, joined


class OriginalsJob(CapturesJob):
    """Captures meet revisits under the name that name_of returns."""

    def name_of(self, key: bytes, capture: Capture) -> bytes | None:
        """The name by which revisits refer to the capture, if there is one."""
        raise NotImplementedError

    def map_capture(self, key: bytes, capture: Capture) -> Iterator[KeyValue]:
        if is_original(capture) and (name := self.name_of(key, capture)) is not None:
            yield name, joined(FIRST, key, capture.uri, capture.timestamp)

    def reduce_key(self, name: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        originals = list[list[bytes]]()
        for order, *fields in (value.split(b"\t") for value in values):
            if order == FIRST:
                originals.append(fields)
                continue
            key, uri, *steps = fields
            if originals:
                self.counts["revisits.original"] += 1
            else:
                yield from self.searched(key, uri, steps)
            for original, *capture in originals:
                yield joined(TAKE, original, *capture, UNKNOWN if original == key else uri)
