"""Links and spellings that now have the same key become one."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.merging import MergingJob, keyed


class FoldKeysMerge(MergingJob):
    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        yield keyed(line)


if __name__ == "__main__":
    FoldKeysMerge.run()
