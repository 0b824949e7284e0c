"""Rows in the order of their positions, which are left out."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.mapreduce.job import Pair
from jobs.mapreduce.ranged_job import RangedJob
from jobs.stages.join_scores.rows import in_order


class JoinScoresSort(RangedJob):
    def map_line(self, line: bytes) -> Iterator[Pair]:
        yield self.label_of(line.partition(b"\t")[0]), line

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        return in_order(values, self.counts)


if __name__ == "__main__":
    JoinScoresSort.run()
