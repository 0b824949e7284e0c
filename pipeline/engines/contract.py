"""What a run asks of its engine: a method for each step.

An engine does the steps on datasets of its own form in a work folder. All engines make the same
ids, and the same scores within what DESIGN allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.pipeline.data.graph import Graph, Mask
from crawlrank.pipeline.precedence.caveats import LinkCounts
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.classes import Preferences
from crawlrank.pipeline.ranking.methods import Method
from crawlrank.pipeline.ranking.options import OnRound, Round, Stop, Ties
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask, Datasets, StepEntry
from crawlrank.pipeline.workfolder.dataset_store import DatasetStore
from crawlrank.pipeline.workfolder.manifest import Manifest


@dataclass(frozen=True, eq=False)
class Ranking:
    """What page-rank computes. inputs: the inputs of the method that are given, by the names in
    ranking/inputs.py. Weights of pages and combined scores are float64[N] by id; others have the
    value of their option."""

    method: Method
    stop: Stop
    inputs: Mapping[str, Any] = field(default_factory=dict)


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
