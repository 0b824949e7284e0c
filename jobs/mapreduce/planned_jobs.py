"""What the jobs share that partition by range; their plan is the list of split points."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from jobs.kernel.formats.ranges import labels, range_of
from jobs.mapreduce.planned_job import PlannedJob


def write_points(path: Path, points: Iterable[bytes]) -> None:
    """Split points, ascending, as the plan of a RangedJob."""
    path.write_text(json.dumps([point.decode() for point in points]))


class RangedJob(PlannedJob):
    @cached_property
    def _points(self) -> list[bytes]:
        return [point.encode() for point in self.plan]

    @cached_property
    def _labels(self) -> list[bytes]:
        return labels(len(self._points) + 1, self.options.reducers or 1)

    def label_of(self, key: bytes) -> bytes:
        """The label of the key's range, as jobs/kernel/formats/ranges.py makes them."""
        return self._labels[range_of(key, self._points)]
