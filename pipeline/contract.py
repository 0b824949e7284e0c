"""What the driver and the engines of a run agree on: types and tables.

pipeline/run.py decides which steps are to be done; an engine does them, on datasets of its own form
in a work folder. All engines make the same ids, and the same scores within what DESIGN allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from crawlrank.jobs.kernel.errors import NotConverged, count_of
from crawlrank.jobs.kernel.keys.keys import Www

if TYPE_CHECKING:
    from crawlrank.jobs.kernel.captures.choosing import CaptureRules
    from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
    from crawlrank.jobs.kernel.storage.opening import PathOrUrl
    from crawlrank.pipeline.data.graph import Floats, Graph, Mask
    from crawlrank.pipeline.options import LinkWeights, PrecedenceOptions, SiteOptions, Ties
    from crawlrank.pipeline.precedence.caveats import LinkCounts
    from crawlrank.pipeline.ranking.classes import Preferences
    from crawlrank.pipeline.ranking.methods import Method
    from crawlrank.pipeline.workfolder.dataset_store import DatasetStore
    from crawlrank.pipeline.workfolder.manifest import Manifest

RANK = "page-rank"  # the step
EMBEDDED = "embedded"  # the runner without jobs: this process and a pool
PAGERANK = "pagerank"  # the default ranking; see ranking/methods.py
HITS = "hits"
SITE = "site"  # the ranking of sites
COMBINED = "combined"  # one that is made of others
LINK_WEIGHT = "--link-weight"
BEANS, SUMMARY = "crawler-beans-fragment.xml", "precedence.summary.json"
PRECEDENCE = ("precedence.txt", SUMMARY, BEANS)

StepEntry = dict[str, Any]  # what the manifest holds of a step: rows, counters …
Round = dict[str, Any]  # what it holds of a round of PageRank
# called after each round with its entry and all entries; returns whether these are saved, so that
# files of earlier rounds may be removed
OnRound = Callable[[Round, list[Round]], bool]


class Datasets(NamedTuple):
    """The datasets that a step reads, and those that it writes, whole or not at all."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


#: step -> the steps whose results it uses, in the order of a run
STEPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "extract-links": (),
        "select-links": ("extract-links",),  # only in runs with rules for several captures or folds
        "canonicalize": ("extract-links", "select-links"),
        "assign-ids": ("canonicalize",),
        "gen-graph": ("assign-ids",),
        "page-rank": ("gen-graph",),
        "join-scores": ("page-rank", "canonicalize"),
        "export-precedence": ("join-scores", "canonicalize"),
        "validate-opic": ("page-rank", "assign-ids", "canonicalize"),
    }
)


def later_steps(name: str) -> list[str]:
    """The steps that read what this one writes, or what those write."""
    later = [name]
    for step, reads in STEPS.items():
        if not set(reads).isdisjoint(later):
            later.append(step)
    return later[1:]


#: of the engine whose datasets are text
TEXT: Mapping[str, Datasets] = MappingProxyType(
    {
        "extract-links": Datasets((), ("links", "captures")),
        "select-links": Datasets(("links", "captures"), ("selected", "folds")),
        "canonicalize": Datasets(
            ("links", "captures", "selected", "folds"), ("canonical_links", "uris")
        ),
        "assign-ids": Datasets(("canonical_links", "uris"), ("input_links", "map")),
        "gen-graph": Datasets(("input_links", "map"), ("graph",)),
        "page-rank": Datasets(("graph",), ("ranks", "hubs")),  # hubs: of HITS
        "join-scores": Datasets(("ranks", "map", "uris"), ("scores",)),
        "export-precedence": Datasets(("scores", "uris"), PRECEDENCE),
        "validate-opic": Datasets(("graph", "ranks", "uris", "map"), ("report",)),
    }
)

#: of the same engine with datasets at a URL: scored is there, scores on this machine
TEXT_AT_URL: Mapping[str, Datasets] = MappingProxyType(
    {**TEXT, "join-scores": TEXT["join-scores"]._replace(writes=("scored", "scores"))}
)

#: of the engine whose datasets are columns and arrays
COLUMNS: Mapping[str, Datasets] = MappingProxyType(
    {
        "extract-links": TEXT["extract-links"],
        "select-links": TEXT["select-links"],
        "canonicalize": Datasets(
            ("links", "captures", "keys", "selected", "folds"), ("uris", "numbers")
        ),
        "assign-ids": Datasets(("uris",), ("map",)),
        "gen-graph": Datasets(("links", "selected", "numbers", "map"), ("graph",)),
        "page-rank": Datasets(("graph",), ("ranks",)),
        "join-scores": Datasets(("ranks", "map", "uris", "graph"), ("scores",)),
        "export-precedence": Datasets(("scores", "uris", "map"), PRECEDENCE),
        "validate-opic": TEXT["validate-opic"],
    }
)


