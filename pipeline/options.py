"""Options of a run, for commands and programs: each value with its type, bounds and default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.mapreduce.launcher import CLUSTERS, RUNNERS
from crawlrank.pipeline.data.memory import Memory
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.inputs import INPUTS
from crawlrank.pipeline.ranking.methods import METHODS, PAGERANK
from crawlrank.pipeline.ranking.options import Stop, ValidationOptions
from crawlrank.pipeline.steps import EMBEDDED

MRJOB = " or ".join(RUNNERS)  # these make the same datasets
CLUSTER = " or ".join(CLUSTERS)
NODES = ("linked", "all")
QUICK, FULL = CHECKS = ("quick", "full")

HostSort = Literal[
    "score",
    "best",
    "pages",
    "captured",
    "captures",
    "links_in",
    "links_out",
    "links_within",
    "host",
]


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan of fetches. budget: fetches a day. horizon: days that are planned. due:
    days whose fetches are in the precedence file. shortest_interval: days between two fetches of a
    page."""

    budget: float
    horizon: float = 90.0
    due: float = 1.0
    objective: str = "regular"
    shortest_interval: float = 1 / 24


@dataclass(frozen=True)
class RunOptions:
    """Options of a run. Processes, memory, the bound on rounds and the treatment of damage do not
    change results and may differ between runs in the same folder."""

    runner: str = EMBEDDED
    processes: int | None = None
    memory: Memory | None = None
    data: str | None = None  # URL of the datasets of a cluster
    reducers: int | None = None
    conf: Path | None = None
    extraction: ExtractionOptions = field(default_factory=ExtractionOptions)
    rules: CaptureRules = field(default_factory=CaptureRules)  # which captures count, what folds
    www: Www = "strip"
    nodes: str = NODES[0]
    method: str = PAGERANK  # a row of ranking/methods.py
    inputs: Mapping[str, Any] = field(default_factory=dict)  # of the method: option -> value
    stop: Stop = field(default_factory=Stop)
    precedence: PrecedenceOptions = field(default_factory=PrecedenceOptions)
    validation: ValidationOptions = field(default_factory=ValidationOptions)
    validate: bool = True
    strict: bool = False
    skip_bad_files: bool = False
    force: bool = False
    check_archives: str = QUICK  # how much of an archive is read to see whether it changed

    def __post_init__(self) -> None:
        if self.selects:
            extraction = self.extraction._replace(timestamps=True, canonical=self.rules.canonical)
            object.__setattr__(self, "extraction", extraction)

    @property
    def selects(self) -> bool:
        """Whether the run has a step select-links."""
        return self.rules.selects

    def parameters(self) -> dict[str, Any]:
        """What results depend on, by option."""
        return {
            "--runner": EMBEDDED if self.runner == EMBEDDED else CLUSTER if self.data else MRJOB,
            **({"--data": self.data} if self.data else {}),
            **self.rules.parameters(),
            **self.extraction.parameters(),
            "--keep-www": self.www == "keep",
            "--surt-exact": self.www == "surt",
            "--nodes": self.nodes,
            **self.ranking_parameters(),
        }

    def ranking_parameters(self) -> dict[str, Any]:
        """The parameters that only the steps from page-rank on depend on."""
        stop = {f"--{name}": value for name, value in self.stop.parameters().items()}
        inputs = METHODS[self.method].parameters(self.inputs)
        return {"--method": self.method, **inputs, **stop, **self.precedence.parameters()}


#: all options that only the steps from page-rank on depend on
RANKING_PARAMETERS = frozenset(
    {
        *(each.option for each in INPUTS),
        *RunOptions(precedence=PrecedenceOptions(aliases=("www",))).ranking_parameters(),
    }
)

#: flags that are on if nothing is said -> the flag that turns them off
TURNED_OFF = {"--validate": "--no-validate"}


def option_words(name: str, value: Any) -> list[str]:
    """The words of a command line that give the option its value; none for what is not given. The
    one place that turns parameters into options, so that no message shows `--pdf False`.

    >>> option_words("--pdf", True), option_words("--pdf", False), option_words("--bins", 5)
    (['--pdf'], [], ['--bins', '5'])
    >>> option_words("--validate", False), option_words("--fold", "canonical redirects")
    (['--no-validate'], ['--fold', 'canonical', '--fold', 'redirects'])
    """
    if name in TURNED_OFF:
        return [] if value else [TURNED_OFF[name]]
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    values = str(value).split() if name == "--fold" else [str(value)]
    return [word for each in values for word in (name, each)]


def with_option(name: str, value: Any) -> str:
    """The option for a sentence: `with --bins 5`, `without --pdf`."""
    words = option_words(name, value)
    return f"with {' '.join(words)}" if words else f"without {name}"
