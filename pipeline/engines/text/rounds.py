"""PageRank as rounds of the job page_rank, one message an edge, to a certificate or a number.

    x' = base + damping A x, from the scores in the graph (1 at the start), or from the weights of
    pages if there are any

Dangling nodes point to dummy. Every round checks that the sum of all scores is still N + 1. The
last round is round K, or the first whose certificate |x' - x*|_1 / |x'|_1 is at most the tolerance.
A finished round is a folder `round-K` and an entry in a list of rounds. After an interruption,
ranking continues from the last of them.
"""

from __future__ import annotations

import time
from pathlib import Path

from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation
from crawlrank.jobs.kernel.rank.plain_round import RoundSums
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join, remove, staged
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.jobs.page_rank import PageRank
from crawlrank.pipeline.engines.text.hits_rounds import STATE
from crawlrank.pipeline.engines.text.packed_ranking import rank_packed
from crawlrank.pipeline.ranking.certificate import check_mass, check_start, round_entry
from crawlrank.pipeline.ranking.options import OnRound, Round, Stop

MASS_TOLERANCE = 1e-9


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
    """Iterate on `graph`; returns the dataset of the scores and the entries of all rounds.

    Exactly K rounds are the recipe's, plain_rounds; others are packed (packed_ranking.py).

    folder: of the folders `round-K`. rounds: entries of rounds done before, to continue after them.
    on_round: called after each round, once its folder is in place; returns whether its entry is
    saved, so that earlier folders may be removed. teleport: a file of weights of pages
    (jobs/kernel/rank/equation.py); None: all are 1. Raises NotConverged with the scores kept,
    BadInput for a graph that does not start with the sum N + 1, JobFailed when mass is lost.
    """
    if stop.iterations is None:
        of = launcher.partitions
        return rank_packed(graph, folder, launcher, stop, rounds, on_round, of, equation, teleport)
    return plain_rounds(graph, folder, launcher, stop, rounds, on_round, equation, teleport)


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


def plain_rounds(
    graph: PathOrUrl,
    folder: PathOrUrl,
    launcher: Launcher,
    stop: Stop,
    rounds: list[Round] | None = None,
    on_round: OnRound = lambda entry, rounds: True,
    equation: Equation = RECIPE,
    teleport: Path | None = None,
) -> tuple[PathOrUrl, list[Round]]:
    """Rank by plain rounds, to any stop."""
    rounds = list(rounds or ())
    current = join(folder, f"round-{len(rounds)}") if rounds else graph
    replaced: list[PathOrUrl] = []
    while not stop.reached(rounds):
        if stop.exhausted(rounds):
            raise stop.not_converged(rounds)
        started = time.monotonic()
        output = join(folder, f"round-{len(rounds) + 1}")
        outcome = _round(current, output, launcher, rounds, equation, teleport)
        entry = round_entry(len(rounds) + 1, _sums(outcome, current), time.monotonic() - started)
        rounds.append(entry)
        replaced += [current] if current != graph else []
        current = output
        if on_round(entry, rounds):
            while replaced:
                remove(replaced.pop())
    return current, rounds


def _round(
    graph: PathOrUrl,
    output: PathOrUrl,
    launcher: Launcher,
    rounds: list[Round],
    equation: Equation,
    teleport: Path | None,
) -> Outcome:
    shift = rounds[-1]["next_shift"] if rounds else 0.0
    # digits rather than an exponent: argparse takes "-1e-05" for an option
    args = ["--shift", f"{shift:.20f}", "--damping", repr(equation.damping)]
    if teleport:
        args += ["--teleport", str(teleport), *(["--from-teleport"] if not rounds else [])]
    with staged(output) as stage:
        return launch(PageRank, [graph], stage, launcher, args)


def _sums(outcome: Outcome, graph: PathOrUrl) -> RoundSums:
    """The round's sums, after the checks that nothing was lost."""
    sums = RoundSums()
    for part in outcome.sums:
        sums.merge(RoundSums(**part))
    dummies = [sums.dummy_old] * sums.dummies
    check_start(graph, sums.nodes, sums.old_l1, dummies)
    check_mass(sums)
    return sums
