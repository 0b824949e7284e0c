"""Weak and strong components of a graph.

Weak: nodes that a path joins, whatever the direction of its links. Union-find in one pass over the
links, with path halving (Tarjan, van Leeuwen: *Worst-case Analysis of Set Union Algorithms*, 1984).
Roots are smallest nodes, and so do not depend on the order of the links.

Strong: nodes with paths of links to each other. Depth-first search (Tarjan: *Depth-First Search and
Linear Graph Algorithms*, 1972) in the form of Pearce (*A Space Efficient Algorithm for Detecting
Strongly Connected Components*, 2016) that needs one number a node beside its stacks, without
recursion. It follows links from their target to their source. The graph of the reversed links has
the same components, and the order in which they are completed is one in which every link between
two components leads from an earlier one to a later one.

Nodes are int32, or int64 from 2^31 nodes, where all figures double. Memory: STRUCTURE_BYTES a node
beside the graph, with the weak components kept; weak ones alone take 12. The search reads links
wherever they lead. So it may have all of their file mapped, though it lets go of it every LINKS
links, and is slow where the file does not fit into the system's cache. Weak components read the
links in their order, a block at a time.

The loops read links by target: those to node i come from `sources[offsets[i]:offsets[i + 1]]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.arrays import release
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets, read_only, team_of
from crawlrank.pipeline.data.graph import Mask, Positions, Targets

STRUCTURE_BYTES = 17  # a node: weak components 4, the search 13
LINKS = 1 << 20  # that are followed at once


@dataclass(frozen=True, eq=False)
class ComponentSizes:
    """There are counts[i] components of sizes[i] nodes: int64[k], the sizes ascend. Since they sum
    to N, k is below sqrt(2N)."""

    sizes: Positions
    counts: Positions

    @property
    def components(self) -> int:
        return int(self.counts.sum())

    @property
    def largest(self) -> int:
        """The size of the largest component, 0 without nodes."""
        return int(self.sizes[-1]) if len(self.sizes) else 0


@dataclass(frozen=True, eq=False)
class WeakComponents:
    """roots: for every node the smallest node of its component."""

    roots: Targets
    sizes: ComponentSizes


@dataclass(frozen=True, eq=False)
class StrongComponents:
    """numbers: for every node the number of its component, from 0. order: the nodes by number. A
    link leads to a component of the same or a higher number. core: the largest component is
    order[core]; of equal ones it is the one with the smallest node."""

    numbers: Targets
    order: Targets
    core: slice
    sizes: ComponentSizes


def weak_components(csr: Csr) -> WeakComponents:
    roots: Targets = np.arange(csr.nodes, dtype=_node_type(csr.nodes))
    with team_of(csr, 1) as team:  # a second thread would join nodes that the first walks along
        team.over_nodes(lambda begin, end: join(team.offsets, team.sources, roots, begin, end))
    sizes: Targets = np.zeros_like(roots)
    flatten(roots, sizes)
    counts = _no_counts(csr.nodes)
    count_sizes(sizes, counts)
    return WeakComponents(roots, _sizes(counts))


def strong_components(csr: Csr, links: int = LINKS) -> StrongComponents:
    """links: that are followed at once, before mapped ones are let go of."""
    numbers, order = _searched(csr, links)
    counts = _no_counts(csr.nodes)
    begin, end = number(numbers, order, counts)
    return StrongComponents(numbers, order, slice(begin, end), _sizes(counts))


def _searched(csr: Csr, links: int) -> tuple[Targets, Targets]:
    """The label of every node's component, and the order of the nodes.

    low: 0 for a new node; on the path and while it waits, the least index of the nodes that it is
    known to reach; at last the label of its component. Indices count the nodes that are on the path
    or wait, from 1. Labels count down from N with each component. They stay above every index, so
    that a completed node lowers none.
    lowered: nodes that reach one with a lower index, and so are no root of a component.
    nodes: completed ones in their order at the front, the path at the back, deepest first.
    spare: at the front, how many links of each node on the path were followed; at the back, the
    nodes that wait for the root of their component, latest first.
    state: the next node to start from, the nodes on the path, those completed, those that wait, the
    last index, the next label.

    Both ends fit into `nodes`, and into `spare`: a node is either new, or on the path, or waiting,
    or completed, so no two of these are more than all nodes.
    """
    kind, offsets, sources = _node_type(csr.nodes), read_only(csr.offsets), read_only(csr.sources)
    low: Targets = np.zeros(csr.nodes, kind)
    order: Targets = np.empty(csr.nodes, kind)
    done, end = settle(offsets, read_only(csr.outdegrees), low, order)
    nodes, spare = order[:end], np.empty(end, kind)
    lowered, state = np.zeros(csr.nodes, np.bool_), (0, 0, done, 0, 0, csr.nodes - done)
    while state[2] < end:
        state = search(offsets, sources, low, lowered, nodes, spare, state, links)
        release(csr.sources, 0, csr.edges)
    return low, order


def _node_type(nodes: int) -> Any:
    return np.int32 if nodes < 2**31 else np.int64


def _no_counts(nodes: int) -> Targets:
    """Zeros for the number of components by size, 0 to N nodes."""
    counts: Targets = np.zeros(nodes + 1, _node_type(nodes))
    return counts


def _sizes(counts: Targets) -> ComponentSizes:
    sizes = np.flatnonzero(counts)
    return ComponentSizes(sizes, counts[sizes].astype(np.int64))


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
    """Follow about this number of links. Arrays and state: see `_searched` in components.py."""
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
