"""How far two rankings of the same nodes agree, and how far a ranking agrees with people.

**Two rankings** are compared in order, at the top, and in classes. Equal scores share their mean
position for the correlations and for what is displaced. At the top they are taken by id on both
sides, so that a cut through a group of them is the same.

Rank-biased overlap weighs the top most (Webber, Moffat, Zobel 2010, A similarity measure for
indefinite rankings): with A_d the part of the first d nodes of one ranking that are among the first
d of the other, and persistence p,

    RBO = (1 - p) * sum over d >= 1 of p^(d-1) * A_d

Somebody who reads on to the next node with probability p looks at 1 / (1 - p) of them on average.
All N nodes are in both rankings, so A_d is 1 from N on, and the sum beyond N is known: p^N.

**The librarian score** compares a ranking with people who rated pages from 1 to 4, after the
evaluation with librarians of the French national library (Abiteboul, Preda, Cobena 2003, Adaptive
on-line page importance computation): the part of the rated pages that a ranking puts into the same
of four classes as the mean of the raters does, beside the same part for each rater.

Choices made here. The mean of a page is over those who rated it, and a half goes up: 2.5 is in
class 3. A ranking has scores and no classes, so its rated pages are put into classes of the same
sizes: if n_4 pages have the mean class 4, the n_4 best by score get 4, the next n_3 get 3, and so
on. Equal scores are taken in the order of the pages; `by_order` counts the pages whose class that
decides. A rater is compared with the mean that includes the own rating, on the pages rated. That
favours raters, most where they are few.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.classes import Numbers, Order
from crawlrank.pipeline.ranking.correlations import (
    Kappa,
    kappa,
    kendall,
    midranks,
    quadratic_weights,
    spearman,
)

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
    persistence: p, above 0 and below 1. Memory: 16 bytes a node for the orders, and
    CORRELATION_BYTES.
    """
    ours, theirs = scores
    nodes = len(ours)
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
    """RBO of two orders of the same ids, 1 for equal ones. The sum ends where less than NEGLIGIBLE
    is left of it."""
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

    Memory: PIECE nodes beside the columns.
    """
    counts = np.zeros(bins * bins, np.int64)
    for begin in range(0, len(ours), PIECE):
        a, b = (side[begin : begin + PIECE].astype(np.int64) - 1 for side in (ours, theirs))
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


RATINGS = (1, 2, 3, 4)  # the last for the most important
CLASSES = len(RATINGS)


@dataclass(frozen=True, eq=False)
class RatingTable:
    """given: int8[pages, raters], 1 to 4, 0 where a rater did not rate the page; every page and
    every rater has a rating."""

    pages: tuple[str, ...]
    raters: tuple[str, ...]
    given: Numbers


@dataclass(frozen=True)
class ClassAgreement:
    """Classes compared with those of the mean of raters. pages: their number. share: the part in
    the same class. confusion[i][j]: pages that have i+1 where the mean has j+1. kappa, quadratic:
    without and with weights; None where both have all pages in one class."""

    pages: int
    share: float
    confusion: tuple[tuple[int, ...], ...]
    kappa: Kappa | None
    quadratic: Kappa | None


@dataclass(frozen=True)
class LibrarianScore:
    """ranking: of a ranking. by_order: pages whose class in it is decided by their order among
    equal scores. raters: of each rater, as the table has them."""

    ranking: ClassAgreement
    by_order: int
    raters: tuple[ClassAgreement, ...]


def librarian_score(scores: Floats, given: Numbers) -> LibrarianScore:
    """Compare a ranking and each rater with the mean of the raters.

    scores: float64[pages], higher ones better, rounded by whoever calls where small differences do
    not count. given: as in RatingTable.
    """
    means = mean_classes(given)
    classes, by_order = quantized(scores, np.bincount(means, minlength=CLASSES + 1)[1:])
    rated = (np.flatnonzero(column) for column in given.T)
    raters = (
        _agreement(column[pages], means[pages])
        for column, pages in zip(given.T, rated, strict=True)
    )
    return LibrarianScore(_agreement(classes, means), by_order, tuple(raters))


def mean_classes(given: Numbers) -> Numbers:
    """int8[pages]: the mean of the ratings of each page, rounded, a half up. given: as in
    RatingTable. In whole numbers, so that a half is one."""
    counts = np.count_nonzero(given, axis=1)
    sums = given.sum(axis=1, dtype=np.int64)
    means: Numbers = ((2 * sums + counts) // (2 * counts)).astype(np.int8)
    return means


def quantized(scores: Floats, sizes: npt.NDArray[np.int64]) -> tuple[Numbers, int]:
    """int8[pages], the classes of a ranking if sizes[c - 1] pages are in class c, and how many
    pages have theirs by their order among equal scores. The best are in the last class."""
    order = np.argsort(-scores, kind="stable")
    along = np.repeat(np.arange(len(sizes), 0, -1, dtype=np.int8), sizes[::-1])
    classes = np.empty(len(scores), np.int8)
    classes[order] = along
    ranked = scores[order]
    split = (ranked[1:] == ranked[:-1]) & (along[1:] != along[:-1])
    return classes, int(np.isin(scores, ranked[1:][split]).sum())


def _agreement(classes: Numbers, means: Numbers) -> ClassAgreement:
    counts = confusion(classes, means, CLASSES)
    return ClassAgreement(
        pages=len(means),
        share=int(counts.trace()) / len(means),
        confusion=tuple(map(tuple, counts.tolist())),
        kappa=kappa(counts),
        quadratic=kappa(counts, quadratic_weights(CLASSES)),
    )
