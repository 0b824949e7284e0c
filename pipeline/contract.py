"""What the driver and the engines of a run agree on: types and tables, nothing that works.

pipeline/run.py knows which steps are done already; an engine does them, on datasets of its own form
in a work folder. All engines leave the same ids, and the same scores within what DESIGN allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from jobs.kernel.errors import NotConverged

if TYPE_CHECKING:
    from jobs.kernel.captures.choosing import Rules
    from jobs.kernel.captures.extraction_options import ExtractionOptions
    from jobs.kernel.storage.opening import Place
    from pipeline.data.graph import Graph, Mask
    from pipeline.options import PrecedenceOptions, Ties
    from pipeline.precedence.caveats import LinkCounts
    from pipeline.ranking.classes import Preferences
    from pipeline.workfolder.dataset_store import DatasetStore
    from pipeline.workfolder.manifest import Manifest

EMBEDDED = "embedded"  # the engine of this process and a pool, as --runner names it
BEANS, SUMMARY = "crawler-beans-fragment.xml", "precedence.summary.json"
PRECEDENCE = ("precedence.txt", SUMMARY, BEANS)

Told = dict[str, Any]  # what the manifest says of a step: rows, counters …
Round = dict[str, Any]  # what it says of a round of PageRank
# called after each round with its entry and all entries; whether they are saved, so that what the
# rounds before have left may go
OnRound = Callable[[Round, list[Round]], bool]


class Datasets(NamedTuple):
    """The datasets that a step reads, and those that it leaves, whole or not at all."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


#: step -> the steps that it goes by, in the order of a run
STEPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "extract-links": (),
        "select-links": ("extract-links",),  # in runs that ask for it
        "canonicalize": ("extract-links", "select-links"),
        "assign-ids": ("canonicalize",),
        "gen-graph": ("assign-ids",),
        "page-rank": ("gen-graph",),
        "join-scores": ("page-rank", "canonicalize"),
        "export-precedence": ("join-scores", "canonicalize"),
        "validate-opic": ("page-rank", "assign-ids", "canonicalize"),
    }
)

#: of an engine whose datasets are text
TEXT: Mapping[str, Datasets] = MappingProxyType(
    {
        "extract-links": Datasets((), ("links", "captures")),
        "select-links": Datasets(("links", "captures"), ("selected", "folds")),
        "canonicalize": Datasets(
            ("links", "captures", "selected", "folds"), ("canonical_links", "uris")
        ),
        "assign-ids": Datasets(("canonical_links", "uris"), ("input_links", "map")),
        "gen-graph": Datasets(("input_links", "map"), ("graph",)),
        "page-rank": Datasets(("graph",), ("ranks",)),
        "join-scores": Datasets(("ranks", "map", "uris"), ("scores",)),
        "export-precedence": Datasets(("scores", "uris"), PRECEDENCE),
        "validate-opic": Datasets(("graph", "ranks", "uris", "map"), ("report",)),
    }
)

#: of one whose text is at a URL, and what users take on this machine
TEXT_AT_URL: Mapping[str, Datasets] = MappingProxyType(
    {**TEXT, "join-scores": TEXT["join-scores"]._replace(writes=("scored", "scores"))}
)

#: of one whose datasets are columns and arrays
COLUMNS: Mapping[str, Datasets] = MappingProxyType(
    {
        "extract-links": TEXT["extract-links"],
        "select-links": TEXT["select-links"],
        "canonicalize": Datasets(
            ("links", "captures", "keys", "selected", "folds"), ("uris", "numbers")
        ),
        "assign-ids": Datasets(("uris",), ("map",)),
        "gen-graph": Datasets(("links", "selected", "numbers", "map"), ("graph",)),
        "page-rank": TEXT["page-rank"],
        "join-scores": Datasets(("ranks", "map", "uris", "graph"), ("scores",)),
        "export-precedence": Datasets(("scores", "uris", "map"), PRECEDENCE),
        "validate-opic": TEXT["validate-opic"],
    }
)


#: of the scores, where nobody asks for one: a sweep costs little, a round of the jobs is a sort of
#: all edges
TOLERANCE, TOLERANCE_OF_JOBS = 1e-9, 1e-6


