"""How alike two orders are, for millions of pairs: Spearman's rho and Kendall's tau-b.

rho is Pearson's correlation of ranks, equal values sharing their mean rank (Spearman 1904). With P
pairs of places, of which T1 tie in the first column, T2 in the second and T12 in both, and D that
the columns order differently, tau_b = (P - T1 - T2 + T12 - 2 D) / sqrt((P - T1) (P - T2)) (Kendall
1945). Pairs are counted without rounding: D, once the rows are in the order of the first column,
is the number of inversions of the second, which a merge sort counts on its way (Knight 1966).

scipy.stats has both, and takes a second to import. Memory: about 8 arrays.
"""

from __future__ import annotations

import math

import numpy as np

from jobs.kernel.machine_code import compiled
from pipeline.graph import Floats, Mask, Positions


def spearman(a: Floats, b: Floats) -> float:
    """rho of two columns, neither of which may be of one value only."""
    x, y = _centred_ranks(a), _centred_ranks(b)
    return float(np.dot(x, y) / math.sqrt(np.dot(x, x)) / math.sqrt(np.dot(y, y)))


def _centred_ranks(values: Floats) -> Floats:
    """Twice the mean rank of each, less twice that of all."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(_new(values[order]))
    ends = np.append(starts[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(starts + ends - len(values), ends - starts)
    return ranks


def kendall(a: Floats, b: Floats) -> float:
    """tau-b of two columns, neither of which may be of one value only."""
    order = np.lexsort((b, a))
    first, second = a[order], b[order]
    new = _new(first)
    pairs = len(a) * (len(a) - 1) // 2
    untied = pairs - _tied(new), pairs - _tied(_new(np.sort(b)))
    both = _tied(new | _new(second))
    apart = int(compiled(_inversions)(second))
    found = untied[0] + untied[1] - pairs + both - 2 * apart
    return found / math.sqrt(untied[0]) / math.sqrt(untied[1])


def _new(values: Floats) -> Mask:
    """Which values are not as the one before."""
    return np.append(True, values[1:] != values[:-1])


def _tied(new: Mask) -> int:
    """Pairs within runs that begin where it is new."""
    sizes: Positions = np.diff(np.append(np.flatnonzero(new), len(new)))
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(values: Floats) -> int:
    """How many pairs are in falling order. Sorts in place."""
    count, width, n = 0, 1, len(values)
    other = np.empty_like(values)
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
