"""The loops of weak and strong components, compiled by numba when first used.

Links are read by target: those to node i come from `sources[offsets[i]:offsets[i + 1]]`. Union-find
and the search are described in components.py.
"""

from __future__ import annotations

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Mask, Targets

SearchState = tuple[int, int, int, int, int, int]


@loop
def root_of(roots: Targets, node: np.int64) -> np.int64:
    """Where the path from a node ends. The walk halves the path behind it."""
    while roots[node] != node:
        roots[node] = roots[roots[node]]
        node = np.int64(roots[node])
    return node


@loop
def join_one(roots: Targets, root: np.int64, node: np.int64) -> np.int64:
    """Join a node with those of a root. Of two roots the smaller stays one, which is returned."""
    other = root_of(roots, node)
    if other < root:
        roots[root] = other
        return other
    roots[other] = root
    return root


@loop
def join(offsets: Offsets, sources: Ids, roots: Targets, begin: int, end: int) -> None:
    """Join each node of a range with its sources."""
    for node in range(begin, end):
        root = root_of(roots, np.int64(node))
        for k in range(offsets[node], offsets[node + 1]):
            root = join_one(roots, root, np.int64(sources[k]))


@loop
def flatten(roots: Targets, sizes: Targets) -> None:
    """The root of each node itself, and how many nodes each root has. A root is its smallest node,
    so what a node leads to is flat already."""
    for node in range(len(roots)):
        root = roots[roots[node]]
        roots[node] = root
        sizes[root] += 1


@loop
def count_sizes(sizes: Targets, counts: Targets) -> None:
    """How many of the sizes above 0 are equal to each size."""
    for size in sizes:
        if size > 0:
            counts[size] += 1


@loop
def settle(offsets: Offsets, outdegrees: Ids, low: Targets, nodes: Targets) -> tuple[int, int]:
    """Put the nodes without links to them at the front of the order, and those without links from
    them at its end: each is a component by itself, and needs no search. Returns how many are in
    front, and where the end begins."""
    n, done = len(low), 0
    end = n
    for node in range(n - 1, -1, -1):
        if outdegrees[node] == 0:
            end -= 1
            nodes[end] = node
            low[node] = n - end
    for node in range(n):
        if low[node] == 0 and offsets[node] == offsets[node + 1]:
            nodes[done] = node
            low[node] = n - done
            done += 1
    return done, end


@loop
def follow(
    sources: Ids, low: Targets, begin: int, end: int, lowest: np.int64
) -> tuple[int, np.int64]:
    """The first link of a range from a new node, or its end, and the least `low` before it."""
    for k in range(begin, end):
        reached = low[sources[k]]
        if reached == 0:
            return k, lowest
        lowest = min(lowest, reached)
    return end, lowest


@loop
def complete(
    low: Targets,
    nodes: Targets,
    spare: Targets,
    done: int,
    waiting: int,
    lowest: np.int64,
    label: int,
) -> tuple[int, int]:
    """Move the waiting nodes that reach a root into the order. Returns the new done and waiting."""
    while waiting > 0:
        node = spare[len(spare) - waiting]
        if low[node] < lowest:
            break
        waiting -= 1
        low[node], nodes[done] = label, node
        done += 1
    return done, waiting


@loop
def search(
    offsets: Offsets,
    sources: Ids,
    low: Targets,
    lowered: Mask,
    nodes: Targets,
    spare: Targets,
    state: SearchState,
    links: int,
) -> SearchState:
    """Follow about so many links. Arrays and state: see `_searched` in components.py."""
    n = len(nodes)
    start, depth, done, waiting, index, label = state
    while links > 0 and done < n:
        if depth == 0:
            while low[start] != 0:
                start += 1
            child = np.int64(start)
        else:
            node = np.int64(nodes[n - depth])
            begin, end = offsets[node] + spare[depth - 1], offsets[node + 1]
            k, lowest = follow(sources, low, begin, end, np.int64(low[node]))
            links -= k - begin + 1
            spare[depth - 1] += k - begin
            if lowest < low[node]:
                low[node], lowered[node] = lowest, True
            child = np.int64(sources[k]) if k < end else np.int64(-1)
        if child >= 0:
            depth, index = depth + 1, index + 1
            nodes[n - depth], spare[depth - 1], low[child] = child, 0, index
            continue
        depth, waiting = depth - 1, waiting + 1
        spare[n - waiting] = node
        if not lowered[node]:
            before = done
            done, waiting = complete(low, nodes, spare, done, waiting, lowest, label)
            index, label = index - (done - before), label - 1
    return start, depth, done, waiting, index, label


@loop
def number(low: Targets, nodes: Targets, counts: Targets) -> tuple[int, int]:
    """Turn labels into numbers from 0 in the order, and count components by size. Returns where in
    the order the largest component begins and ends, of equal ones that with the smallest node."""
    begin = component = best_begin = best_end = 0
    best_first = len(nodes)
    while begin < len(nodes):
        label, first, end = low[nodes[begin]], len(nodes), begin
        while end < len(nodes) and low[nodes[end]] == label:
            first = min(first, nodes[end])
            low[nodes[end]] = component
            end += 1
        size, best = end - begin, best_end - best_begin
        counts[size] += 1
        if size > best or (size == best and first < best_first):
            best_begin, best_end, best_first = begin, end, first
        begin = end
        component += 1
    return best_begin, best_end