@dataclass(frozen=True)
class Stop:
    """When to stop: after exactly `iterations` rounds, or at a certificate <= `tolerance`.

    tolerance: None stands for the default of the runner, which `on` fills in.
    """

    iterations: int | None = None
    tolerance: float | None = None
    max_rounds: int = 200

    def on(self, runner: str) -> Stop:
        """The same with the default tolerance of the runner, where it has none."""
        if self.tolerance is not None:
            return self
        return replace(self, tolerance=TOLERANCE if runner == EMBEDDED else TOLERANCE_OF_JOBS)

    @property
    def bound(self) -> float:
        """The tolerance, which `on` has filled in."""
        if self.tolerance is None:
            raise ValueError("a Stop without a tolerance: name its runner with Stop.on")
        return self.tolerance

    def reached(self, rounds: list[Round]) -> bool:
        if self.iterations is not None:
            return len(rounds) >= self.iterations
        return bool(rounds) and rounds[-1]["certificate"] <= self.bound

    def exhausted(self, rounds: list[Round]) -> bool:
        return self.iterations is None and len(rounds) >= self.max_rounds

    def over(self, rounds: list[Round]) -> bool:
        return self.reached(rounds) or self.exhausted(rounds)

    def not_converged(self, rounds: list[Round]) -> NotConverged:
        """What to raise when the rounds are exhausted and the scores are in place."""
        return NotConverged(
            f"PageRank: after {len(rounds)} rounds the certificate is "
            f"{rounds[-1]['certificate']:.2e}, above the tolerance {self.bound:.2e}. The "
            "scores are kept in the dataset ranks; allow more with --max-rounds, or ask for less "
            "with --tolerance."
        )


@dataclass
class StepResult:
    """What a step reports: rows by dataset, counters, examples of what was dropped."""

    rows: dict[str, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)


@dataclass
class ArchiveReport:
    """One archive after extraction. part: the name of its file in links and captures.

    error: found, expected and cure, when nothing in it could be read. digest: of all its bytes, ''
    where they could not be read.
    """

    path: str
    part: str
    counters: dict[str, int]
    damage: list[list[Any]] = field(default_factory=list)
    error: list[str] | None = None
    digest: str = ""


class ArchiveTask(NamedTuple):
    """An archive to extract. content: its fingerprint. part: its file in links and captures."""

    content: str
    place: Place
    part: str


class Ranked(NamedTuple):
    """What validation compares. captured, preferred: of the nodes, by position."""

    graph: Graph
    ranks: Graph
    captured: Mask
    preferred: Preferences | None


class Engine(Protocol):
    """The steps, each on what the one before has left in the work folder, or at a URL.

    form: of the datasets, as messages name it. suffix: how the name of a part of links and
    captures ends. datasets: of each step. store: where datasets lie.
    """

    form: str
    suffix: str
    datasets: Mapping[str, Datasets]
    store: DatasetStore

    def take(self, manifest: Manifest) -> None:
        """Make where the datasets lie this work folder's own, before the first change there. Raises
        BadInput where it is another's, JobFailed where jobs of a dead driver cannot be ended."""

    def extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        """Each archive once its parts are in place, or with its error, as they are done."""

    def select_links(self, rules: Rules, keep_www: bool) -> Told:
        """Leave folds, and with rules.latest the selected links, which the steps behind then take
        for links."""

    def canonicalize(self, keep_www: bool, folded: bool) -> Told:
        """folded: keys that fold give way."""

    def assign_ids(self, nodes: str) -> Told: ...

    def gen_graph(self, nodes: str) -> Told: ...

    def rank(self, stop: Stop, rounds: list[Round], on_round: OnRound) -> list[Round]:
        """Go on behind these rounds, whose checkpoint is as they left it, and leave ranks, also
        when it raises NotConverged; all rounds. What rounds leave stays for the caller to drop."""

    def checkpoint(self, stop: Stop, rounds: list[Round]) -> tuple[str, ...]:
        """The datasets to go on from behind these rounds, that have no checksums of their own."""

    def join_scores(self, digits: int) -> Told: ...

    def export_precedence(
        self, options: PrecedenceOptions, links: LinkCounts | None = None
    ) -> Told:
        """links: what the graph is made of, for the caveats; None: not known."""

    def ranked(self, ties: Ties = "key") -> Ranked:
        """With what is preferred where ties are by links."""
