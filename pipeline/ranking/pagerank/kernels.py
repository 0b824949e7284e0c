"""The loops of PageRank over edges, compiled by numba when first used: sweeps, plain rounds with
exact sums, and rounds with weighted links.

Equation: x_i = base_i + damping * sum over edges j->i of y_j, with y_j = x_j / outdegree_j.
Dangling nodes are never read: the sweeps leave them out, `residual` gives them their scores.
Stopping rules are those of sweeps.py.

Every loop takes a range of nodes, or rows, writes to that range alone, and gives up the
interpreter's lock, so that threads work side by side and results depend on the ranges only. Sums
are taken in the order written: nothing here lets the compiler reorder or contract them. Memory:
what the caller gives; sources are read once, in order.

base has the number of every node, or row, or one for all of them.

Sweeps read twice as many y as there are rows: those of a thread's own rows, which change under it,
and after them, `whole` further on, everybody's of the last pass.

Plain rounds treat dangling nodes as any other node. Their sum over the edges of a node is exact and
rounded once, so that it does not depend on the order of edges. With weighted links the equation is
x_i = base_i + damping * sum over edges j->i of w_ji y_j, with y_j = x_j / W_j, see terms.py. These
sums are taken in the order written, and do not depend on the ranges. Only `internal_links` writes
outside its range of nodes.
"""

from __future__ import annotations

import math

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import two_sum
from crawlrank.jobs.kernel.rank.plain_round import DOUBT, UNIT
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.exact_sums import CHUNKS, Chunks, add, nearest

ROW_COST = 4  # edges that a row costs besides its own


@loop
def count(offsets: Offsets, outdegrees: Ids) -> tuple[int, int, int]:
    """Nodes with edges out: how many, edges to them, and the most edges to one of them."""
    rows, edges, largest = 0, 0, 0
    for i in range(len(outdegrees)):
        if outdegrees[i]:
            indegree = offsets[i + 1] - offsets[i]
            rows, edges, largest = rows + 1, edges + indegree, max(largest, indegree)
    return rows, edges, largest


@loop
def cut(offsets: Offsets, outdegrees: Ids, rows: int, edges: int, cuts: Offsets) -> None:
    """Ranges of equal work: cuts[t] becomes the node, row and edge where thread t begins.

    Rows are the nodes with edges out, edges those to them; cuts is int64[threads + 1, 3].
    """
    threads, work, t, row, edge = len(cuts) - 1, edges + ROW_COST * rows, 1, 0, 0
    for i in range(len(outdegrees)):
        while t < threads and (edge + ROW_COST * row) * threads >= t * work:
            cuts[t, 0], cuts[t, 1], cuts[t, 2] = i, row, edge
            t += 1
        if outdegrees[i]:
            row += 1
            edge += offsets[i + 1] - offsets[i]
    for last in range(t, threads + 1):
        cuts[last, 0], cuts[last, 1], cuts[last, 2] = len(outdegrees), row, edge


@loop
def number(outdegrees: Ids, rows: Ids) -> None:
    """The row of every node with edges out."""
    row = 0
    for i in range(len(outdegrees)):
        rows[i] = row
        if outdegrees[i]:
            row += 1


@loop
def compact(
    offsets: Offsets,
    sources: Ids,
    outdegrees: Ids,
    rows: Ids,
    nodes: tuple[int, int],
    own: tuple[int, int],
    row: int,
    edge: int,
    whole: int,
    ends: Offsets,
    positions: Ids,
    degrees: Ids,
) -> tuple[int, int]:
    """The graph between nodes with edges out, from row and edge on; returns where it got to.

    positions: where the sweep finds the y of each source: itself, or `whole` further on for what is
    not of the thread's own rows.
    """
    for i in range(nodes[0], nodes[1]):
        if not outdegrees[i]:
            continue
        for k in range(offsets[i], offsets[i + 1]):
            source = np.int64(rows[sources[k]])
            positions[edge] = source if own[0] <= source < own[1] else source + whole
            edge += 1
        degrees[row] = outdegrees[i]
        row += 1
        ends[row] = edge
    return row, edge


