"""What the driver tells the tasks of packed jobs: ranges, where things are, how to go on. JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation
from crawlrank.jobs.kernel.rank.packed_graph import Ranges
from crawlrank.jobs.kernel.rank.packing import Where


@dataclass(frozen=True)
class Plan:
    """points, group_points: see Ranges. labels: the first field of the lines of each partition,
    which takes them to its reducer. structure, state: where the sections of each partition are; one
    without nodes is in neither. span: terms that no sum has more of. gammas, factors: of the vector
    that enters, see packed_round. tolerance: of the certificate. damping: see
    equation.py. dummy: its score at the end. weighted: whether
    partitions have a section teleport."""

    points: list[int]
    group_points: list[int]
    labels: list[str]
    structure: dict[int, Where] = field(default_factory=dict)
    state: dict[int, Where] = field(default_factory=dict)
    span: int = 0
    gammas: list[float] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)
    tolerance: float = 0.0
    damping: float = RECIPE.damping
    dummy: float = 0.0
    weighted: bool = False

    @property
    def ranges(self) -> Ranges:
        return Ranges(np.array(self.points, np.int64), np.array(self.group_points, np.int64))

    @property
    def equation(self) -> Equation:
        return Equation(self.damping)

    def label(self, partition: int) -> bytes:
        return self.labels[partition].encode()

    def partition(self, label: bytes) -> int:
        """The label begins with the number of its partition."""
        return int(label.partition(b".")[0])

    def write(self, path: Path) -> Path:
        path.write_text(json.dumps(asdict(self)))
        return path


def plan_from(saved: dict[str, Any]) -> Plan:
    """The plan of which this is the JSON."""
    places = {
        name: {int(number): Where(*where) for number, where in saved[name].items()}
        for name in ("structure", "state")
    }
    return Plan(**{**saved, **places})


def read_plan(path: str | Path) -> Plan:
    return plan_from(json.loads(Path(path).read_bytes()))
