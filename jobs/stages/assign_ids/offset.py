"""To each number the keys of the ranges before it, which the plan has by label: ids."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.mapreduce.job import Pair
from jobs.mapreduce.planned_job import PlannedJob
from jobs.stages.assign_ids.numbering import with_id


class AssignIdsOffset(PlannedJob):
    def map_line(self, line: bytes) -> Iterator[Pair]:
        label, number, key, *source = line.split(b"\t")
        identity = int(number) + self.plan[label.decode()]
        row = with_id(identity, key, b"".join(source), self.counts)
        name, tab, rest = row.partition(b"\t")
        yield (name, rest) if tab else (b"", row)


if __name__ == "__main__":
    AssignIdsOffset.run()
