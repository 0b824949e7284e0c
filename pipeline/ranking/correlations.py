"""How alike two orders are, for millions of pairs: Spearman's rho and Kendall's tau-b.

rho is Pearson's correlation of ranks, equal values sharing their mean rank (Spearman 1904). With P
pairs of places, of which T1 tie in the first column, T2 in the second and T12 in both, and D that
the columns order differently, tau_b = (P - T1 - T2 + T12 - 2 D) / sqrt((P - T1) (P - T2)) (Kendall
1945). Pairs are counted without rounding: D, once the rows are in the order of the first column,
is the number of inversions of the second, which a merge sort counts on its way (Knight 1966).

scipy.stats has both, and takes a second to import. Memory: CORRELATION_BYTES a pair beside the
columns.

Cohen's kappa: how far two classifications agree beyond chance, and how sure that is.

Of n things let p_ij be the part in class i of the one and j of the other, p_i. and p_.j the sums of
rows and columns, and w_ij from 0 to 1 what a pair of classes counts (Cohen 1960, 1968):

    P_o = sum w_ij p_ij    P_e = sum w_ij p_i. p_.j    kappa = (P_o - P_e) / (1 - P_e)

With w_i. = sum over j of w_ij p_.j and w_.j = sum over i of w_ij p_i. its asymptotic variance is
(Fleiss, Cohen, Everitt 1969, Large sample standard errors of kappa and weighted kappa)

    (sum p_ij (w_ij - (w_i. + w_.j)(1 - kappa))^2 - (kappa - P_e (1 - kappa))^2) / (n (1 - P_e)^2)

The interval of 95 % is kappa -+ 1.96 standard errors, cut to [-1, 1]. It holds for large n: with a
few dozen things it is a rough guide.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import compiled
from crawlrank.pipeline.data.graph import Floats, Positions

CORRELATION_BYTES = 28  # one column of ranks, and another being made from a sort


def spearman(a: Floats, b: Floats) -> float:
    """rho of two columns, neither of which may be of one value only."""
    x, y = _centred_ranks(a), _centred_ranks(b)
    rho = float(np.dot(x, y) / math.sqrt(np.dot(x, x)) / math.sqrt(np.dot(y, y)))
    return _within(rho)


def midranks(values: Floats) -> Floats:
    """The rank of each, from 1 for the lowest; equal values share the mean of theirs."""
    ranks = _centred_ranks(values)
    ranks += len(values) + 1
    ranks /= 2
    return ranks


def _centred_ranks(values: Floats) -> Floats:
    """Twice the mean rank of each, less twice that of all."""
    ranks = np.empty(len(values))
    compiled(_rank)(values, np.argsort(values, kind="stable"), ranks)
    return ranks


def _rank(values: Floats, order: Positions, ranks: Floats) -> None:
    """Fill in the ranks. order: of the values, ascending."""
    n, start = len(order), 0
    while start < n:
        end = start + 1
        while end < n and values[order[end]] == values[order[start]]:
            end += 1
        for k in range(start, end):
            ranks[order[k]] = start + end - n
        start = end


def kendall(a: Floats, b: Floats) -> float:
    """tau-b of two columns, neither of which may be of one value only."""
    pairs, sort, tied = len(a) * (len(a) - 1) // 2, np.sort(b), compiled(_tied)
    without_b = pairs - int(tied(sort, sort))
    del sort
    order = np.lexsort((b, a))
    first, second = a[order], b[order]
    del order
    without_a, both = pairs - int(tied(first, first)), int(tied(first, second))
    del first
    apart = int(compiled(_inversions)(second, np.empty_like(second)))
    concordance = without_a + without_b - pairs + both - 2 * apart
    return _within(concordance / math.sqrt(without_a) / math.sqrt(without_b))


def _within(coefficient: float) -> float:
    """The correlation without what rounding adds to 1."""
    return max(-1.0, min(coefficient, 1.0))


def _tied(first: Floats, second: Floats) -> int:
    """Pairs of places that tie in both columns, which are sorted by the first, then the second."""
    count = start = 0
    for k in range(len(first)):
        if first[k] != first[start] or second[k] != second[start]:
            start = k
        count += k - start
    return count


def _inversions(values: Floats, other: Floats) -> int:
    """How many pairs are in falling order. It sorts the values. other: room for as many."""
    count, width, n = 0, 1, len(values)
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                if j >= high or (i < middle and values[i] <= values[j]):
                    other[k] = values[i]
                    i += 1
                else:
                    other[k] = values[j]
                    j += 1
                    count += middle - i
        values, other = other, values
        width *= 2
    return count


NORMAL = 1.959963984540054  # 0.975 quantile of the normal distribution


class Kappa(NamedTuple):
    """low, high: the interval of 95 %."""

    value: float
    standard_error: float
    low: float
    high: float


def quadratic_weights(classes: int) -> Floats:
    """float64[k, k], 1 - (i - j)^2 / (k - 1)^2: near classes agree in part. classes: at least 2."""
    numbers = np.arange(classes)
    weights: Floats = 1 - ((numbers[:, None] - numbers) / (classes - 1)) ** 2
    return weights


def kappa(confusion: npt.NDArray[np.int64], weights: Floats | None = None) -> Kappa | None:
    """Kappa of counts[k, k] by the two classes; None where chance alone agrees fully, so that kappa
    is 0 / 0, as when all are in one class.

    weights: float64[k, k], 1 on the diagonal; by default 0 elsewhere.
    """
    total = int(confusion.sum())
    if not total:
        return None
    weights = np.eye(len(confusion)) if weights is None else weights
    parts = confusion / total
    rows, columns = parts.sum(axis=1), parts.sum(axis=0)
    observed, expected = float((weights * parts).sum()), float(rows @ weights @ columns)
    chance = 1 - expected
    if not _can_disagree(confusion, weights):
        return None
    value = (observed - expected) / chance
    of_rows, of_columns = weights @ columns, rows @ weights
    spread = weights - (of_rows[:, None] + of_columns) * (1 - value)
    variance = float((parts * spread**2).sum()) - (value - expected * (1 - value)) ** 2
    error = math.sqrt(max(variance, 0.0) / total) / chance
    low, high = max(value - NORMAL * error, -1.0), min(value + NORMAL * error, 1.0)
    return Kappa(value, error, low, high)


def _can_disagree(confusion: npt.NDArray[np.int64], weights: Floats) -> bool:
    """Whether a class of the one and a class of the other, both in use, count less than 1."""
    rows, columns = confusion.any(axis=1), confusion.any(axis=0)
    return bool((weights[np.ix_(rows, columns)] < 1).any())
