"""The loops of packed rounds, over the edges of one partition; compiled by numba when first used.

Equation: x_i = base_i + damping * sum over edges j->i of y_j, with y_j = x_j / outdegree_j. Rows
are targets, those of linking nodes before those that dangle (packed_graph.py): counts[i] edges,
whose sources (rows, too) follow each other. y and x are of linking nodes. Contributions to others
and their sums are taken in two parts, high and low, wrong by less than (edges * UNIT)^2 of
themselves. Everything is summed in the order written. base has the number of every row, or one for
all of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import Floats, Positions, two_sum

Ints = npt.NDArray[np.uint32]
Sums = tuple[float, float, float, float, float, float, float, float, float, float]


@loop
def contributions(counts: Ints, sources: Ints, y: Floats, sums: Floats) -> None:
    """What each row gets along its edges, rounded once."""
    k = 0
    for i in range(len(counts)):
        high, low = 0.0, 0.0
        for _ in range(np.int64(counts[i])):
            value = y[sources[k]]
            high, error = two_sum(high, value)
            low += error
            k += 1
        sums[i] = high + low


@loop
def receive(rows: Ints, values: Floats, high: Floats, low: Floats) -> None:
    """Add what came from another partition."""
    for k in range(len(rows)):
        i, value = rows[k], values[k]
        high[i], error = two_sum(high[i], value)
        low[i] += error


@loop
def image(
    counts: Ints,
    sources: Ints,
    y: Floats,
    x: Floats,
    high: Floats,
    low: Floats,
    base: Floats,
    damping: float,
    doubt: float,
    shift_of_base: float,
    plain: Floats,
) -> Sums:
    """plain = base_i + damping A x of all rows, high and low being what came from other partitions.

    The score that enters of a node that dangles is its new one, as nothing depends on it. doubt:
    what a residual may be wrong by, relative to |x'| + |x|. Returns, as RoundSums names them:
    old_l1, new_l1, residual_sum, residual_l1, residual_max, relative_max, share_max, least,
    shifted_l1, dangling_new.
    """
    old, new_sum, signed, absolute, shifted, dangling = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    largest, relative, share, least = 0.0, 0.0, 0.0, np.inf
    k, each = 0, len(base) > 1
    for i in range(len(counts)):
        most, rest = high[i], low[i]
        for _ in range(np.int64(counts[i])):
            value = y[sources[k]]
            most, error = two_sum(most, value)
            rest += error
            k += 1
        start = base[i if each else 0]
        score = start + damping * (most + rest)
        before = score
        if i < len(x):
            before = x[i]
        else:
            dangling += score
        r = score - before
        slack = doubt * (score + abs(before))
        old += before
        new_sum += score
        signed += r
        absolute += abs(r) + slack
        largest = max(largest, abs(r) + slack)
        if abs(r) + slack > 0.0:
            relative = max(relative, (abs(r) + slack) / start)
            share = max(share, (abs(r) + slack) / before)
        if before > 0.0:
            least = min(least, before)
        shifted += abs(r - shift_of_base * start) + slack
        plain[i] = score
    return old, new_sum, signed, absolute, largest, relative, share, least, shifted, dangling


@loop
def sweep(
    offsets: Positions,
    sources: Ints,
    degrees: Ints,
    inflow: Floats,
    base: Floats,
    damping: float,
    y: Floats,
    scores: Floats,
    backward: bool,
) -> None:
    """Gauss and Seidel's pass over the linking nodes, what comes from other partitions as it was.

    offsets: of their edges. y and scores are brought up to date.
    """
    rows, each = len(offsets) - 1, len(base) > 1
    for step in range(rows):
        i = rows - 1 - step if backward else step
        flow = inflow[i]
        for k in range(offsets[i], offsets[i + 1]):
            flow += y[sources[k]]
        scores[i] = base[i if each else 0] + damping * flow
        y[i] = scores[i] / degrees[i]


@loop
def flows(
    counts: Ints, sources: Ints, y: Floats, groups: Ints, targets: Ints, width: int, sums: Floats
) -> None:
    """Add what goes from each group of sources to each group of rows.

    groups: of a source, from 0. targets: of a row. sums: float64[groups * width], row by row.
    """
    k = 0
    for i in range(len(counts)):
        target = np.int64(targets[i])
        for _ in range(np.int64(counts[i])):
            source = sources[k]
            sums[np.int64(groups[source]) * width + target] += y[source]
            k += 1
