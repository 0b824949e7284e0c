"""PageRank as rounds of the page_rank job, until certified or as many as wanted.

    x' = 0.15 + 0.85 A x, from the scores in the graph (1 at the start)

Dangling nodes point to dummy; every round checks that the sum of all scores is still N + 1. Stops
after exactly K rounds, or as soon as the certificate |x' - x*|_1 / |x'|_1 is at most the tolerance.
A finished round is a folder `round-K` of graph lines and its entry in a list of rounds, so that
ranking goes on behind the last one after any interruption.
"""

from __future__ import annotations

from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.launcher import Launcher
from pipeline.contract import OnRound, Round, Stop
from pipeline.engines.text.packed_ranking import rank_packed
from pipeline.engines.text.plain_ranking import plain_rounds

MASS_TOLERANCE = 1e-9


def rank(
    graph: Place,
    folder: Place,
    launcher: Launcher,
    stop: Stop,
    rounds: list[Round] | None = None,
    on_round: OnRound = lambda entry, rounds: True,
) -> tuple[Place, list[Round]]:
    """Iterate on `graph`; returns the dataset of the scores and all rounds' entries.

    Exactly K rounds are the recipe's, plain_rounds; others are packed (packed_ranking.py).

    folder: where the folders `round-K` are. rounds: entries of rounds done before, to go on behind
    them. on_round: called after each round, once its folder is in place; says whether its entry is
    saved, so that the folders before it may go. Raises NotConverged with the scores kept, BadInput
    for a graph that does not start with the sum N + 1, JobFailed when mass is lost on the way.
    """
    if stop.iterations is None:
        return rank_packed(graph, folder, launcher, stop, rounds, on_round)
    return plain_rounds(graph, folder, launcher, stop, rounds, on_round)


def scores_in(folder: Place, stop: Stop, rounds: list[Round]) -> Place:
    """Where the scores are when ranking is over, converged or not: a path or URL in the folder."""
    name = "ranks" if stop.iterations is None else f"round-{len(rounds)}"
    return join(folder, name)


def checkpoint(stop: Stop, rounds: list[Round]) -> tuple[str, ...]:
    """The datasets behind which rounds in the folder `rounds` go on."""
    last = f"rounds/round-{len(rounds)}"
    return (last,) if stop.iterations is not None else ("rounds/structure", last)
