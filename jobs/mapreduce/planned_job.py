"""What the jobs share that their driver gives a plan, in a small file of JSON."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

from jobs.mapreduce.job import Job


class PlannedJob(Job):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--plan", help="what earlier jobs counted; set by the driver")

    @cached_property
    def plan(self) -> Any:
        """Read when the first line needs it: in the driver the file has another path."""
        return json.loads(Path(self.options.plan).read_bytes())
