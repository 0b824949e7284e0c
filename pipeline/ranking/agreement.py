"""How far two rankings of the same nodes agree: in order, at the top, and in classes.

Equal scores share their mean position for the correlations and for what is displaced. At the top
they are taken by id on both sides, so that a cut through a group of them is the same.

Rank-biased overlap weighs the top most (Webber, Moffat, Zobel 2010, A similarity measure for
indefinite rankings): with A_d the part of the first d nodes of one ranking that are among the first
d of the other, and persistence p,

    RBO = (1 - p) * sum over d >= 1 of p^(d-1) * A_d

Somebody who reads on to the next node with probability p looks at 1 / (1 - p) of them on average.
All N nodes are in both rankings, so A_d is 1 from N on, and what is after them is known: p^N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.classes import Order
from crawlrank.pipeline.ranking.correlations import kendall, midranks, spearman

TOP_PERCENTS = (1, 10)
PERSISTENCE = 0.99  # 100 nodes on average
NEGLIGIBLE = 1e-17  # what is left of the sum where it ends
PIECE = 1 << 16  # nodes at once


@dataclass(frozen=True)
class Overlap:
    """The best nodes of both: how many were taken, and the part of them in both."""

    percent: int
    nodes: int
    overlap: float


@dataclass(frozen=True)
class Displacement:
    """A node with its positions in both rankings, from 1 for the best, means where scores are
    equal. share: how far apart they are, as a part of all nodes."""

    id: int
    ours: float
    theirs: float
    share: float


@dataclass(frozen=True)
class RankAgreement:
    """spearman, kendall (tau-b): None where all scores of a side are equal. rank_biased: RBO.
    same_class: part of the nodes whose classes are equal. confusion[i][j]: nodes in class i+1 of
    ours and j+1 of theirs. displaced: those that are furthest apart, ties by id."""

    nodes: int
    spearman: float | None
    kendall: float | None
    rank_biased: float
    top: tuple[Overlap, ...]
    same_class: float
    confusion: tuple[tuple[int, ...], ...]
    displaced: tuple[Displacement, ...]


def agreement(
    scores: tuple[Floats, Floats],
    classes: tuple[npt.NDArray[np.integer], npt.NDArray[np.integer]],
    bins: int,
    *,
    most: int = 20,
    persistence: float = PERSISTENCE,
) -> RankAgreement:
    """Compare two rankings of the same N >= 1 nodes, ours and theirs.

    scores: float64[N] by id, higher ones better, rounded by whoever calls where small differences
    do not count. classes: integers[N], 1 (best) to bins. most: how many displaced nodes are listed.
    persistence: p, above 0 and below 1. Raises ValueError for columns of other lengths. Memory: 16
    bytes a node for the orders, and CORRELATION_BYTES.
    """
    ours, theirs = scores
    nodes = len(ours)
    if not nodes or {nodes} != {len(column) for column in (theirs, *classes)}:
        lengths = [len(column) for column in (*scores, *classes)]
        raise ValueError(f"columns of {lengths} nodes, expected the same number of at least 1")
    orders = best_first(ours), best_first(theirs)
    constant = np.ptp(ours) == 0 or np.ptp(theirs) == 0
    counts = confusion(*classes, bins)
    return RankAgreement(
        nodes=nodes,
        spearman=None if constant else spearman(ours, theirs),
        kendall=None if constant else kendall(ours, theirs),
        rank_biased=rank_biased_overlap(*orders, persistence),
        top=tuple(overlap(*orders, percent) for percent in TOP_PERCENTS),
        same_class=int(counts.trace()) / nodes,
        confusion=tuple(map(tuple, counts.tolist())),
        displaced=displaced(ours, theirs, most),
    )


def best_first(scores: Floats) -> Order:
    """Ids by score, the highest first, then by id."""
    order: Order = np.argsort(-scores, kind="stable")
    return order


def overlap(ours: Order, theirs: Order, percent: int) -> Overlap:
    """The overlap of the best `percent` of the nodes, at least one. ours, theirs: ids[N], the best
    first."""
    count = max(1, math.ceil(len(ours) * percent / 100))
    shared = len(np.intersect1d(ours[:count], theirs[:count], assume_unique=True))
    return Overlap(percent, count, shared / count)


def rank_biased_overlap(ours: Order, theirs: Order, persistence: float = PERSISTENCE) -> float:
    """RBO of two orders of the same ids, 1 for equal ones. Raises ValueError for a persistence that
    is not between 0 and 1.

    The sum ends where less than NEGLIGIBLE is left of it.
    """
    if not 0 < persistence < 1:
        raise ValueError(f"persistence is {persistence}, expected above 0 and below 1")
    depth = min(len(ours), math.ceil(math.log(NEGLIGIBLE) / math.log(persistence)))
    _, at, other_at = np.intersect1d(
        ours[:depth], theirs[:depth], assume_unique=True, return_indices=True
    )
    both = np.cumsum(np.bincount(np.maximum(at, other_at), minlength=depth))
    depths = np.arange(1, depth + 1)
    sums = float(np.dot(persistence ** (depths - 1.0), both / depths))
    return (1 - persistence) * sums + persistence**depth * int(both[-1]) / depth


def confusion(
    ours: npt.NDArray[np.integer], theirs: npt.NDArray[np.integer], bins: int
) -> npt.NDArray[np.int64]:
    """int64[bins, bins]; [i, j]: nodes in class i + 1 of ours and j + 1 of theirs.

    Memory: PIECE nodes beside the columns. Raises ValueError for a class outside 1 to bins.
    """
    counts = np.zeros(bins * bins, np.int64)
    for begin in range(0, len(ours), PIECE):
        a, b = (side[begin : begin + PIECE].astype(np.int64) - 1 for side in (ours, theirs))
        if min(a.min(), b.min()) < 0 or max(a.max(), b.max()) >= bins:
            raise ValueError(f"a class that is not between 1 and {bins}")
        counts += np.bincount(a * bins + b, minlength=bins * bins)
    return counts.reshape(bins, bins)


def displaced(ours: Floats, theirs: Floats, most: int) -> tuple[Displacement, ...]:
    """The nodes whose positions are furthest apart, at most this number, ties by id; none that has
    the same position in both."""
    nodes = len(ours)
    positions, others = (nodes + 1 - midranks(side) for side in (ours, theirs))
    apart = np.abs(positions - others)
    ids = np.argsort(-apart, kind="stable")[:most]
    return tuple(
        Displacement(node, float(positions[node]), float(others[node]), float(apart[node]) / nodes)
        for node in ids[apart[ids] > 0].tolist()
    )
