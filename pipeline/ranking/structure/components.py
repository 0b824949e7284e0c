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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Positions, Targets
from crawlrank.pipeline.data.mapped import release
from crawlrank.pipeline.data.team import read_only, team_of
from crawlrank.pipeline.ranking.structure import component_loops as loops

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
        team.over_nodes(
            lambda begin, end: loops.join(team.offsets, team.sources, roots, begin, end)
        )
    sizes: Targets = np.zeros_like(roots)
    loops.flatten(roots, sizes)
    counts = _no_counts(csr.nodes)
    loops.count_sizes(sizes, counts)
    return WeakComponents(roots, _sizes(counts))


def strong_components(csr: Csr, links: int = LINKS) -> StrongComponents:
    """links: that are followed at once, before mapped ones are let go of."""
    numbers, order = _searched(csr, links)
    counts = _no_counts(csr.nodes)
    begin, end = loops.number(numbers, order, counts)
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
    done, end = loops.settle(offsets, read_only(csr.outdegrees), low, order)
    nodes, spare = order[:end], np.empty(end, kind)
    lowered, state = np.zeros(csr.nodes, np.bool_), (0, 0, done, 0, 0, csr.nodes - done)
    while state[2] < end:
        state = loops.search(offsets, sources, low, lowered, nodes, spare, state, links)
        release(csr.sources, 0, csr.edges)
    return low, order


def _node_type(nodes: int) -> Any:
    return np.int32 if nodes < 2**31 else np.int64


def _no_counts(nodes: int) -> Targets:
    """Of components, by size: 0 to N nodes."""
    counts: Targets = np.zeros(nodes + 1, _node_type(nodes))
    return counts


def _sizes(counts: Targets) -> ComponentSizes:
    sizes = np.flatnonzero(counts)
    return ComponentSizes(sizes, counts[sizes].astype(np.int64))
