"""What the jobs on packed partitions share: the plan of their driver, and lists of partitions."""

from __future__ import annotations

from collections.abc import Iterator

from jobs.kernel.rank.packed_plan import Plan, read_plan
from jobs.mapreduce.job import Job, Pair


class PackedJob(Job):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--plan", help="ranges, and where packed data are; set by the driver")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._read: Plan | None = None

    @property
    def plan(self) -> Plan:
        """Read when the first line needs it: in the driver the file has another path."""
        self._read = self._read or read_plan(self.options.plan)
        return self._read


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
