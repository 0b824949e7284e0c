"""How far scores are from exact PageRank, proved from the scores and the graph alone.

Equation: with x* = base + damping A x*, A the share that every node gives along each edge, and the
residual r = base + damping A x - x over the N nodes,
    |x - x*|_1 / |x|_1 <= |r|_1 / (base |x|_1), because |(I - damping A)^-1|_1 <= 1/base;
    |x_i - x*_i| <= eta x*_i with eta = max|r_i| / base, because (I - damping A)^-1 base = x*;
    |p - p*|_1 <= |r - mean(r)|_1 / (base |x|_1) with p = x/|x|_1, because p less its next textbook
    step is (mean(r) - r) / |x|_1, and that step shrinks what sums to 0 by the damping.

Dangling nodes: they give to dummy only, so they add nothing to A x; dummy is not among the N nodes
and is used only for the mass, sum(x) + dummy = N+1. Stopping rule: none; this is what the stopping
rules of others are measured with.

Rounding: A x is summed in two parts, the first without any error, and what the rest can be wrong
by is added to every bound. So a bound is never 0, and what it promises holds for the doubles given.
Memory: CERTIFICATE_BYTES a node; of the edges, which may be mapped, a block at a time.

The checks of a plain round, and its entry in the manifest, are the same on all engines.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict, dataclass

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.jobs.kernel.machine.machine_code import compiled
from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation
from crawlrank.jobs.kernel.rank.plain_round import RoundSums
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.pipeline.data.arrays import release
from crawlrank.pipeline.data.graph import Floats, Graph, Positions, Targets
from crawlrank.pipeline.ranking.options import Round

UNIT = 2.0**-53  # rounding to nearest is wrong by at most this, relative
BLOCK = 1 << 20
CERTIFICATE_BYTES = 44  # a node: five columns, and a number of the edges to it
SAFETY = 1 + 1e-9  # for the sums and quotients of the bounds themselves


@dataclass(frozen=True)
class Certificate:
    """Bounds on the distance from exact PageRank; all relative, all proved.

    l1: of the scores, in sum. eta: of each score. probability: of the probabilities, in sum.
    mass_error: how far all scores with dummy are from N+1.
    """

    l1: float
    eta: float
    probability: float
    mass_error: float

    def as_dict(self) -> dict[str, float]:
        return asdict(self)


def certificate(graph: Graph, equation: Equation = RECIPE) -> Certificate:
    """The certificate of the graph's own scores."""
    base = equation.base
    r, slack = residual(graph, graph.scores, equation)
    total, doubt = float(graph.scores.sum()), float(slack.sum())
    mass = graph.nodes + 1
    return Certificate(
        l1=(float(np.abs(r).sum()) + doubt) / (base * total) * SAFETY,
        eta=float((np.abs(r) + slack).max()) / base * SAFETY,
        probability=(float(np.abs(r - r.mean()).sum()) + 2 * doubt) / (base * total) * SAFETY,
        mass_error=abs(total + float(graph.dummy) - mass) / mass,
    )


def residual(graph: Graph, scores: Floats, equation: Equation = RECIPE) -> tuple[Floats, Floats]:
    """r = base + damping A x - x, and what rounding may have added to or taken from each r_i."""
    flow, slack = inflow(graph, scores)
    r = equation.base - scores
    r += equation.damping * flow
    flow += equation.base + scores
    flow *= 8 * UNIT
    slack += flow
    return r, slack


def inflow(graph: Graph, scores: Floats, block: int = BLOCK) -> tuple[Floats, Floats]:
    """A x: what each node gets from the nodes that point to it; and a bound on the error of sums.
    block: edges at once; at least as many as there are nodes, as a block costs so much anyway.

    Every share is split into a multiple of a quantum, chosen so that sums of multiples are exact,
    and a rest that is too small for its rounding to matter.
    """
    quantum = 2.0 ** (math.frexp(float(scores.sum()))[1] - 51)
    exact, rest, part = (np.zeros(graph.nodes) for _ in range(3))
    for begin, end in _blocks(graph, max(block, graph.nodes)):
        of_block = scores[begin:end], graph.offsets[begin : end + 1]
        compiled(_give)(*of_block, np.asarray(graph.targets), quantum, exact, part)
        release(graph.targets, int(graph.offsets[begin]), int(graph.offsets[end]))
        rest += part
        part[:] = 0
    del part
    exact += rest
    rest[:] = graph.indegrees
    rest *= rest
    rest *= quantum * UNIT
    return exact, rest


def _give(
    scores: Floats,
    offsets: Positions,
    targets: Targets,
    quantum: float,
    exact: Floats,
    rest: Floats,
) -> None:
    """Add the shares of some nodes to what their targets get, in two parts."""
    for node in range(len(scores)):
        if offsets[node] < offsets[node + 1]:
            share = scores[node] / (offsets[node + 1] - offsets[node])
            high = np.rint(share / quantum) * quantum
            for k in range(offsets[node], offsets[node + 1]):
                exact[targets[k]] += high
                rest[targets[k]] += share - high


def _blocks(graph: Graph, step: int) -> list[tuple[int, int]]:
    """Ranges of nodes with about this number of edges."""
    cuts = np.searchsorted(graph.offsets, np.arange(0, graph.edges, step)).tolist()
    borders = sorted({0, *cuts, graph.nodes})
    return list(itertools.pairwise(borders))


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
            "Start from gen-graph's output, or continue from a whole round.",
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
