"""PageRank as rounds of the page_rank job, until certified or as many as wanted.

    x' = 0.15 + 0.85 A x, from the scores in the graph (1 at the start)

Dangling nodes point to dummy; every round checks that the sum of all scores is still N + 1. Stops
after exactly K rounds, or as soon as the certificate |x' - x*|_1 / |x'|_1 is at most the tolerance.
A finished round is a folder `round-K` of graph lines and its entry in a list of rounds, so that
ranking goes on behind the last one after any interruption.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from jobs.kernel.errors import BadInput, JobFailed, NotConverged
from jobs.kernel.opening import Place, is_url
from jobs.kernel.rank import RoundSums
from jobs.launch import launch
from jobs.launcher import Launcher
from jobs.outcome import Outcome
from jobs.page_rank import PageRank
from jobs.stores import join, remove
from pipeline.datasets import move
from pipeline.embedded import EMBEDDED

MASS_TOLERANCE = 1e-9
#: of the scores, where nobody asks for one: a sweep costs little, a round of the jobs is a sort of
#: all edges
TOLERANCE, TOLERANCE_OF_JOBS = 1e-9, 1e-6
Round = dict[str, Any]
Folder = TypeVar("Folder", Path, str)
OnRound = Callable[[Round, list[Round]], bool]  # see rank


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
        from pipeline.packed_ranking import rank_packed  # it needs what is defined here

        return rank_packed(graph, folder, launcher, stop, rounds, on_round)
    return plain_rounds(graph, folder, launcher, stop, rounds, on_round)


def scores_in(folder: Folder, stop: Stop, rounds: list[Round]) -> Folder:
    """Where the scores are when ranking is over, converged or not: a path or URL in the folder."""
    name = "ranks" if stop.iterations is None else f"round-{len(rounds)}"
    return folder / name if isinstance(folder, Path) else str(join(folder, name))


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


def checkpoint(stop: Stop, rounds: list[Round]) -> tuple[str, ...]:
    """The datasets behind which rounds in the folder `rounds` go on."""
    last = f"rounds/round-{len(rounds)}"
    return (last,) if stop.iterations is not None else ("rounds/structure", last)


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


def check_start(graph: Place, nodes: int, scores: float, dummies: list[float]) -> None:
    """Raises BadInput for a graph without nodes or dummy, or with another sum than N + 1."""
    if not nodes:
        raise BadInput(str(graph), "no nodes", "at least one line besides dummy's")
    if len(dummies) != 1:
        cure = "Make the graph with gen-graph."
        raise BadInput(str(graph), "no line for dummy", "`dummy<TAB>1.0<TAB>O:dummy`", cure)
    start = scores + dummies[0]
    if not math.isclose(start, nodes + 1, rel_tol=MASS_TOLERANCE):
        raise BadInput(
            str(graph),
            f"scores with dummy's sum to {start!r}",
            f"N + 1 = {nodes + 1}",
            "Start from gen-graph's output, or go on from a whole round.",
        )


def check_mass(sums: RoundSums) -> None:
    """Raises JobFailed where a plain round has not kept the sum of all scores."""
    if not sums.mass_error <= MASS_TOLERANCE:
        raise JobFailed(
            f"PageRank lost mass in a round: the scores sum to {sums.mass!r}, not {sums.nodes + 1}"
        )


def round_entry(number: int, sums: RoundSums, seconds: float) -> Round:
    """What is told of a plain round, on any runner."""
    return {
        "round": number,
        "nodes": sums.nodes,
        "edges": sums.edges,
        "dangling": sums.dangling,
        "mass": sums.mass,
        "residual_l1": sums.residual_l1,
        "residual_max": sums.residual_max,
        "certificate": sums.certificate,
        "eta": sums.eta,
        "probability_certificate": sums.probability_certificate,
        "next_shift": sums.next_shift(),
        "seconds": round(seconds, 3),
    }
