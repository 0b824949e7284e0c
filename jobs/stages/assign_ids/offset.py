"""Ids: each number plus the keys of the ranges before its own, which the plan has by label."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.mapreduce.planned_jobs import PlannedJob
from crawlrank.jobs.stages.assign_ids.numbering import with_id


class AssignIdsOffset(PlannedJob):
    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        label, number, key, *source = line.split(b"\t")
        identity = int(number) + self.plan[label.decode()]
        row = with_id(identity, key, b"".join(source), self.counts)
        name, tab, rest = row.partition(b"\t")
        yield (name, rest) if tab else (b"", row)


if __name__ == "__main__":
    AssignIdsOffset.run()
