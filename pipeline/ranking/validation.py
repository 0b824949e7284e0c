"""PageRank checked by OPIC, a program that shares no step with it but the reading of the graph.

Equation: both claim the same probabilities p* and prove how far they are off. So their L1 distance
is at most the sum of their certificates; if it is more, one of the two programs is wrong. In the
same way both bound every score by a factor 1 +- eta, so with t = 2 (eta_PageRank + eta_OPIC)
OPIC's order can differ from PageRank's only between scores within t of each other: a node agrees
when OPIC's class lies in the range of classes that PageRank gives to nodes whose score is within t
of its own (at least 1e-9, so that a large group of equal scores across a boundary does not count
as disagreement). With ties together, OPIC's class of a node is that of all nodes within t of it, as
OPIC's own errors keep equal scores from being equal; these lie within 2 t of PageRank's score. An
eta above 0.05 resolves no digit and earns no allowance: then the classes have
to agree without it.

Nodes that the key alone places agree whatever OPIC says of them, so the verdict counts those that
scores tell apart: not placed by key alone, and none where all scores are equal or there is but one
class. Where there are none, the validation says nothing of the classes, and notes that.

Dangling nodes: as in both programs, their score reaches no node but dummy, which both leave out.
Stopping rule: that of OPIC. Verdict: fail when the distance is above the certificates, or when
fewer nodes that are told apart agree than min_agreement; none where OPIC has no certificate (`edge`
mode).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.order import DIGITS
from pipeline.data.graph import Floats, Graph, Mask
from pipeline.options import ValidationOptions
from pipeline.ranking.agreement import TOP_PERCENTS, confusion, overlap
from pipeline.ranking.certificate import Certificate, certificate
from pipeline.ranking.classes import (
    Classes,
    Numbers,
    Order,
    Preferences,
    class_of,
    cut,
    position_type,
)
from pipeline.ranking.correlations import kendall, spearman
from pipeline.ranking.digits import digits_for, rounded
from pipeline.ranking.opic import Checkpoint, OpicResult, opic
from pipeline.ranking.validation_report import (
    ClassComparison,
    OrderComparison,
    ValidationReport,
)

ROUNDING = 1e-12  # of the distance itself
LEAST_TOLERANCE = 1e-9
NO_DIGIT = 0.05  # an eta above this resolves no digit
VALIDATION_BYTES = 80  # a node, of the whole step with its graph, the edges apart
PIECE = 1 << 16  # nodes or edges at once


def validate(
    graph: Graph,
    ranks: Graph,
    options: ValidationOptions | None = None,
    watch: Callable[[Checkpoint], None] = lambda checkpoint: None,
    captured: Mask | None = None,
    preferred: Preferences | None = None,
) -> ValidationReport:
    """Run OPIC on the graph and compare with ranks: the same graph with PageRank's scores.

    captured: the nodes that were, by position (captured.py); without them the classes
    are cut over all nodes, as they are where the options say so or nothing was captured.
    preferred: of ties by links, by position; without it they are by key. watch: called at every
    checkpoint of OPIC. Raises BadInput when the two differ in a node or an edge.
    Memory: VALIDATION_BYTES a node with the graph's columns, and its edges where they are not
    mapped.
    """
    options = options or ValidationOptions()
    _check_same(graph, ranks)
    proof, other = certificate(ranks), opic(graph, options, watch)
    etas = [eta for eta in (proof.eta, other.best.eta) if eta <= NO_DIGIT]
    compared = min([DIGITS, *map(digits_for, etas)]) if etas else 1
    digits = compared if len(etas) == 2 else 0
    distance = _distance(ranks.scores, other)
    allowed = proof.probability + other.best.certificate + ROUNDING
    wanted = options.classes_over == "captured" and captured is not None and captured.any()
    over = captured if wanted else None
    how = {"mask": over, "ties": options.ties, "preferred": preferred}
    order, counts = _compare_orders(ranks.scores, other, digits, compared, options, how)
    classes = _compare_classes(ranks.scores, other, counts, math.fsum(etas), options, how)
    notes, reasons = (
        _notes(proof, other, options, classes), _reasons(distance, allowed, classes, options),
    )  # fmt: skip
    return ValidationReport(
        options=options, nodes=graph.nodes, edges=graph.edges, dangling=graph.dangling,
        pagerank=proof, opic=other, distance=distance, allowed=allowed, order=order,
        classes=classes, notes=notes, reasons=reasons,
    )  # fmt: skip


def _check_same(graph: Graph, ranks: Graph) -> None:
    if not _same(graph.ids, ranks.ids):
        ids = np.setxor1d(graph.ids, ranks.ids)
        holder = ranks if ids[0] in ranks.ids else graph
        problem = f"id {ids[0]} is in {holder.name} only"
    elif not _same(graph.offsets, ranks.offsets):
        node = np.flatnonzero(graph.outdegrees != ranks.outdegrees)[0]
        problem = f"id {graph.ids[node]} has another number of targets than in {graph.name}"
    elif not _same(graph.targets, ranks.targets):
        edge = np.flatnonzero(graph.targets != ranks.targets)[0]
        node = np.searchsorted(graph.offsets, edge, side="right") - 1
        problem = f"id {graph.ids[node]} has other targets than in {graph.name}"
    else:
        return
    cure = "Give the graph that page-rank has read, and what it has written."
    raise BadInput(ranks.name, problem, f"the nodes and edges of {graph.name}", cure)


def _same(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    return first is second or (
        len(first) == len(second)
        and all(
            np.array_equal(first[at : at + PIECE], second[at : at + PIECE])
            for at in range(0, len(first), PIECE)
        )
    )


def _distance(scores: Floats, other: OpicResult) -> float:
    """Of the probabilities, in sum."""
    probabilities = scores / scores.sum()
    probabilities -= other.importance
    return float(np.abs(probabilities, out=probabilities).sum())


def _agree(
    scores: Floats, ours: Classes, theirs: Numbers, tolerance: float, over: Mask | None = None
) -> Mask:
    """Does OPIC's class lie between those of the best and the last node within tolerance?

    Both ends of the window are rounded like the order, so it ends with whole groups of equal
    scores. [x(1-t), x/(1-t)] holds every score that two factors 1 +- eta can bring past x. A node
    outside `over` may come behind all of its window and takes no place itself.
    """
    along = ours.order[::-1]  # ascending scores, so that searching for them goes through memory
    values = rounded(scores, ours.digits)[along]
    better = None if over is None else _in_over_from(over[along])
    agrees = np.empty(len(along), bool)
    for at in range(0, len(along), PIECE):
        nodes = along[at : at + PIECE]
        own, theirs_here = scores[nodes], theirs[nodes]
        lowest = rounded(own * (1 - tolerance), ours.digits)
        low = np.searchsorted(values, lowest, side="left")
        high = np.searchsorted(values, rounded(own, ours.digits, 1 - tolerance), side="right")
        last = ours.classes[along[low]]
        if over is not None and better is not None:
            behind = class_of(better[low].astype(np.int64), better[0], ours.bins)
            last = np.where(over[nodes], last, np.maximum(last, behind))
        agrees[nodes] = (ours.classes[along[high - 1]] <= theirs_here) & (theirs_here <= last)
    return agrees


def _within(
    scores: Floats, bins: int, digits: int, tolerance: float, over: Mask | None = None
) -> Numbers:
    """Classes in which each node is tied with all whose scores are within the tolerance."""
    ranked = rounded(scores if over is None else scores[over], digits)
    ranked.sort()
    n, classes = len(ranked), np.empty(len(scores), np.int8)
    for at in range(0, len(scores), PIECE):
        own = scores[at : at + PIECE]
        low, high = rounded(own * (1 - tolerance), digits), rounded(own, digits, 1 - tolerance)
        above = n - np.searchsorted(ranked, high, side="right")
        last = np.maximum(n - np.searchsorted(ranked, low, side="left") - 1, above)
        classes[at : at + PIECE] = class_of(above + last, 2 * n, bins)
    return classes


def _in_over_from(counted: Mask) -> Order:
    """How many nodes are in `over` from each on, and 0 behind the last."""
    kind: Any = position_type(len(counted))
    result: Order = np.zeros(len(counted) + 1, kind)
    np.cumsum(counted[::-1], out=result[-2::-1])
    return result


def _compare_classes(
    scores: Floats,
    other: OpicResult,
    counts: npt.NDArray[np.int64],
    eta: float,
    options: ValidationOptions,
    how: dict[str, Any],
) -> ClassComparison:
    bins, over, tolerance = options.bins, how["mask"], max(LEAST_TOLERANCE, 2 * eta)
    ours = cut(scores, bins, digits=options.digits, **how)
    if options.ties == "together":
        theirs = _within(other.scores, bins, options.digits, tolerance, over)
        agrees = _agree(scores, ours, theirs, 1 - (1 - tolerance) ** 2, over)
    else:
        theirs = cut(other.scores, bins, **how).classes
        agrees = _agree(scores, ours, theirs, tolerance, over)
    del theirs
    rows = tuple(map(tuple, counts.tolist()))
    same = int(counts.trace()) / len(scores)
    agreement = float(agrees.mean())
    apart = _told_apart(scores, ours)
    count = int(np.count_nonzero(apart))
    agrees &= apart
    agreed = int(np.count_nonzero(agrees)) / count if count else None
    figures = agreement, tolerance, same, rows
    cut_over = ("all", len(scores)) if over is None else ("captured", int(over.sum()))
    return ClassComparison(*figures, *cut_over, count, agreed)  # type: ignore[arg-type]


def _told_apart(scores: Floats, ours: Classes) -> Mask:
    """Which nodes have their class by their score. Made of the column by_key, which is gone."""
    ends = rounded(scores[ours.order[[0, -1]]], ours.digits)
    if ours.bins == 1 or ends[0] == ends[1]:
        ours.by_key[:] = True
    return np.logical_not(ours.by_key, out=ours.by_key)


def _compare_orders(
    scores: Floats,
    other: OpicResult,
    digits: int,
    compared: int,
    options: ValidationOptions,
    how: dict[str, Any],
) -> tuple[OrderComparison, npt.NDArray[np.int64]]:
    """Both orders of scores rounded to the digits compared, and the classes that they give."""
    sides = (scores, other.scores)
    ours, theirs = (cut(side, options.bins, digits=compared, **how) for side in sides)
    top = tuple(overlap(ours.order, theirs.order, percent) for percent in TOP_PERCENTS)
    counts, order = confusion(ours.classes, theirs.classes, options.bins), ours.order
    del ours, theirs
    a, b = _along(scores, compared, order), _along(other.scores, compared, order)
    del order
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return OrderComparison(digits, compared, None, None, top), counts
    return OrderComparison(digits, compared, spearman(a, b), kendall(a, b), top), counts


def _along(scores: Floats, digits: int, order: Order) -> Floats:
    """Rounded scores, nearly sorted, which is sorted faster."""
    return rounded(scores, digits)[order]


def _notes(
    proof: Certificate, other: OpicResult, options: ValidationOptions, classes: ClassComparison
) -> tuple[str, ...]:
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
    if not classes.nodes_apart:
        notes.append("nothing is said of the classes: scores tell no nodes apart")
    return tuple(notes)


def _reasons(
    distance: float, allowed: float, classes: ClassComparison, options: ValidationOptions
) -> tuple[str, ...]:
    if options.virtual_page == "edge":
        return ()
    reasons = []
    if distance > allowed:
        reasons.append(
            f"PageRank and OPIC are {distance:.3g} apart, their certificates allow {allowed:.3g}: "
            "one of the two programs is wrong"
        )
    agreement, wanted = classes.agreement_apart, options.min_agreement
    if agreement is not None and agreement < wanted:
        reasons.append(
            f"{agreement:.2%} of the nodes agree in their class, expected {wanted:.2%}, of the"
            f" {classes.nodes_apart:,} that scores tell apart"
        )
    return tuple(reasons)