@loop
def sweep(
    ends: Offsets,
    positions: Ids,
    degrees: Ids,
    base: Floats,
    damping: float,
    y: Floats,
    begin: int,
    end: int,
) -> tuple[float, float]:
    """Gauss and Seidel's pass over compact rows; returns |x' - x|_1 and |x'|_1 of them."""
    difference, total, each = 0.0, 0.0, len(base) > 1
    for i in range(begin, end):
        flow = 0.0
        for k in range(ends[i], ends[i + 1]):
            flow += y[positions[k]]
        score = base[i if each else 0] + damping * flow
        share = score / degrees[i]
        difference += abs(share - y[i]) * degrees[i]
        total += score
        y[i] = share
    return difference, total


@loop
def stream(
    offsets: Offsets,
    sources: Ids,
    outdegrees: Ids,
    base: Floats,
    damping: float,
    y: Floats,
    own: tuple[int, int],
    begin: int,
    end: int,
) -> tuple[float, float]:
    """The pass in memory, to the last bit, over the graph as it lies on disk."""
    difference, total, each = 0.0, 0.0, len(base) > 1
    whole = len(outdegrees)
    for i in range(begin, end):
        if not outdegrees[i]:
            continue
        flow = 0.0
        for k in range(offsets[i], offsets[i + 1]):
            source = np.int64(sources[k])
            flow += y[source if own[0] <= source < own[1] else source + whole]
        score = base[i if each else 0] + damping * flow
        share = score / outdegrees[i]
        difference += abs(share - y[i]) * outdegrees[i]
        total += score
        y[i] = share
    return difference, total


@loop
def settle(y: Floats, degrees: Ids, base: Floats, factor: float, begin: int, end: int) -> None:
    """Go `factor` times the last step further, and show everybody what there is now.

    No exact score is below its base, so no step goes there."""
    whole, each = len(y) // 2, len(base) > 1
    for i in range(begin, end):
        if factor and degrees[i]:
            least = base[i if each else 0] / degrees[i]
            y[i] = max(y[i] + factor * (y[i] - y[whole + i]), least)
        y[whole + i] = y[i]


@loop
def flow(sources: Ids, y: Floats, begin: int, end: int) -> tuple[float, float]:
    """The sum of y over edges in two parts, wrong by less than (edges * UNIT)^2 of itself."""
    high, low = 0.0, 0.0
    for k in range(begin, end):
        value = y[sources[k]]
        high, error = two_sum(high, value)
        low += error
    return high, low


@loop
def residual(
    offsets: Offsets,
    sources: Ids,
    outdegrees: Ids,
    base: Floats,
    damping: float,
    y: Floats,
    scores: Floats,
    r: Floats,
    begin: int,
    end: int,
) -> tuple[float, float, float, float, float, float]:
    """Scores of all nodes from y, and their true residuals r = base + damping A x - x.

    x is y * outdegree, of a dangling node what its sources give it. Returns |x|_1, the sum of r,
    then with the doubt about each r_i |r|_1, max |r_i| and max |r_i| / base_i, and the doubt about
    all.

    The doubt: y is x / outdegree but for two roundings, their sum, its product with the damping and
    the last sum round once each, and damping and base may be no doubles: DOUBT, 10 roundings, is
    ample.
    """
    total, signed, absolute, largest, relative, doubts = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    each = len(base) > 1
    for i in range(begin, end):
        high, low = flow(sources, y, offsets[i], offsets[i + 1])
        least = base[i if each else 0]
        score = least + damping * (high + low)
        scores[i] = y[i] * outdegrees[i] if outdegrees[i] else score
        r[i] = score - scores[i]
        edges = float(offsets[i + 1] - offsets[i])
        doubt = (DOUBT + (edges * UNIT) ** 2) * (score + abs(scores[i]))
        total += scores[i]
        signed += r[i]
        absolute += abs(r[i]) + doubt
        largest = max(largest, abs(r[i]) + doubt)
        if abs(r[i]) + doubt > 0.0:
            relative = max(relative, (abs(r[i]) + doubt) / least)
        doubts += doubt
    return total, signed, absolute, largest, relative, doubts


