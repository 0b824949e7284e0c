"""What jobs on packed partitions share: their plan, and lists of partitions as input."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from crawlrank.jobs.kernel.rank.packed_plan import Plan, read_plan
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.mapreduce.planned_jobs import PlannedJob


class PackedJob(PlannedJob):
    """Its plan has the ranges and the locations of packed data."""

    @cached_property
    def plan(self) -> Plan:
        return read_plan(self.options.plan)


class PartitionJob(PackedJob):
    """Reads lines of partition numbers, one line a task, and the partitions themselves at their
    locations."""

    def by_line(self) -> bool:
        return True

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        for number in line.split():
            yield from self.map_partition(int(number))

    def map_partition(self, own: int) -> Iterator[KeyValue]:
        raise NotImplementedError
