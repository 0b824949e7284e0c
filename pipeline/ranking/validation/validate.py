"""PageRank checked by OPIC, a program that shares no step with it but the reading of the graph.

Equation: both claim the same probabilities p* and prove how far they are off. So their L1 distance
is at most the sum of their certificates; if it is more, one of the two programs is wrong. OPIC also
bounds every exact score by a factor 1 +- eta, and so proves between which two classes each node is
(`possible`), whatever PageRank says. A node whose class is another one is a disagreement. Where
OPIC leaves several classes and PageRank's is one of them, the node is open, unless OPIC proves that
its score is wrong by more than 0.05, which leaves no digit. An eta of OPIC above that resolves
none: then all nodes are open.

PageRank's own certificate is measured anew from the scores. Where it is more than what page-rank
has proved, these are not the scores that page-rank left.

Nodes that the key alone places agree whatever OPIC says of them, so the verdict counts those that
scores tell apart: not placed by key alone, and none where all scores are equal or there is but one
class. Where OPIC proves the class of none, the validation says nothing of classes, and notes that.

Dangling nodes: as in both programs, their score reaches no node but dummy, which both leave out.
Stopping rule: that of OPIC. Verdict: fail when the distance is above the certificates, when
PageRank's is above the one that was claimed, or when fewer nodes that are told apart agree, of
those that are not open, than min_agreement; none where OPIC has no certificate (`edge` mode).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.rank.rounding import rounded
from crawlrank.pipeline.data.graph import Floats, Graph, Mask
from crawlrank.pipeline.ranking.bounds import digits_for
from crawlrank.pipeline.ranking.certificate import SAFETY, Certificate, certificate
from crawlrank.pipeline.ranking.classes import Classes, Order, Preferences, cut, possible
from crawlrank.pipeline.ranking.correlations import kendall, spearman
from crawlrank.pipeline.ranking.opic import OpicResult, opic
from crawlrank.pipeline.ranking.options import ValidationOptions
from crawlrank.pipeline.ranking.ratings import TOP_PERCENTS, confusion, overlap
from crawlrank.pipeline.ranking.validation.report import (
    ClassComparison,
    OrderComparison,
    ValidationReport,
)

ROUNDING = 1e-12  # of the distance itself
NO_DIGIT = 0.05  # an eta above this resolves no digit
VALIDATION_BYTES = 80  # a node, of the whole step with its graph, the edges apart
PIECE = 1 << 16  # nodes or edges at once

OtherProgram = Callable[[Graph, ValidationOptions], OpicResult]


def validate(
    graph: Graph,
    ranks: Graph,
    options: ValidationOptions | None = None,
    captured: Mask | None = None,
    preferred: Preferences | None = None,
    other_program: OtherProgram = opic,
) -> ValidationReport:
    """Run OPIC on the graph and compare with ranks: the same graph with PageRank's scores.

    captured: the nodes that were, by position (captured.py); without them the classes
    are cut over all nodes, as they are where the options say so or nothing was captured.
    preferred: of ties by links, by position; without it they are by key. other_program: what is
    compared with. Raises BadInput when the two differ in a node or an edge. Memory:
    VALIDATION_BYTES a node with the graph's columns, and its edges where they are not mapped.
    """
    options = options or ValidationOptions()
    _check_same(graph, ranks)
    proof, other = certificate(ranks), other_program(graph, options)
    etas = [eta for eta in (proof.eta, other.best.eta) if eta <= NO_DIGIT]
    compared = min([DIGITS, *map(digits_for, etas)]) if etas else 1
    digits = compared if len(etas) == 2 else 0
    distance = _distance(ranks.scores, other)
    allowed = proof.probability + other.best.certificate + ROUNDING
    wanted = options.classes_over == "captured" and captured is not None and captured.any()
    over = captured if wanted else None
    how = {"mask": over, "ties": options.ties, "preferred": preferred}
    order, counts = _compare_orders(ranks.scores, other, digits, compared, options, how)
    classes = _compare_classes(ranks.scores, other, counts, options, how)
    notes = _notes(proof, other, options, classes)
    reasons = _reasons(proof, distance, allowed, classes, options)
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
    """The distance of the probabilities, in sum."""
    probabilities = scores / scores.sum()
    probabilities -= other.importance
    return float(np.abs(probabilities, out=probabilities).sum())


def _compare_classes(
    scores: Floats,
    other: OpicResult,
    counts: npt.NDArray[np.int64],
    options: ValidationOptions,
    how: dict[str, Any],
) -> ClassComparison:
    bins, over = options.bins, how["mask"]
    ours = cut(scores, bins, digits=options.digits, **how)
    eta = other.best.eta if other.best.eta <= NO_DIGIT else math.inf
    first, last = possible(other.scores, bins, digits=options.digits, eta=eta, **how)
    agrees = (first <= ours.classes) & (ours.classes <= last)
    agrees &= (first == last) | _near(scores, other.scores, eta)
    open_ones = agrees & (first != last)
    del first, last
    agreement, apart = float(agrees.mean()), _told_apart(scores, ours)
    count, wrong = int(np.count_nonzero(apart)), int(np.count_nonzero(apart & ~agrees))
    undecided = int(np.count_nonzero(apart & open_ones))
    decided = count - undecided
    rows = tuple(map(tuple, counts.tolist()))
    return ClassComparison(
        agreement=agreement,
        same_class=int(counts.trace()) / len(scores),
        confusion=rows,
        classes_cut_over="all" if over is None else "captured",
        nodes_cut_over=len(scores) if over is None else int(over.sum()),
        nodes_apart=count,
        nodes_open=undecided,
        agreement_apart=1 - wrong / decided if decided else None,
    )


def _near(scores: Floats, others: Floats, eta: float) -> Mask:
    """The nodes whose scores OPIC does not prove to be wrong by more than NO_DIGIT."""
    least, most = others * ((1 - NO_DIGIT) / (1 + eta)), others * (1 + NO_DIGIT)
    near: Mask = least <= scores
    if eta < 1:
        near &= scores <= most / (1 - eta)
    return near


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
    elif classes.agreement_apart is None:
        notes.append("nothing is said of the classes: OPIC proves that of no node")
    return tuple(notes)


def _reasons(
    proof: Certificate,
    distance: float,
    allowed: float,
    classes: ClassComparison,
    options: ValidationOptions,
) -> tuple[str, ...]:
    if options.virtual_page == "edge":
        return ()
    reasons = []
    claimed = options.certificate
    # the proof is SAFETY times what was measured, and page-rank may have claimed no more than that
    if claimed is not None and proof.l1 > claimed * SAFETY * (1 + ROUNDING) + ROUNDING:
        reasons.append(
            f"the scores may be wrong by {proof.l1:.2g} of their sum, of which page-rank has proved"
            f" {claimed:.2g}: these are other scores than it left"
        )
    if distance > allowed:
        reasons.append(
            f"PageRank and OPIC are {distance:.3g} apart, their certificates allow {allowed:.3g}: "
            "one of the two programs is wrong"
        )
    agreement, wanted = classes.agreement_apart, options.min_agreement
    if agreement is not None and agreement < wanted:
        reasons.append(
            f"{agreement:.2%} of the nodes agree in their class, expected {wanted:.2%}, of the"
            f" {classes.nodes_apart - classes.nodes_open:,} that scores tell apart and whose class"
            " OPIC proves"
        )
    return tuple(reasons)
