"""Links and spellings that now have the same key as one."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.mapreduce.job import Pair
from jobs.stages.merging import MergingJob, sent


class FoldKeysMerge(MergingJob):
    def map_line(self, line: bytes) -> Iterator[Pair]:
        yield sent(line)


if __name__ == "__main__":
    FoldKeysMerge.run()
