"""Rounds of jobs to a certificate or a number, each on the dataset that the one before has left.

A finished round is a dataset `round-K` in the folder of the rounds and an entry in a list of
rounds. After an interruption, ranking continues from the last of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import ClassVar

from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join, remove
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.ranking.options import OnRound, Round, Stop


@dataclass
class JobRounds:
    """A ranking of `graph`. folder: of the rounds. rounds: entries of rounds done before, to
    continue after them. on_round: called after each round, once its dataset is in place; returns
    whether its entry is saved, so that earlier datasets may be removed."""

    title: ClassVar[str] = "PageRank"
    graph: PathOrUrl
    folder: PathOrUrl
    launcher: Launcher
    stop: Stop
    rounds: list[Round] = field(default_factory=list)
    on_round: OnRound = lambda entry, rounds: True

    def __post_init__(self) -> None:
        self.rounds = [*self.rounds]

    def run(self) -> tuple[PathOrUrl, list[Round]]:
        """The dataset of the scores, and the entries of all rounds. Raises NotConverged with the
        scores kept."""
        self.begin()
        replaced: list[PathOrUrl] = []
        while not self.stop.over(self.rounds):
            started, before = time.monotonic(), self.state
            entry = self.turn()
            entry["seconds"] = round(time.monotonic() - started, 3)
            self.rounds.append(entry)
            replaced += [before] if before else []
            if self.on_round(entry, self.rounds):
                while replaced:
                    remove(replaced.pop())
        scores = self.settle()
        if not self.stop.reached(self.rounds):
            raise self.stop.not_converged(self.rounds, self.title)
        return scores, self.rounds

    def at(self, name: str) -> PathOrUrl:
        return join(self.folder, name)

    def round_at(self, number: int) -> PathOrUrl:
        return self.at(f"round-{number}")

    @property
    def state(self) -> PathOrUrl | None:
        """The dataset that the last round has left; None before the first."""
        return self.round_at(len(self.rounds)) if self.rounds else None

    def begin(self) -> None:
        """Make what rounds start from."""

    def turn(self) -> Round:
        """Do a round; returns its entry."""
        raise NotImplementedError

    def settle(self) -> PathOrUrl:
        """The dataset of the scores."""
        raise NotImplementedError
