"""What an engine is: how the steps of a run are done, on datasets of its own form in a work folder.

pipeline/run.py knows the order of the steps and what is done already; an engine does them. Both
engines leave the same ids, and the same scores within what DESIGN allows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from jobs.kernel.choosing import Rules
from jobs.kernel.extraction import Options
from jobs.kernel.opening import Place
from pipeline.caveats import LinkCounts
from pipeline.classes import Preferences, Ties
from pipeline.dataset_store import DatasetStore
from pipeline.graph import Graph, Mask
from pipeline.manifest import Manifest
from pipeline.precedence import Options as PrecedenceOptions
from pipeline.ranking import Round, Stop
from pipeline.steps import ArchiveReport

Told = dict[str, Any]  # what the manifest says of a step: rows, counters …
# called after each round with its entry and all entries; whether they are saved, so that what the
# rounds before have left may go
OnRound = Callable[[Round, list[Round]], bool]


#: step -> the datasets that it reads, of engines whose datasets are text
READS_OF_TEXT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "extract-links": (),
        "select-links": ("links", "captures"),
        "canonicalize": ("links", "captures", "selected", "folds"),
        "assign-ids": ("canonical_links", "uris"),
        "gen-graph": ("input_links", "map"),
        "page-rank": ("graph",),
        "join-scores": ("ranks", "map", "uris"),
        "export-precedence": ("scores", "uris"),
        "validate-opic": ("graph", "ranks", "uris", "map"),
    }
)


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
    captures ends. writes: step -> the datasets that it leaves, whole or not at all. reads: step ->
    those that it reads, where there are such. store: where datasets lie.
    """

    form: str
    suffix: str
    writes: Mapping[str, tuple[str, ...]]
    reads: Mapping[str, tuple[str, ...]]
    store: DatasetStore

    def take(self, manifest: Manifest) -> None:
        """Make where the datasets lie this work folder's own, before the first change there. Raises
        BadInput where it is another's, JobFailed where jobs of a dead driver cannot be ended."""

    def extract(
        self, tasks: Sequence[ArchiveTask], options: Options
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