@loop
def relative(
    offsets: Offsets, scores: Floats, r: Floats, begin: int, end: int
) -> tuple[float, float]:
    """max |r_i| / x_i with the doubt about r_i, which is at most that of `residual`; infinite where
    an r_i is not 0 and its x_i is. And the smallest x_i above 0."""
    share, least = 0.0, np.inf
    for i in range(begin, end):
        edges = float(offsets[i + 1] - offsets[i])
        bound = abs(r[i]) + (DOUBT + (edges * UNIT) ** 2) * (2.0 * scores[i] + abs(r[i]))
        if bound > 0.0:
            share = max(share, bound / scores[i])
        if scores[i] > 0.0:
            least = min(least, scores[i])
    return share, least


@loop
def deviation(r: Floats, weights: Floats, mean: float, begin: int, end: int) -> float:
    """|r - mean w|_1 of a range. weights: of every node, or one for all of them."""
    total, each = 0.0, len(weights) > 1
    for i in range(begin, end):
        total += abs(r[i] - mean * weights[i if each else 0])
    return total


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


#: as RoundSums names them: old_l1, new_l1, residual_sum, residual_l1, residual_max, relative_max,
#: share_max, least, shifted_l1, dangling_new
NodeSums = tuple[float, float, float, float, float, float, float, float, float, float]
NO_SUMS: NodeSums = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.inf, 0.0, 0.0)


@loop
def _added(
    sums: NodeSums, node: tuple[bool, float, float, float, float], shift_of_base: float
) -> NodeSums:
    """The sums of a round with one node more: whether it dangles, its score before and after the
    round, the doubt about the new one, and its base."""
    old, new, signed, absolute, largest, relative, share, smallest, shifted, dangling = sums
    dangles, before, score, doubt, least = node
    r = score - before
    bound = abs(r) + doubt
    largest = max(largest, bound)
    if bound > 0.0:
        relative, share = max(relative, bound / least), max(share, bound / before)
    if before > 0.0:
        smallest = min(smallest, before)
    if dangles:
        dangling += score
    return (
        old + before, new + score, signed + r, absolute + bound, largest, relative, share, smallest,
        shifted + (abs(r - shift_of_base * least) + doubt), dangling,
    )  # fmt: skip


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
) -> NodeSums:
    """One plain round: scores of a range from y, in place. shift_of_base: for a base of 1."""
    chunks, each, sums = np.zeros(CHUNKS, np.int64), len(base) > 1, NO_SUMS
    for i in range(begin, end):
        flow = rounded_sum(sources, y, offsets[i], offsets[i + 1], chunks)
        least = base[i if each else 0]
        score = least + damping * flow
        doubt = DOUBT * score
        sums = _added(sums, (not outdegrees[i], scores[i], score, doubt, least), shift_of_base)
        scores[i] = score
    return sums


@loop
def dangling_sum(scores: Floats, outdegrees: Ids, begin: int, end: int) -> Chunks:
    """The exact sum of the scores of dangling nodes."""
    chunks = np.zeros(CHUNKS, np.int64)
    for i in range(begin, end):
        if not outdegrees[i]:
            add(chunks, scores[i])
    return chunks


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
        high, error = two_sum(high, value)
        low += error
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
) -> NodeSums:
    """One round with weighted links: scores of a range from y, in place.

    The doubt: W_j (3 roundings), y_j, its product with w_ji, their sum, that by the damping and the
    last sum round, and damping and base may be no doubles. That is 10; 20 are ample."""
    each, sums = len(base) > 1, NO_SUMS
    for i in range(begin, end):
        edges = (offsets[i], offsets[i + 1])
        high, low = hosted_flow(sources, hosts, weights, y, hosts[i], edges)
        least = base[i if each else 0]
        score = least + damping * (high + low)
        doubt = (2.0 * DOUBT + (float(edges[1] - edges[0]) * UNIT) ** 2) * score
        sums = _added(sums, (not outweights[i], scores[i], score, doubt, least), shift_of_base)
        scores[i] = score
    return sums
