"""Jobs with a plan, a small file of JSON that the driver writes: split points, counts of earlier
jobs, or the ranges and locations of packed partitions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlrank.jobs.kernel.formats.order import labels, range_of
from crawlrank.jobs.mapreduce.job import Job, KeyValue

if TYPE_CHECKING:
    from crawlrank.jobs.kernel.rank.packed_graph import Plan


class PlannedJob(Job):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--plan", help="what earlier jobs counted; set by the driver")

    @cached_property
    def plan(self) -> Any:
        """Read when the first line needs it, as in the driver the file has another path."""
        return json.loads(Path(self.options.plan).read_bytes())


class RangedJob(PlannedJob):
    """Partitions by range; its plan is the list of split points."""

    @cached_property
    def _points(self) -> list[bytes]:
        return [point.encode() for point in self.plan]

    @cached_property
    def _labels(self) -> list[bytes]:
        return labels(len(self._points) + 1, self.options.reducers or 1)

    def label_of(self, key: bytes) -> bytes:
        """The label of the key's range, as jobs/kernel/formats/order.py makes them."""
        return self._labels[range_of(key, self._points)]


def write_points(path: Path, points: Iterable[bytes]) -> None:
    """Write the plan of a RangedJob. points: ascending."""
    path.write_text(json.dumps([point.decode() for point in points]))


class PackedJob(PlannedJob):
    """Its plan has the ranges and the locations of packed data."""

    @cached_property
    def plan(self) -> Plan:
        from crawlrank.jobs.kernel.rank.packed_graph import read_plan  # it loads numpy

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
