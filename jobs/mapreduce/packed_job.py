"""What the jobs on packed partitions share: the plan of their driver, and lists of partitions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from jobs.kernel.rank.packed_plan import Plan, read_plan
from jobs.mapreduce.job import Pair
from jobs.mapreduce.planned_job import PlannedJob


class PackedJob(PlannedJob):
    """Its plan has the ranges, and where packed data are."""

    @cached_property
    def plan(self) -> Plan:
        return read_plan(self.options.plan)


class PartitionJob(PackedJob):
    """Reads the numbers of partitions, those of a task in each line, and the partitions where they
    lie."""

    def by_line(self) -> bool:
        return True

    def map_line(self, line: bytes) -> Iterator[Pair]:
        for number in line.split():
            yield from self.map_partition(int(number))

    def map_partition(self, own: int) -> Iterator[Pair]:
        raise NotImplementedError