def written_by(steps: Iterable[str]) -> tuple[str, ...]:
    """The datasets that steps write, on any engine."""
    names = [n for step in steps for table in (COLUMNS, TEXT_AT_URL) for n in table[step].writes]
    return tuple(dict.fromkeys(names))


TOLERANCE = 1e-9  # the default, on every runner


@dataclass(frozen=True)
class Stop:
    """When to stop: after exactly `iterations` rounds, or at a certificate <= `tolerance`."""

    iterations: int | None = None
    tolerance: float = TOLERANCE
    max_rounds: int = 1000

    def reached(self, rounds: list[Round]) -> bool:
        if self.iterations is not None:
            return len(rounds) >= self.iterations or self._exact(rounds)
        return bool(rounds) and rounds[-1]["certificate"] <= self.tolerance

    @staticmethod
    def _exact(rounds: list[Round]) -> bool:
        """Only a method without error has the certificate 0: no bound of rounding is."""
        return bool(rounds) and rounds[-1]["certificate"] == 0

    def exhausted(self, rounds: list[Round]) -> bool:
        return self.iterations is None and len(rounds) >= self.max_rounds

    def over(self, rounds: list[Round]) -> bool:
        return self.reached(rounds) or self.exhausted(rounds)

    def not_converged(self, rounds: list[Round], title: str = "PageRank") -> NotConverged:
        """The error to raise when the rounds are exhausted and the scores are in place."""
        return NotConverged(
            f"{title}: after {count_of(len(rounds), 'round')} the certificate is "
            f"{rounds[-1]['certificate']:.2e}, above the tolerance {self.tolerance:.2e}. The "
            "scores are kept in the dataset ranks; allow more with --max-rounds, or ask for less "
            "with --tolerance."
        )


@dataclass(frozen=True, eq=False)
class Ranking:
    """What page-rank is to do. weights: float64[N] by id, of methods that take some; their meaning
    is the method's. perturb: see ranking/hits.py. sites: of a method that ranks sites.
    combined: float64[N], the scores of one that is made of others. links: None where all weigh the
    same."""

    method: Method
    stop: Stop
    weights: Floats | None = None
    perturb: float = 0.0
    sites: SiteOptions | None = None
    combined: Floats | None = None
    links: LinkWeights | None = None


@dataclass
class StepResult:
    """The result of a step: rows by dataset, counters, examples of dropped URIs."""

    rows: dict[str, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)


@dataclass
class ArchiveReport:
    """One archive after extraction. part: the name of its file in links and captures.

    error: found, expected and cure, if nothing in the archive could be read. digest: of all its
    bytes, '' if they could not be read.
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
    archive: PathOrUrl
    part: str


class ValidationInput(NamedTuple):
    """What validation compares. captured, preferred: of each node, by position."""

    graph: Graph
    ranks: Graph
    captured: Mask
    preferred: Preferences | None


class Engine(Protocol):
    """The steps. Each reads the datasets of earlier steps, in the work folder or at a URL.

    form: of the datasets, as messages name it. suffix: of the file names of parts of links and
    captures. datasets: of each step. store: the location of the datasets.
    """

    form: str
    suffix: str
    datasets: Mapping[str, Datasets]
    store: DatasetStore

    def take(self, manifest: Manifest) -> None:
        """Claim the location of the datasets for this work folder, before the first change there.
        Raises BadInput if it belongs to another work folder, JobFailed if jobs of a dead driver
        cannot be ended."""

    def extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        """Each archive as soon as its parts are in place, or its error is known."""

    def select_links(self, rules: CaptureRules, www: Www) -> StepEntry:
        """Write folds, and with rules.latest the selected links, which later steps read instead
        of links."""

    def canonicalize(self, www: Www, folded: bool) -> StepEntry:
        """folded: keys that fold are replaced by those that they fold into."""

    def assign_ids(self, nodes: str) -> StepEntry: ...

    def gen_graph(self, nodes: str) -> StepEntry: ...

    def rank(self, ranking: Ranking, rounds: list[Round], on_round: OnRound) -> list[Round]:
        """Resume after these rounds from their checkpoint, and write ranks, also when NotConverged
        is raised. Returns all rounds. The caller drops the files of rounds."""

    def checkpoint(self, stop: Stop, rounds: list[Round]) -> tuple[str, ...]:
        """The datasets to resume from after these rounds, except those with checksums inside."""

    def join_scores(self, digits: int) -> StepEntry: ...

    def export_precedence(
        self, options: PrecedenceOptions, links: LinkCounts | None = None
    ) -> StepEntry:
        """links: counts of the links in the graph, for the caveats; None if not known."""

    def validation_input(self, ties: Ties = "key") -> ValidationInput:
        """The column `preferred` is there if ties are by links."""
