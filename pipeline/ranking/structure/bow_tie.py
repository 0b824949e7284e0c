"""The bow tie of a graph (Broder et al.: *Graph structure in the Web*, 2000).

    core          the largest strong component; of equal ones the one with the smallest node
    in            the other nodes with a path to the core
    out           the other nodes with a path from the core
    tubes         the other nodes on a path from in to out
    tendrils      the other nodes of the core's weak component
    disconnected  the nodes of other weak components

Every link leads from a strong component to itself or to a later one in the order, see
components.py. So what has a path to some nodes is known after one pass back along the order, in
which components pass the mark on to their sources. What has a path from some nodes is known after
one pass on along the order, in which components look at their sources. Three such passes are made:
back from the core, on from core and in, back from out. Each follows a link at most once. A fourth
pass counts the links, in the order of the nodes.

Memory: a byte a node beside the graph and its components, less than what finding these takes.
Mapped links are read as in components.py.

The loops read links by target: those to node i come from `sources[offsets[i]:offsets[i + 1]]`.
Loops in the order of strong components end after about `links` links and return where to continue,
so that the caller can release mapped sources in between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.arrays import release
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets, read_only, team_of
from crawlrank.pipeline.data.graph import Mask, Positions, Targets
from crawlrank.pipeline.ranking.structure.components import LINKS, StrongComponents, WeakComponents

PARTS = ("core", "in", "out", "tubes", "tendrils", "disconnected")
CORE, IN, OUT, TUBES, TENDRILS, DISCONNECTED = range(len(PARTS))


@dataclass(frozen=True, eq=False)
class BowTie:
    """parts: of every node its number in PARTS, int8[N]. nodes: how many nodes each part has,
    int64[6]. links: how many links lead from part i to part j, int64[6, 6]."""

    parts: NodeParts
    nodes: Positions
    links: Positions


def bow_tie(
    csr: Csr,
    weak: WeakComponents,
    strong: StrongComponents,
    threads: int = 1,
    links: int = LINKS,
) -> BowTie:
    """threads: that count the links. links: that are followed at once, before mapped ones are let
    go of. Without nodes all is empty; without links the core is node 0."""
    parts = np.full(csr.nodes, DISCONNECTED, np.int8)
    core = strong.order[strong.core]
    parts[core] = CORE
    spreading = _Spreading(csr, strong, parts, links)
    spreading.back(marked=(CORE, IN), becomes={DISCONNECTED: IN})
    spreading.on(gives={CORE: OUT, OUT: OUT, IN: TENDRILS, TENDRILS: TENDRILS})
    spreading.back(marked=(OUT, TUBES), becomes={TENDRILS: TUBES})
    nodes = np.zeros(len(PARTS), np.int64)
    turns = _table({DISCONNECTED: TENDRILS})
    root = int(weak.roots[core[0]]) if len(core) else 0
    finish(weak.roots, root, turns, DISCONNECTED, parts, nodes)
    return BowTie(parts, nodes, _links(csr, parts, threads))


class _Spreading:
    """Passes over the strong components that give parts to nodes. A node with a path from in is one
    of the tendrils until a path to out is known, too. All nodes of that path have one from in."""

    def __init__(self, csr: Csr, strong: StrongComponents, parts: NodeParts, links: int) -> None:
        self.csr, self.links = csr, links
        self.graph = read_only(csr.offsets), read_only(csr.sources), strong.numbers, strong.order
        self.parts = parts

    def back(self, marked: tuple[int, ...], becomes: dict[int, int]) -> None:
        """Spread from targets of a marked part to their sources."""
        mask, table = np.isin(np.arange(len(PARTS)), marked), _table(becomes)
        end = self.csr.nodes
        while end > 0:
            end = spread_back(*self.graph, mask, table, self.parts, end, self.links)
            release(self.csr.sources, 0, self.csr.edges)

    def on(self, gives: dict[int, int]) -> None:
        """Spread from sources to their targets that have no part yet."""
        table, begin = _table(gives), 0
        while begin < self.csr.nodes:
            begin = spread_on(*self.graph, table, self.parts, begin, self.links)
            release(self.csr.sources, 0, self.csr.edges)


def _table(changes: dict[int, int]) -> NodeParts:
    """What each part becomes, by its number."""
    return np.array([changes.get(part, part) for part in range(len(PARTS))], np.int8)


def _links(csr: Csr, parts: NodeParts, threads: int) -> Positions:
    shape = len(PARTS), len(PARTS)

    def counted(begin: int, end: int) -> Positions:
        counts = np.zeros(shape, np.int64)
        count_links(team.offsets, team.sources, parts, counts, begin, end)
        return counts

    with team_of(csr, threads) as team:
        return sum(team.over_nodes(counted), np.zeros(shape, np.int64))


NodeParts = npt.NDArray[np.int8]


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
