"""Targets of links, and keys of spellings, become the ends that they fold into."""

from __future__ import annotations

from jobs.mapreduce.job import KeyValue
from jobs.stages.fold_keys.ends import EndsJob
from jobs.stages.merging import SPELLING, keyed


class FoldKeysTarget(EndsJob):
    def map_row(self, line: bytes) -> KeyValue:
        return keyed(line)

    def with_end(self, end: bytes, value: bytes) -> bytes:
        return b"%s%s%s" % (end, b"\t" if value[:1] == SPELLING else b" ", value[1:])


if __name__ == "__main__":
    FoldKeysTarget.run()
