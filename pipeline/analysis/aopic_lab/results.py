"""What a run of the laboratory measured, its means over seeds and crawls, and its tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from crawlrank.pipeline.analysis.aopic_lab.definitions import DefinitionRow
from crawlrank.pipeline.analysis.aopic_lab.experiments import (
    FIXED,
    IMPROVED,
    INTERPOLATIONS,
    RATES,
    TIME,
    VISITS,
    LabGraphs,
    MeasureRow,
    PolicyRow,
    WindowRow,
)
from crawlrank.pipeline.analysis.aopic_lab.partitioning import PartitionRow
from crawlrank.pipeline.analysis.aopic_lab.reason_rows import ReasonRow
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.data.output.spreadsheets import csv_pieces

POLICY_FIGURES, WINDOW_FIGURES, STORED = (2, 3), (4, 6), 5
FIGURES = (2, 3, 4, 5, 6)
#: the windows that a figure shows
SHOWN: dict[int, tuple[str, ...]] = {
    4: (*(f"M = {m}" for m in VISITS), *INTERPOLATIONS),
    6: (FIXED, IMPROVED, f"M = {VISITS[1]}", f"interpolation, T = {TIME:g}"),
}
SHOWN[STORED] = (*SHOWN[6], f"M = {VISITS[0]}", f"M = {VISITS[-1]}")


@dataclass
class LabResults:
    """Rows of experiments.py, reason_rows.py, definitions.py and partitioning.py. speeds: visits a
    second of each policy, the first seed's."""

    graphs: LabGraphs
    seeds: tuple[int, ...]
    figures: tuple[int, ...]
    policies: list[PolicyRow] = field(default_factory=list)
    windows: list[WindowRow] = field(default_factory=list)
    measures: list[MeasureRow] = field(default_factory=list)
    reasons: list[ReasonRow] = field(default_factory=list)
    definitions: list[DefinitionRow] = field(default_factory=list)
    partitions: list[PartitionRow] = field(default_factory=list)
    speeds: dict[str, float] = field(default_factory=dict)

    @property
    def rates(self) -> tuple[float, ...]:
        """Of change: all of them only for the figures that show them."""
        if set(WINDOW_FIGURES) & set(self.figures):
            return RATES
        return (0.0,) if STORED in self.figures else ()

    @property
    def policy_names(self) -> tuple[str, ...]:
        """Those that have rows, in the order of the rows."""
        return tuple(dict.fromkeys(row.policy for row in self.policies))

    def policy(self, name: str, column: str) -> list[float]:
        """A column of PolicyRow after N, 2 N … visits, the mean over seeds."""
        rows = [row for row in self.policies if row.policy == name]
        turns = sorted({row.visits for row in rows})
        return [
            float(np.mean([getattr(row, column) for row in rows if row.visits == turn]))
            for turn in turns
        ]

    def window(self, name: str, rate: float, column: str = "error") -> float:
        """A column of WindowRow, the mean over seeds and crawls."""
        rows = (row for row in self.windows if (row.window, row.rate) == (name, rate))
        return float(np.mean([getattr(row, column) for row in rows]))

    def tables(self) -> dict[str, list[NamedTuple]]:
        """What the CSV files hold, by name; those without rows left out."""
        tables: dict[str, list[NamedTuple]] = {
            "policies": list(self.policies),
            "windows": list(self.windows),
            "measures": list(self.measures),
            "reasons": list(self.reasons),
            "definitions": list(self.definitions),
            "partitions": list(self.partitions),
        }
        return {name: rows for name, rows in tables.items() if rows}


def write_tables(results: LabResults, output: Path) -> list[Path]:
    """A CSV file for each table; numbers as Python prints them, so that they are read back as they
    were."""
    paths = list[Path]()
    for name, rows in results.tables().items():
        path = output / f"{name}.csv"
        with replacing(path) as temporary, temporary.open("w", newline="") as stream:
            stream.writelines(csv_pieces(rows[0]._fields, rows, end="\n"))
        paths.append(path)
    return paths
