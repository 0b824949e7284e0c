"""The loops of rounds with weighted links, compiled by numba when first used.

Equation: x_i = base_i + damping * sum over edges j->i of w_ji y_j, with y_j = x_j / W_j, see
links.py. They are apart from those of plain_kernels.py, which look at no host. The stopping rule is
that of plain.py. A loop takes a range of nodes, and all but `internal_links` write to that range
alone. Sums are taken in the order written, and do not depend on the ranges.
"""

from __future__ import annotations

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.plain_round import DOUBT, UNIT
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Positions


@loop
def internal_links(
    offsets: Offsets, sources: Ids, hosts: Positions, counts: Positions, begin: int, end: int
) -> None:
    """Add the links within a host, to the nodes of a range, to the counts of their sources."""
    for i in range(begin, end):
        for k in range(offsets[i], offsets[i + 1]):
            if hosts[sources[k]] == hosts[i]:
                counts[sources[k]] += 1


@loop
def hosted_flow(
    sources: Ids,
    hosts: Positions,
    weights: tuple[float, float],
    y: Floats,
    host: int,
    edges: tuple[int, int],
) -> tuple[float, float]:
    """The sum of w y over edges in two parts, wrong by less than (edges * UNIT)^2 of itself, but
    for the rounding of each product."""
    high, low = 0.0, 0.0
    for k in range(edges[0], edges[1]):
        weight = weights[0] if hosts[sources[k]] == host else weights[1]
        value = weight * y[sources[k]]
        new = high + value
        back = new - high
        low += (high - (new - back)) + (value - back)
        high = new
    return high, low


@loop
def weighted_plain(
    offsets: Offsets,
    sources: Ids,
    outweights: Floats,
    base: Floats,
    damping: float,
    y: Floats,
    scores: Floats,
    shift_of_base: float,
    hosts: Positions,
    weights: tuple[float, float],
    begin: int,
    end: int,
) -> tuple[float, float, float, float, float, float, float, float, float, float]:
    """One round: scores of a range from y, in place. Returns what `plain` does.

    The doubt: W_j (3 roundings), y_j, its product with w_ji, their sum, that by the damping and the
    last sum round, and damping and base may be no doubles. That is 10; 20 are ample."""
    old, new, signed, absolute, largest, relative = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    shifted, dangling, each, share, smallest = 0.0, 0.0, len(base) > 1, 0.0, np.inf
    for i in range(begin, end):
        edges = (offsets[i], offsets[i + 1])
        high, low = hosted_flow(sources, hosts, weights, y, hosts[i], edges)
        least = base[i if each else 0]
        score = least + damping * (high + low)
        r, old = score - scores[i], old + scores[i]
        doubt = (2.0 * DOUBT + (float(edges[1] - edges[0]) * UNIT) ** 2) * score
        new += score
        signed += r
        bound = abs(r) + doubt
        absolute += bound
        largest = max(largest, bound)
        if bound > 0.0:
            relative, share = max(relative, bound / least), max(share, bound / scores[i])
        smallest = min(smallest, scores[i]) if scores[i] > 0.0 else smallest
        shifted += abs(r - shift_of_base * least) + doubt
        if not outweights[i]:
            dangling += score
        scores[i] = score
    return old, new, signed, absolute, largest, relative, share, smallest, shifted, dangling
