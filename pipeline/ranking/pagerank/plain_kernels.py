"""The loops of plain rounds, and their exact sums, compiled by numba when first used.

Equation: x_i = base_i + damping * sum over edges j->i of y_j, with y_j = x_j / outdegree_j.
Dangling nodes are treated as any other node. The stopping rule is that of plain.py.

A loop takes a range of nodes and writes to that range alone, as those of kernels.py do. A sum over
the edges of a node is exact and rounded once, so that it does not depend on their order.
"""

from __future__ import annotations

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.plain_round import DOUBT, UNIT
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.exact_sums import CHUNKS, Chunks, add, nearest
from crawlrank.pipeline.ranking.pagerank.kernels import flow


@loop
def rounded_sum(sources: Ids, y: Floats, begin: int, end: int, chunks: Chunks) -> float:
    """The sum of y >= 0 over edges, correctly rounded: that of math.fsum, to the last bit. Not
    finite if a y is not. chunks: an exact sum, which is overwritten.

    Two parts settle nearly all: their error is so small that both ends of what the sum can be
    round to the same double. The few others are summed exactly.
    """
    high, low = flow(sources, y, begin, end)
    edges = float(end - begin)
    if edges <= 2.0:
        return high
    error = 4.0 * (edges * UNIT) ** 2 * high
    total: float = high + (low - error)
    if total == high + (low + error):
        return total
    chunks[:] = 0
    for k in range(begin, end):
        add(chunks, y[sources[k]])
    return nearest(chunks)


@loop
def divide(scores: Floats, outdegrees: Ids, y: Floats, begin: int, end: int) -> None:
    """What every node gives along each of its edges."""
    for i in range(begin, end):
        y[i] = scores[i] / outdegrees[i] if outdegrees[i] else 0.0


@loop
def plain(
    offsets: Offsets,
    sources: Ids,
    outdegrees: Ids,
    base: Floats,
    damping: float,
    y: Floats,
    scores: Floats,
    shift_of_base: float,
    begin: int,
    end: int,
) -> tuple[float, float, float, float, float, float, float, float, float, float]:
    """One plain round: scores of a range from y, in place. shift_of_base: `shift` for a base of 1.

    Returns, as RoundSums names them: old_l1, new_l1, residual_sum, residual_l1,
    residual_max, relative_max, share_max, least, shifted_l1, dangling_new.
    """
    chunks, each, smallest = np.zeros(CHUNKS, np.int64), len(base) > 1, np.inf
    old, new, signed, absolute, shifted, dangling = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    largest, relative, share = 0.0, 0.0, 0.0
    for i in range(begin, end):
        flow = rounded_sum(sources, y, offsets[i], offsets[i + 1], chunks)
        least = base[i if each else 0]
        score = least + damping * flow
        r = score - scores[i]
        doubt = DOUBT * score
        old += scores[i]
        new += score
        signed += r
        bound = abs(r) + doubt
        absolute += bound
        largest = max(largest, bound)
        if bound > 0.0:
            relative, share = max(relative, bound / least), max(share, bound / scores[i])
        smallest = min(smallest, scores[i]) if scores[i] > 0.0 else smallest
        shifted += abs(r - shift_of_base * least) + doubt
        if not outdegrees[i]:
            dangling += score
        scores[i] = score
    return old, new, signed, absolute, largest, relative, share, smallest, shifted, dangling


@loop
def dangling_sum(scores: Floats, outdegrees: Ids, begin: int, end: int) -> Chunks:
    """The exact sum of the scores of dangling nodes."""
    chunks = np.zeros(CHUNKS, np.int64)
    for i in range(begin, end):
        if not outdegrees[i]:
            add(chunks, scores[i])
    return chunks
