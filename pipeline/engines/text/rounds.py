"""PageRank as rounds of the job page_rank, one message an edge, to a certificate or a number.

    x' = base + damping A x, from the scores in the graph (1 at the start), or from the weights of
    pages if there are any

Dangling nodes point to dummy. Every round checks that the sum of all scores is still N + 1. The
last round is round K, or the first whose certificate |x' - x*|_1 / |x'|_1 is at most the tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation
from crawlrank.jobs.kernel.rank.plain_round import RoundSums
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join, staged
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.jobs.page_rank import PageRank
from crawlrank.pipeline.engines.text.hits_rounds import STATE
from crawlrank.pipeline.engines.text.job_rounds import JobRounds
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.ranking.certificate import check_mass, check_start, round_entry
from crawlrank.pipeline.ranking.options import OnRound, Round, Stop


def rank(
    graph: PathOrUrl,
    folder: PathOrUrl,
    launcher: Launcher,
    stop: Stop,
    rounds: list[Round] | None = None,
    on_round: OnRound = lambda entry, rounds: True,
    equation: Equation = RECIPE,
    teleport: Path | None = None,
) -> tuple[PathOrUrl, list[Round]]:
    """Iterate on `graph`, as JobRounds says; returns the dataset of the scores and the entries of
    all rounds.

    Exactly K rounds are the recipe's, PlainRounds; others are packed (packed_ranking.py).

    teleport: a file of weights of pages (jobs/kernel/rank/equation.py); None: all are 1. Raises
    NotConverged with the scores kept, BadInput for a graph that does not start with the sum N + 1,
    JobFailed when mass is lost.
    """
    ranking = PackedRounds if stop.iterations is None else PlainRounds
    before = rounds or []
    return ranking(graph, folder, launcher, stop, before, on_round, equation, teleport).run()


def scores_in(folder: PathOrUrl, stop: Stop, rounds: list[Round]) -> PathOrUrl:
    """The dataset in the folder that has the scores after ranking, converged or not."""
    name = "ranks" if stop.iterations is None else f"round-{len(rounds)}"
    return join(folder, name)


def checkpoint(stop: Stop, rounds: list[Round]) -> tuple[str, ...]:
    """The datasets that ranking continues from, after rounds in the folder `rounds`."""
    last = f"rounds/round-{len(rounds)}"
    if STATE in rounds[-1]:
        return (last,)  # of HITS
    return (last,) if stop.iterations is not None else ("rounds/structure", last)


@dataclass
class PlainRounds(JobRounds):
    """Plain rounds, to any stop."""

    equation: Equation = RECIPE
    teleport: Path | None = None

    def turn(self) -> Round:
        graph, number = self.settle(), len(self.rounds) + 1
        shift = self.rounds[-1]["next_shift"] if self.rounds else 0.0
        # digits rather than an exponent: argparse takes "-1e-05" for an option
        args = ["--shift", f"{shift:.20f}", "--damping", repr(self.equation.damping)]
        if self.teleport:
            args += ["--teleport", str(self.teleport)]
            args += [] if self.rounds else ["--from-teleport"]
        with staged(self.round_at(number)) as stage:
            outcome = launch(PageRank, [graph], stage, self.launcher, args)
        return round_entry(number, _sums(outcome, graph), 0.0)

    def settle(self) -> PathOrUrl:
        return self.state or self.graph


def _sums(outcome: Outcome, graph: PathOrUrl) -> RoundSums:
    """The round's sums, after the checks that nothing was lost."""
    sums = RoundSums()
    for part in outcome.sums:
        sums.merge(RoundSums(**part))
    dummies = [sums.dummy_old] * sums.dummies
    check_start(graph, sums.nodes, sums.old_l1, dummies)
    check_mass(sums)
    return sums
