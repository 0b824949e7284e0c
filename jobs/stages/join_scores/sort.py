"""Sorts rows by their positions, and drops these."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.mapreduce.planned_jobs import RangedJob
from crawlrank.jobs.stages.join_scores.rows import in_order


class JoinScoresSort(RangedJob):
    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        yield self.label_of(line.partition(b"\t")[0]), line

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        return in_order(values, self.counts)


if __name__ == "__main__":
    JoinScoresSort.run()
