"""The loops of the bow tie, compiled by numba when first used.

Links are read by target: those to node i come from `sources[offsets[i]:offsets[i + 1]]`. Loops that
go by the order of strong components end after about `links` links, and return where to go on, so
that the caller lets go of mapped sources in between.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Mask, Positions, Targets

NodeParts = npt.NDArray[np.int8]


@loop
def mark(nodes: Targets, part: int, parts: NodeParts) -> None:
    for node in nodes:
        parts[node] = part


@loop
def spread_back(
    offsets: Offsets,
    sources: Ids,
    numbers: Targets,
    order: Targets,
    marked: Mask,
    becomes: NodeParts,
    parts: NodeParts,
    end: int,
    links: int,
) -> int:
    """From the component that ends at `end` in the order back to the first: where one of its nodes
    is of a marked part, its nodes and their sources become what the table says. Returns the new
    end."""
    while end > 0 and links > 0:
        begin, hit, component = end, False, numbers[order[end - 1]]
        while begin > 0 and numbers[order[begin - 1]] == component:
            begin -= 1
            hit = hit or marked[parts[order[begin]]]
        for at in range(begin, end if hit else begin):
            node = order[at]
            parts[node] = becomes[parts[node]]
            for k in range(offsets[node], offsets[node + 1]):
                part = parts[sources[k]]
                if becomes[part] != part:
                    parts[sources[k]] = becomes[part]
            links -= offsets[node + 1] - offsets[node]
        end = begin
    return end


@loop
def spread_on(
    offsets: Offsets,
    sources: Ids,
    numbers: Targets,
    order: Targets,
    gives: NodeParts,
    parts: NodeParts,
    begin: int,
    links: int,
) -> int:
    """From the component that begins at `begin` in the order on to the last: where its nodes have
    no part yet, they get the least that one of their sources gives. Returns the new begin."""
    none = len(gives) - 1
    while begin < len(order) and links > 0:
        end, component, least = begin, numbers[order[begin]], none
        while end < len(order) and numbers[order[end]] == component:
            node = order[end]
            if parts[node] == none:
                for k in range(offsets[node], offsets[node + 1]):
                    least = min(least, gives[parts[sources[k]]])
                links -= offsets[node + 1] - offsets[node]
            end += 1
        for at in range(begin, end if least < none else begin):
            parts[order[at]] = least
        begin = end
    return begin


@loop
def finish(
    roots: Targets, root: int, turns: NodeParts, outside: int, parts: NodeParts, counts: Positions
) -> None:
    """The last part of each node, by the table for nodes of the weak component of `root` and
    `outside` for others; and how many nodes each part has."""
    for node in range(len(parts)):
        part = turns[parts[node]] if roots[node] == root else outside
        parts[node] = part
        counts[part] += 1


@loop
def count_links(
    offsets: Offsets, sources: Ids, parts: NodeParts, counts: Positions, begin: int, end: int
) -> None:
    """Add each link to a range of nodes to counts[part of the source, part of the target]."""
    for node in range(begin, end):
        part = parts[node]
        for k in range(offsets[node], offsets[node + 1]):
            counts[parts[sources[k]], part] += 1
