"""The loops of HITS over edges, compiled by numba when first used.

Equation: t_j = e + sum over edges i->j of u_i,  h_i = sum over edges i->j of r_j t_j, with e what a
perturbed matrix adds. Every loop takes a range of nodes. relevance has the number of every node, or
one for all of them.
"""

from __future__ import annotations

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Targets
from crawlrank.pipeline.ranking.exact_sums import CHUNKS, Chunks, add
from crawlrank.pipeline.ranking.pagerank.kernels import rounded_sum
from crawlrank.pipeline.ranking.structure.components import join_one, root_of


@loop
def there_and_back(
    offsets: Offsets,
    rows: Ids,
    relevance: Floats,
    pairs: Floats,
    extra: float,
    begin: int,
    end: int,
) -> float:
    """Add to pairs[i, 1] what a range gives back to hubs, h_i, of their numbers u_i in pairs[i, 0].

    rows: of the source of each edge. Both numbers lie side by side, as each edge needs both.
    Returns the sum of r_j t_j.
    """
    each, total = len(relevance) > 1, 0.0
    for j in range(begin, end):
        r = relevance[j if each else 0]
        if r == 0.0:
            continue
        flow = extra
        for k in range(offsets[j], offsets[j + 1]):
            flow += pairs[rows[k], 0]
        given = r * flow
        for k in range(offsets[j], offsets[j + 1]):
            pairs[rows[k], 1] += given
        total += given
    return total


@loop
def join_hubs(
    offsets: Offsets, rows: Ids, relevance: Floats, roots: Targets, begin: int, end: int
) -> None:
    """Join the hubs of each node of a range that counts. roots: of rows, as in components.py."""
    each = len(relevance) > 1
    for j in range(begin, end):
        if relevance[j if each else 0] == 0.0 or offsets[j] == offsets[j + 1]:
            continue
        root = root_of(roots, np.int64(rows[offsets[j]]))
        for k in range(offsets[j] + 1, offsets[j + 1]):
            root = join_one(roots, root, np.int64(rows[k]))


@loop
def carefully(
    offsets: Offsets,
    rows: Ids,
    relevance: Floats,
    pairs: Floats,
    extra: float,
    begin: int,
    end: int,
) -> float:
    """The same, with sums over the edges to a node in two parts: there may be millions."""
    each, total = len(relevance) > 1, 0.0
    for j in range(begin, end):
        r = relevance[j if each else 0]
        if r == 0.0:
            continue
        high, low = extra, 0.0
        for k in range(offsets[j], offsets[j + 1]):
            value = pairs[rows[k], 0]
            new = high + value
            back = new - high
            low += (high - (new - back)) + (value - back)
            high = new
        given = r * (high + low)
        for k in range(offsets[j], offsets[j + 1]):
            pairs[rows[k], 1] += given
        total += given
    return total


@loop
def gather(offsets: Offsets, rows: Ids, values: Floats, sums: Floats, begin: int, end: int) -> None:
    """The sum over the edges to each node of a range."""
    for i in range(begin, end):
        total = 0.0
        for k in range(offsets[i], offsets[i + 1]):
            total += values[rows[k]]
        sums[i] = total


@loop
def gather_exactly(
    offsets: Offsets, sources: Ids, values: Floats, sums: Floats, begin: int, end: int
) -> None:
    """The correctly rounded sum over the edges to each node of a range."""
    chunks = np.zeros(CHUNKS, np.int64)
    for i in range(begin, end):
        sums[i] = rounded_sum(sources, values, offsets[i], offsets[i + 1], chunks)


@loop
def square_sum(values: Floats, begin: int, end: int) -> Chunks:
    """The exact sum of squares, each rounded."""
    chunks = np.zeros(CHUNKS, np.int64)
    for i in range(begin, end):
        add(chunks, values[i] * values[i])
    return chunks


@loop
def turn(offsets: Offsets, sources: Ids, ends: Offsets, targets: Ids) -> None:
    """The targets of each node, ascending, from the sources of each. ends: where the targets of
    each node begin; where they end, afterwards."""
    for j in range(len(offsets) - 1):
        for k in range(offsets[j], offsets[j + 1]):
            i = sources[k]
            targets[ends[i]] = j
            ends[i] += 1


@loop
def row_numbers(sources: Ids, row_of: Ids, rows: Ids) -> None:
    """The row of the source of each edge."""
    for k in range(len(sources)):
        rows[k] = row_of[sources[k]]
