"""What an engine is: how the steps of a run are done, on datasets of its own form in a work folder.

pipeline/run.py knows the order of the steps and what is done already; an engine does them. Both
engines leave the same ids, and the same scores within what DESIGN allows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from jobs.kernel.choosing import Rules
from jobs.kernel.extraction import Options
from jobs.kernel.opening import Place
from pipeline.graph import Graph, Mask
from pipeline.precedence import Options as PrecedenceOptions
from pipeline.ranking import Round, Stop
from pipeline.steps import ArchiveReport

Told = dict[str, Any]  # what the manifest says of a step: rows, counters …
OnRound = Callable[[Round, list[Round]], None]


class ArchiveTask(NamedTuple):
    """An archive to extract. content: its fingerprint. part: its file in links and captures."""

    content: str
    place: Place
    part: str


class Ranked(NamedTuple):
    """What validation compares. captured: of the nodes, by position."""

    graph: Graph
    ranks: Graph
    captured: Mask


class Parts(Protocol):
    """The parts of links and captures that archives gave."""

    def has_part(self, part: str) -> bool: ...

    def keep_parts(self, known: Collection[str]) -> None:
        """Remove parts of archives that are not known, as of those that a killed run did not get
        to enter."""


class Engine(Parts, Protocol):
    """The steps, each on what the one before has left in the work folder, or at a URL.

    form: of the datasets, as messages name it. suffix: how the name of a part of links and
    captures ends. writes: step -> what it leaves, whole or not at all.
    """

    form: str
    suffix: str
    writes: Mapping[str, tuple[str, ...]]

    def has(self, dataset: str) -> bool: ...

    def drop(self, dataset: str) -> None: ...

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
        """Go on behind the rounds that on_round was told before, and leave ranks; all rounds.

        Starts anew where what they left is not in the work folder any more. Raises NotConverged.
        """

    def join_scores(self, digits: int) -> Told: ...

    def export_precedence(self, options: PrecedenceOptions) -> Told: ...

    def ranked(self) -> Ranked: ...
