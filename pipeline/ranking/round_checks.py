"""What holds of every plain round, and what is kept of it, on any engine."""

from __future__ import annotations

import math

from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.jobs.kernel.rank.plain_round import RoundSums
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.pipeline.ranking.stop import Round

MASS_TOLERANCE = 1e-9


def check_start(graph: PathOrUrl, nodes: int, scores: float, dummies: list[float]) -> None:
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
    """The entry of a plain round, on any runner."""
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
