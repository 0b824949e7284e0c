"""The loops of PageRank's sweeps and residual, compiled by numba when first used.

Equation: x_i = base_i + damping * sum over edges j->i of y_j, with y_j = x_j / outdegree_j.
Dangling nodes are never read: the sweeps leave them out, `residual` gives them their scores.
Stopping rules are those of sweeps.py. Rows, slots, factors and constants are those of twins.py.

Every loop takes a range of nodes, or rows, writes to that range alone, and gives up the
interpreter's lock, so that threads work side by side and results depend on the ranges only. Sums
are taken in the order written: nothing here lets the compiler reorder or contract them. Memory:
what the caller gives; sources are read once, in order.

base has the number of every node, or one for all of them; constants that of every slot, or one.

Sweeps read twice as many y as there are slots, or nodes: those of a thread's own rows, which change
under it, and after them, `whole` further on, everybody's of the last pass.

Loops over links ask for y some links ahead, and take unsigned numbers there, so that numba need not
look whether an index counts from the end. Only `internal_links` writes outside its range of nodes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import AHEAD, loop, prefetch
from crawlrank.jobs.kernel.rank.array_types import two_sum
from crawlrank.jobs.kernel.rank.plain_round import DOUBT, UNIT
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.exact_sums import flow

ROW_COST = 4  # edges that a row costs besides its own

_U = np.uint64
_ONE, _AHEAD = _U(1), _U(AHEAD)
Kinds = npt.NDArray[np.uint8]


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
    """Ranges of equal work: cuts[t] becomes the node where thread t begins.

    Rows are the nodes with edges out, edges those to them; cuts is int64[threads + 1].
    """
    threads, work, t, row, edge = len(cuts) - 1, edges + ROW_COST * rows, 1, 0, 0
    for i in range(len(outdegrees)):
        while t < threads and (edge + ROW_COST * row) * threads >= t * work:
            cuts[t] = i
            t += 1
        if outdegrees[i]:
            row += 1
            edge += offsets[i + 1] - offsets[i]
    cuts[t:] = len(outdegrees)


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
    """The pass over the graph as it lies on disk, a row for each node with edges out."""
    difference, total, each = 0.0, 0.0, len(base) > 1
    whole, last = len(outdegrees), _U(len(sources) - 1)
    for i in range(begin, end):
        if not outdegrees[i]:
            continue
        flow = 0.0
        for k in range(_U(offsets[i]), _U(offsets[i + 1])):
            next_source = np.int64(sources[min(k + _AHEAD, last)])
            prefetch(y, _U(next_source if own[0] <= next_source < own[1] else next_source + whole))
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
def internal_links(
    offsets: Offsets, sources: Ids, hosts: Positions, counts: Positions, begin: int, end: int
) -> None:
    """Add the links within a host, to the nodes of a range, to the counts of their sources."""
    for i in range(begin, end):
        for k in range(offsets[i], offsets[i + 1]):
            if hosts[sources[k]] == hosts[i]:
                counts[sources[k]] += 1


@loop
def row_sums(
    outdegrees: Ids, row_of: Ids, closed: Kinds, values: Floats, damping: float, sums: Floats
) -> None:
    """Add up value / (o + e) over the nodes of each row, in two parts: sums is float64[R, 2].
    values: of every node, or one for all of them."""
    each = len(values) > 1
    for i in range(len(outdegrees)):
        if outdegrees[i]:
            of_row = sums[row_of[i]]
            divisor = outdegrees[i] + (damping if closed[row_of[i]] else 0.0)
            of_row[0], error = two_sum(of_row[0], values[i if each else 0] / divisor)
            of_row[1] += error


@loop
def spread(
    slots: Offsets,
    factors: Floats,
    constants: Floats,
    flows: Floats,
    y: Floats,
    begin: int,
    end: int,
) -> None:
    """The numbers in the slots of a range of rows."""
    each = len(constants) > 1
    for row in range(begin, end):
        for slot in range(slots[row], slots[row + 1]):
            y[slot] = factors[slot] * (flows[row] + constants[slot if each else 0])


@loop
def sweep(
    ends: Offsets,
    positions: Ids,
    rows: tuple[Offsets, Floats],
    slots: tuple[Floats, Floats],
    flows: Floats,
    y: Floats,
    begin: int,
) -> tuple[float, float]:
    """Gauss and Seidel's pass over a thread's rows, from row `begin` on; returns |x' - x|_1, and
    what F adds to |x'|_1.

    rows: the first slot and the weight of each. slots: factors and constants. positions: AHEAD more
    than there are.
    """
    firsts, weights = rows
    factors, constants = slots
    difference, total, each, edge = 0.0, 0.0, len(constants) > 1, _U(0)
    row = _U(begin)
    for at in range(_U(len(ends) - 1)):
        last, flow = _U(ends[at + _ONE]), 0.0
        while edge < last:
            prefetch(y, _U(positions[edge + _AHEAD]))
            flow += y[positions[edge]]
            edge += _ONE
        difference += abs(flow - flows[row]) * weights[row]
        total += flow * weights[row]
        flows[row] = flow
        for slot in range(_U(firsts[row]), _U(firsts[row + _ONE])):
            y[slot] = factors[slot] * (flow + constants[slot if each else _U(0)])
        row += _ONE
    return difference, total


@loop
def jump(
    slots: Offsets,
    factors: Floats,
    flows: Floats,
    y: Floats,
    factor: float,
    begin: int,
    end: int,
) -> None:
    """Take F of a range of rows `factor` times the last step further. No exact F is below 0, so no
    step goes there."""
    whole = len(y) // 2
    for row in range(begin, end):
        step = (y[slots[row]] - y[whole + slots[row]]) / factors[slots[row]]
        flows[row] = max(flows[row] + factor * step, 0.0)


@loop
def shares(
    outdegrees: Ids,
    row_of: Ids,
    rows: tuple[Kinds, Floats],
    base: Floats,
    damping: float,
    y: Floats,
    begin: int,
    end: int,
) -> None:
    """y of a range of nodes, 0 for dangling ones. rows: whether each is closed, and what its pages
    get: the sum of y over all their sources, and over themselves if it is closed."""
    closed, flows = rows
    each = len(base) > 1
    for i in range(begin, end):
        y[i] = 0.0
        if outdegrees[i]:
            divisor = outdegrees[i] + (damping if closed[row_of[i]] else 0.0)
            y[i] = (base[i if each else 0] + damping * flows[row_of[i]]) / divisor
