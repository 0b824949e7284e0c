"""Degrees and what they say of a graph: distribution, concentration, reciprocity; and how unequal
scores are.

Top share: the part of all links that the TOP of the nodes with most of them have. Reciprocity: the
part of all links s->t for which there is a link t->s (Newman, Forrest, Balthrop: *Email Networks
and the Spread of Computer Viruses*, 2002). Gini coefficient of x_1 <= … <= x_N:

    G = sum over i of (2i - N - 1) x_i / (N * sum over i of x_i)

It is 0 where all are equal, and 1 - 1/N where one has all. Where there is no link, or nothing to
share out, means, shares and coefficients are 0.

Memory: 4 bytes a node for degrees, 8 from 2^32 nodes; 8 bytes a node for the coefficient;
none for reciprocity. A look for a reverse link reads mapped links wherever it leads: see
components.py.

The distribution is P(value >= x), at some of the values. The points are the values of nodes whose
ranks are evenly spread over the logarithm, so that the few largest values are shown as finely as
the many small ones. Memory: one copy of the values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.arrays import PIECE, release
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets, team_of
from crawlrank.pipeline.data.graph import Floats

POINTS = 200
TOP = 0.01


@dataclass(frozen=True, eq=False)
class Degrees:
    """The degrees of one direction. distribution: at most POINTS points. zeros: nodes of degree 0.
    top_share: of the links, that of the TOP of nodes, rounded up to a whole number of nodes."""

    distribution: Distribution
    mean: float
    median: float
    largest: int
    zeros: int
    top_share: float


def indegrees(csr: Csr, piece: int = PIECE) -> Degrees:
    """piece: nodes at once."""
    degrees: Ids = np.empty(csr.nodes, csr.outdegrees.dtype)
    for begin in range(0, csr.nodes, piece):
        degrees[begin : begin + piece] = np.diff(csr.offsets[begin : begin + piece + 1])
    return _summary(degrees)


def outdegrees(csr: Csr) -> Degrees:
    return _summary(np.asarray(csr.outdegrees).copy())


def _summary(degrees: npt.NDArray[Any]) -> Degrees:
    """Sorts the degrees in their array."""
    degrees.sort()
    n = len(degrees)
    if not n:
        return Degrees(distribution_of_sorted(degrees, POINTS), 0.0, 0.0, 0, 0, 0.0)
    links = int(degrees.sum(dtype=np.uint64))
    one = degrees.dtype.type(1)  # of another type it would have all degrees copied to that type
    top = int(degrees[n - math.ceil(TOP * n) :].sum(dtype=np.uint64))
    return Degrees(
        distribution_of_sorted(degrees, POINTS),
        mean=links / n,
        median=(int(degrees[(n - 1) // 2]) + int(degrees[n // 2])) / 2,
        largest=int(degrees[-1]),
        zeros=int(np.searchsorted(degrees, one)),
        top_share=top / links if links else 0.0,
    )


def reciprocity(csr: Csr, threads: int = 1) -> float:
    """The share of links whose reverse is a link, too."""

    def counted(begin: int, end: int) -> int:
        count = _reciprocal(team.offsets, team.sources, team.outdegrees, begin, end)
        release(csr.sources, 0, csr.edges)
        return count

    with team_of(csr, threads) as team:
        return sum(team.over_nodes(counted)) / csr.edges if csr.edges else 0.0


@loop
def _reciprocal(offsets: Offsets, sources: Ids, outdegrees: Ids, begin: int, end: int) -> int:
    """How many links have a reverse link, of pairs whose larger node is in a range. A pair is
    looked at from its larger node alone. Binary search in the ascending sources of the smaller."""
    count = 0
    for target in range(begin, end):
        k = offsets[target] if outdegrees[target] > 0 else offsets[target + 1]
        while k < offsets[target + 1] and np.int64(sources[k]) < target:
            source = np.int64(sources[k])
            low, high = offsets[source], offsets[source + 1]
            while low < high:
                middle = (low + high) >> 1
                if np.int64(sources[middle]) < target:
                    low = middle + 1
                else:
                    high = middle
            if low < offsets[source + 1] and np.int64(sources[low]) == target:
                count += 2
            k += 1
    return count


def gini(scores: Floats, piece: int = PIECE) -> float:
    """The Gini coefficient. scores: float64[N], finite and at least 0, in any order. piece: scores
    at once."""
    ascending = np.sort(np.asarray(scores))
    n, weighted, totals = len(ascending), [], []
    for begin in range(0, n, piece):
        some = ascending[begin : begin + piece]
        weighted.append(float(np.arange(2 * begin + 1 - n, 2 * (begin + len(some)) - n, 2) @ some))
        totals.append(float(some.sum()))
    total = math.fsum(totals)
    return math.fsum(weighted) / (n * total) if total else 0.0


class Distribution(NamedTuple):
    """shares[i] is the part of the nodes with a value of values[i] or more; values ascend."""

    values: npt.NDArray[Any]
    shares: Floats


def distribution(values: npt.NDArray[Any], points: int) -> Distribution:
    """Points of this number at most, the least and the largest value among them. values: numbers
    [N], in any order."""
    return distribution_of_sorted(np.sort(values), points)


def distribution_of_sorted(ascending: npt.NDArray[Any], points: int) -> Distribution:
    """The distribution of values that ascend, without a copy."""
    count = len(ascending)
    if not count:
        return Distribution(ascending, np.empty(0))
    ranks = np.unique(np.geomspace(1, count, points).round().astype(np.int64))
    values = np.unique(ascending[count - ranks])
    at_least = count - np.searchsorted(ascending, values, side="left")
    return Distribution(values, at_least / count)
