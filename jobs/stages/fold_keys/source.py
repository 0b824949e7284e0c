"""Sources of links become the ends that they fold into."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.captures.choosing import NOWHERE
from crawlrank.jobs.kernel.formats.datasets import URIS
from crawlrank.jobs.kernel.formats.lines import parse_canonical_link, parse_else
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.fold_keys.ends import EndsJob
from crawlrank.jobs.stages.merging import LINK


class FoldKeysSource(EndsJob):
    def map_row(self, line: bytes) -> KeyValue:
        target, source = parse_else(parse_canonical_link, line, URIS)
        return source, LINK + target

    def without_end(self, key: bytes, end: bytes, value: bytes) -> Iterator[bytes]:
        """What is gone is no page that gives."""
        yield self.with_end(NOWHERE, value)

    def with_end(self, end: bytes, value: bytes) -> bytes:
        return b"%s %s" % (value[1:], end)


if __name__ == "__main__":
    FoldKeysSource.run()
