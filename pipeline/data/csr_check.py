"""The check of a graph before loops go by its arrays: offsets, outdegrees, and every edge.

Memory: PIECE numbers, and for the edges 4 bytes a node (8 from 2^32 nodes). One pass over each
array; that over the edges is compiled, and lets go of what it has mapped.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.arrays import PIECE, refuse
from crawlrank.pipeline.data.csr import CURE, OFFSETS, OUTDEGREES, SOURCES, Csr, Ids, Offsets
from crawlrank.pipeline.data.team import team_of


def check_nodes(csr: Csr, folder: Path) -> None:
    """Offsets ascend from 0 to E, and outdegrees sum to E. Raises BadInput."""
    path, latest = folder / OFFSETS, 0
    if csr.offsets[0] != 0:
        refuse(path, 0, csr.offsets[0], "0", CURE)
    for begin in range(0, len(csr.offsets), PIECE):
        some = csr.offsets[begin : begin + PIECE]
        before = np.concatenate(([latest], some[:-1]))
        if (falls := some < before).any():
            at = int(np.argmax(falls))
            refuse(path, begin + at, some[at], f"at least {before[at]}", CURE)
        latest = int(some[-1])
    if latest != csr.edges:
        refuse(path, csr.nodes, latest, f"{csr.edges}, as many as there are sources", CURE)
    _check_outdegrees(csr, folder / OUTDEGREES)


def _check_outdegrees(csr: Csr, path: Path) -> None:
    total = 0
    for begin in range(0, csr.nodes, PIECE):
        some = csr.outdegrees[begin : begin + PIECE]
        if (above := some >= csr.nodes).any():
            at = int(np.argmax(above))
            refuse(path, begin + at, some[at], f"less than {csr.nodes}, the nodes", CURE)
        total += int(some.sum(dtype=np.uint64))
    if total != csr.edges:
        refuse(path, csr.nodes - 1, f"{total} in sum", f"{csr.edges}, the edges", CURE)


def check_edges(csr: Csr, folder: Path) -> None:
    """The sources of each node are nodes, ascend, and are others; outdegrees count them. To be
    called after `check_nodes`. Raises BadInput."""
    counts: Ids = np.zeros(csr.nodes, csr.outdegrees.dtype)
    first_wrong = loop(_first_wrong)
    with team_of(csr, 1) as team:
        wrong = team.over_nodes(
            lambda begin, end: first_wrong(team.offsets, team.sources, counts, begin, end)
        )
    if edges := [edge for edge in wrong if edge >= 0]:
        node = int(np.searchsorted(csr.offsets, edges[0], side="right")) - 1
        expected = f"another node, an id below {csr.nodes}, more than the source before it"
        what = f"{csr.sources[edges[0]]}, a source of node {node}"
        refuse(folder / SOURCES, edges[0], what, expected, CURE)
    if (differs := counts != csr.outdegrees).any():
        at = int(np.argmax(differs))
        expected = f"{counts[at]}, as often as it is a source"
        refuse(folder / OUTDEGREES, at, csr.outdegrees[at], expected, CURE)


def _first_wrong(offsets: Offsets, sources: Ids, counts: Ids, begin: int, end: int) -> int:
    """The first edge to a range of nodes that is none, or -1. Adds to counts how often each node
    is a source."""
    nodes = len(counts)
    for i in range(begin, end):
        before = np.int64(-1)
        for k in range(offsets[i], offsets[i + 1]):
            source = np.int64(sources[k])
            if source <= before or source >= nodes or source == i:
                return k
            counts[source] += 1
            before = source
    return -1
