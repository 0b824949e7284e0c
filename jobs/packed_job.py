"""What the jobs on packed partitions share: the plan that their driver hands over."""

from __future__ import annotations

from jobs.base import Job
from jobs.kernel.packed_plan import Plan, read_plan


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
