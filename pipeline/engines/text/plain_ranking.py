"""Plain rounds of PageRank, the recipe's: one job of one message an edge a round.

    x' = 0.15 + 0.85 A x, from the scores in the graph (1 at the start)

Every round checks that the sum of all scores is still N + 1.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TypeVar

from jobs.kernel.rank.plain_round import RoundSums
from jobs.kernel.storage.opening import Place, is_url
from jobs.kernel.storage.stores import join, remove
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome
from jobs.page_rank import PageRank
from pipeline.contract import OnRound, Round, Stop
from pipeline.data.datasets import move
from pipeline.ranking.round_checks import check_mass, check_start, round_entry

Folder = TypeVar("Folder", Path, str)


def plain_rounds(
    graph: Place,
    folder: Place,
    launcher: Launcher,
    stop: Stop,
    rounds: list[Round] | None = None,
    on_round: OnRound = lambda entry, rounds: True,
) -> tuple[Place, list[Round]]:
    """The same by rounds of the recipe's own job, one message an edge, to any stop."""
    stop, rounds = stop.on(launcher.runner), list(rounds or ())
    current = join(folder, f"round-{len(rounds)}") if rounds else graph
    replaced: list[Place] = []
    while not stop.reached(rounds):
        if stop.exhausted(rounds):
            raise stop.not_converged(rounds)
        started = time.monotonic()
        output = join(folder, f"round-{len(rounds) + 1}")
        remove(output)  # of a driver that was killed before it had entered this round
        outcome = _round(current, output, launcher, rounds)
        entry = round_entry(len(rounds) + 1, _sums(outcome, current), time.monotonic() - started)
        rounds.append(entry)
        replaced += [current] if current != graph else []
        current = output
        if on_round(entry, rounds):
            while replaced:
                remove(replaced.pop())
    return current, rounds


def _round(graph: Place, output: Place, launcher: Launcher, rounds: list[Round]) -> Outcome:
    shift = rounds[-1]["next_shift"] if rounds else 0.0
    # digits rather than an exponent: argparse takes "-1e-05" for an option
    args = ["--shift", f"{shift:.20f}"]
    if is_url(output):
        return launch(PageRank, [graph], output, launcher, args)
    output = Path(output)
    place = launcher.tmp / f"{output.name}-ranked"
    remove(place)
    outcome = launch(PageRank, [graph], place, launcher, args)
    output.parent.mkdir(parents=True, exist_ok=True)
    move(place, output)
    return outcome


def _sums(outcome: Outcome, graph: Place) -> RoundSums:
    """The round's sums, after the checks that nothing was lost."""
    sums = RoundSums()
    for part in outcome.sums:
        sums.merge(RoundSums(**part))
    dummies = [sums.dummy_old] * sums.dummies
    check_start(graph, sums.nodes, sums.old_l1, dummies)
    check_mass(sums)
    return sums
