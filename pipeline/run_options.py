"""What a run is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jobs.extract_links import parameters_of
from jobs.kernel.captures.choosing import Rules
from jobs.kernel.captures.extraction import Options
from jobs.mapreduce.launcher import CLUSTERS, RUNNERS
from pipeline.contract import EMBEDDED, Stop
from pipeline.data.memory import Memory
from pipeline.precedence.export import Options as PrecedenceOptions
from pipeline.ranking.validation_report import ValidationOptions

MRJOB = " or ".join(RUNNERS)  # the datasets of these are the same
CLUSTER = " or ".join(CLUSTERS)
QUICK, FULL = CHECKS = ("quick", "full")


@dataclass(frozen=True)
class RunOptions:
    """What a run is asked for. Processes, memory, the bound on rounds and what to do about
    damage do not change results and may differ from one run in a folder to the next."""

    runner: str = EMBEDDED
    processes: int | None = None
    memory: Memory | None = None
    data: str | None = None  # URL of the datasets of a cluster
    reducers: int = 8
    conf: Path | None = None
    extraction: Options = field(default_factory=Options)
    rules: Rules = field(default_factory=Rules)  # of several captures of a page, and what folds
    keep_www: bool = False
    nodes: str = "linked"
    stop: Stop = field(default_factory=Stop)
    precedence: PrecedenceOptions = field(default_factory=PrecedenceOptions)
    validation: ValidationOptions = field(default_factory=ValidationOptions)
    validate: bool = True
    strict: bool = False
    skip_bad_files: bool = False
    force: bool = False
    check_archives: str = QUICK  # how much of archives is read to see whether they changed

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop", self.stop.on(self.runner))
        if self.selects:
            asked = self.extraction._replace(timestamps=True, canonical=self.rules.canonical)
            object.__setattr__(self, "extraction", asked)

    @property
    def selects(self) -> bool:
        """Whether there is a step select-links."""
        return any(self.rules)

    def parameters(self) -> dict[str, Any]:
        """What results depend on, by option name."""
        stop, precedence = self.stop, self.precedence
        return {
            "--runner": EMBEDDED if self.runner == EMBEDDED else CLUSTER if self.data else MRJOB,
            **({"--data": self.data} if self.data else {}),
            **self.rules.parameters(),
            **parameters_of(self.extraction),
            "--keep-www": self.keep_www,
            "--nodes": self.nodes,
            "--iterations": stop.iterations,
            "--tolerance": None if stop.iterations is not None else stop.tolerance,
            "--bins": precedence.bins,
            "--unlisted": precedence.unlisted_precedence,
            "--classes-over": precedence.classes_over,
            "--ties": precedence.ties,
            "--spellings": precedence.spellings,
        }
