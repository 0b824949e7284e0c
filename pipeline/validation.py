"""PageRank checked by OPIC, a program that shares no step with it but the reading of the graph.

Equation: both claim the same probabilities p* and prove how far they are off. So their L1 distance
is at most the sum of their certificates; if it is more, one of the two programs is wrong. In the
same way both bound every score by a factor 1 +- eta, so with t = 2 (eta_PageRank + eta_OPIC)
OPIC's order can differ from PageRank's only between scores within t of each other: a node agrees
when OPIC's class lies in the range of classes that PageRank gives to nodes whose score is within t
of its own (at least 1e-9, so that a large group of equal scores across a boundary does not count
as disagreement). An eta above 0.05 resolves no digit and earns no allowance: then the classes have
to agree without it.

Dangling nodes: as in both programs, their score reaches no node but dummy, which both leave out.
Stopping rule: that of OPIC. Verdict: fail when the distance is above the certificates, or when
fewer nodes agree than min_agreement; none where OPIC has no certificate (`edge` mode).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from jobs.kernel.errors import BadInput
from pipeline.certificate import Certificate, certificate
from pipeline.classes import MAX_DIGITS, Classes, cut, digits_for, rounded
from pipeline.correlations import kendall, spearman
from pipeline.graph import Floats, Graph, Mask, Positions
from pipeline.opic import Checkpoint, OpicResult, opic
from pipeline.validation_report import (
    ClassComparison,
    OrderComparison,
    Overlap,
    ValidationOptions,
    ValidationReport,
)

ROUNDING = 1e-12  # of the distance itself
LEAST_TOLERANCE = 1e-9
NO_DIGIT = 0.05  # an eta above this resolves no digit
TOP_PERCENTS = (1, 10)
ARRAYS = 42  # of N, at most at a time, 12 of them OPIC's


def validate(
    graph: Graph,
    ranks: Graph,
    options: ValidationOptions | None = None,
    watch: Callable[[Checkpoint], None] = lambda checkpoint: None,
    captured: Mask | None = None,
) -> ValidationReport:
    """Run OPIC on the graph and compare with ranks: the same graph with PageRank's scores.

    captured: the nodes that were, by position (pipeline/captured.py); without them the classes
    are cut over all nodes, as they are where the options say so or nothing was captured. watch:
    called at every checkpoint of OPIC. Raises BadInput when the two differ in a node or an edge.
    Memory: ARRAYS of N.
    """
    options = options or ValidationOptions()
    _check_same(graph, ranks)
    proof, other = certificate(ranks), opic(graph, options, watch)
    etas = [eta for eta in (proof.eta, other.best.eta) if eta <= NO_DIGIT]
    compared = min([MAX_DIGITS, *map(digits_for, etas)]) if etas else 1
    digits = compared if len(etas) == 2 else 0
    resolved = rounded(ranks.scores, compared), rounded(other.scores, compared)
    probabilities = ranks.scores / ranks.scores.sum()
    distance = float(np.abs(probabilities - other.importance).sum())
    allowed = proof.probability + other.best.certificate + ROUNDING
    wanted = options.classes_over == "captured" and captured is not None and captured.any()
    over = captured if wanted else None
    cuts = tuple(cut(side, options.bins, mask=over, ties=options.ties) for side in resolved)
    classes = _compare_classes(ranks.scores, other.scores, cuts, math.fsum(etas), options, over)
    return ValidationReport(
        options=options,
        nodes=graph.nodes,
        edges=graph.edges,
        dangling=int((graph.outdegrees == 0).sum()),
        pagerank=proof,
        opic=other,
        distance=distance,
        allowed=allowed,
        order=_compare_orders(resolved, cuts, digits, compared),
        classes=classes,
        notes=_notes(proof, other, options),
        reasons=_reasons(distance, allowed, classes.agreement, options),
    )


def _check_same(graph: Graph, ranks: Graph) -> None:
    if not np.array_equal(graph.ids, ranks.ids):
        ids = np.setxor1d(graph.ids, ranks.ids)
        holder = ranks if ids[0] in ranks.ids else graph
        found = f"id {ids[0]} is in {holder.name} only"
    elif not np.array_equal(graph.outdegrees, ranks.outdegrees):
        node = np.flatnonzero(graph.outdegrees != ranks.outdegrees)[0]
        found = f"id {graph.ids[node]} has another number of targets than in {graph.name}"
    elif not np.array_equal(graph.targets, ranks.targets):
        edge = np.flatnonzero(graph.targets != ranks.targets)[0]
        node = np.searchsorted(graph.offsets, edge, side="right") - 1
        found = f"id {graph.ids[node]} has other targets than in {graph.name}"
    else:
        return
    cure = "Give the graph that page-rank has read, and what it has written."
    raise BadInput(ranks.name, found, f"the nodes and edges of {graph.name}", cure)


def _agree(
    scores: Floats, ours: Classes, theirs: Classes, tolerance: float, over: Mask | None = None
) -> Mask:
    """Does OPIC's class lie between those of the best and the last node within tolerance?

    Both ends of the window are rounded like the order, so it ends with whole groups of equal
    scores. [x(1-t), x/(1-t)] holds every score that two factors 1 +- eta can bring past x. A node
    outside `over` may come behind all of its window and takes no place itself.
    """
    along = ours.order[::-1]  # ascending scores, so that searching for them goes through memory
    scores, classes = scores[along], ours.classes[along]
    values = rounded(scores, ours.digits)
    low = np.searchsorted(values, rounded(scores * (1 - tolerance), ours.digits), side="left")
    high = np.searchsorted(values, rounded(scores / (1 - tolerance), ours.digits), side="right")
    last = classes[low]
    if over is not None:
        counted = over[along]
        better = np.append(np.cumsum(counted[::-1])[::-1], 0)  # in over, from this node up
        behind = np.minimum(1 + ours.bins * better[low] // over.sum(), ours.bins)
        last = np.where(counted, last, np.maximum(last, behind))
    theirs_along = theirs.classes[along]
    agrees = np.empty(len(along), bool)
    agrees[along] = (classes[high - 1] <= theirs_along) & (theirs_along <= last)
    return agrees


def _compare_classes(
    scores: Floats,
    others: Floats,
    resolved: tuple[Classes, ...],
    eta: float,
    options: ValidationOptions,
    over: Mask | None,
) -> ClassComparison:
    bins, ties, tolerance = options.bins, options.ties, max(LEAST_TOLERANCE, 2 * eta)
    ours = cut(scores, bins, digits=options.digits, mask=over, ties=ties)
    agrees = _agree(scores, ours, cut(others, bins, mask=over, ties=ties), tolerance, over)
    a, b = (side.classes - 1 for side in resolved)
    confusion = np.bincount(a * bins + b, minlength=bins * bins).reshape(bins, bins)
    rows = tuple(map(tuple, confusion.tolist()))
    figures = float(agrees.mean()), tolerance, float((a == b).mean())
    if over is None:
        return ClassComparison(*figures, rows, "all", len(scores))
    return ClassComparison(*figures, rows, "captured", int(over.sum()))


def _compare_orders(
    resolved: tuple[Floats, Floats], cuts: tuple[Classes, ...], digits: int, compared: int
) -> OrderComparison:
    ours, theirs = (side.order for side in cuts)
    top = tuple(_overlap(ours, theirs, percent) for percent in TOP_PERCENTS)
    a, b = (side[ours] for side in resolved)  # nearly sorted, which is sorted faster
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return OrderComparison(digits, compared, None, None, top)
    return OrderComparison(digits, compared, spearman(a, b), kendall(a, b), top)


def _overlap(ours: Positions, theirs: Positions, percent: int) -> Overlap:
    """Equal scores are taken by key on both sides, so that a cut through a group is the same."""
    count = max(1, math.ceil(len(ours) * percent / 100))
    shared = len(np.intersect1d(ours[:count], theirs[:count], assume_unique=True))
    return Overlap(percent, count, shared / count)


def _notes(proof: Certificate, other: OpicResult, options: ValidationOptions) -> tuple[str, ...]:
    """What was not reached, so that nobody takes it for granted."""
    if options.virtual_page == "edge":
        return ("the virtual page as an edge has another fixed point: no certificate, no verdict",)
    notes = []
    if not other.reached:
        reached, wanted = other.best.certificate, options.opic_error
        visits = other.history[-1].visits
        notes.append(f"OPIC's certificate is {reached:.2g} after {visits} visits, not {wanted:g}")
    if other.best.eta > NO_DIGIT:
        notes.append(f"OPIC resolves no digit of single scores (eta {other.best.eta:.2g})")
    if proof.eta > NO_DIGIT:
        notes.append(f"PageRank resolves no digit of single scores (eta {proof.eta:.2g})")
    if proof.mass_error > 1e-9:
        notes.append(f"PageRank's scores with dummy miss N+1 by {proof.mass_error:.2g}, relative")
    return tuple(notes)


def _reasons(
    distance: float, allowed: float, agreement: float, options: ValidationOptions
) -> tuple[str, ...]:
    if options.virtual_page == "edge":
        return ()
    reasons = []
    if distance > allowed:
        reasons.append(
            f"PageRank and OPIC are {distance:.3g} apart, their certificates allow {allowed:.3g}: "
            "one of the two programs is wrong"
        )
    if agreement < options.min_agreement:
        wanted = options.min_agreement
        reasons.append(f"{agreement:.2%} of the nodes agree in their class, expected {wanted:.2%}")
    return tuple(reasons)
