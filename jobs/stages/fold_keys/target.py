"""Targets of links, and keys of spellings, become the ends that they fold into."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.captures.choosing import NOWHERE
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.fold_keys.ends import EndsJob
from crawlrank.jobs.stages.merging import SPELLING, keyed


class FoldKeysTarget(EndsJob):
    def map_row(self, line: bytes) -> KeyValue:
        return keyed(line)

    def without_end(self, key: bytes, end: bytes, value: bytes) -> Iterator[bytes]:
        """Its spellings without links, if they are to be listed; no link leads to it."""
        if value[:1] == SPELLING and end == NOWHERE:
            uri, captures, _, last = value.split(b"\t")
            yield self.with_end(key, b"\t".join((uri, captures, b"0", last)))

    def with_end(self, end: bytes, value: bytes) -> bytes:
        return b"%s%s%s" % (end, b"\t" if value[:1] == SPELLING else b" ", value[1:])


if __name__ == "__main__":
    FoldKeysTarget.run()
