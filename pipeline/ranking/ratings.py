"""How far a ranking agrees with people who rated pages from 1 to 4: the librarian score.

After the evaluation with librarians of the French national library (Abiteboul, Preda, Cobena 2003,
Adaptive on-line page importance computation): the part of the rated pages that a ranking puts into
the same of four classes as the mean of the raters does, beside the same part for each rater.

Choices made here. The mean of a page is over those who rated it, and a half goes up: 2.5 is in
class 3. A ranking has scores and no classes, so its rated pages are put into classes of the same
sizes: if n_4 pages have the mean class 4, the n_4 best by score get 4, the next n_3 get 3, and so
on. Equal scores are taken in the order of the pages; `by_order` counts the pages whose class that
decides. A rater is compared with the mean that includes the own rating, on the pages rated. That
favours raters, most where they are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.agreement import confusion
from crawlrank.pipeline.ranking.classes import Numbers
from crawlrank.pipeline.ranking.correlations import Kappa, kappa, quadratic_weights

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
    not count. given: as in RatingTable. Raises ValueError for another number of scores, and for a
    page or a rater without a rating.
    """
    if len(scores) != len(given):
        raise ValueError(f"{len(scores)} scores, expected one for each of {len(given)} pages")
    if not given.size or not given.any(axis=0).all() or not given.any(axis=1).all():
        raise ValueError("a page or a rater without a rating, expected at least 1")
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
