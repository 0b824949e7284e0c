"""The graph as PageRank reads it: for every node the nodes that point to it, in mapped files.

Equation served: x_i = 0.15 + 0.85 * sum over edges j->i of x_j / outdegree_j.
Dangling nodes have outdegree 0, are never a source, and give to dummy, which is no node here.
Order: nodes are their ids, 0 to N-1 in key order, so neighbours are pages of one host.
Memory: none but the operating system's cache; the edges are read where they lie.

Files of a folder: offsets.npy int64[N+1], sources.npy uint32[E] (uint64 from 2^32 nodes),
outdegrees.npy uint32[N] (likewise).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]

OFFSETS, SOURCES, OUTDEGREES = "offsets.npy", "sources.npy", "outdegrees.npy"
CURE = "Run gen-graph to make the graph anew."


@dataclass(frozen=True, eq=False)
class Csr:
    """N nodes, E edges: the sources of node i are `sources[offsets[i]:offsets[i + 1]]`, ascending,
    each once, never i itself; outdegrees[i] is how often i is a source."""

    offsets: Offsets
    sources: Ids
    outdegrees: Ids

    @property
    def nodes(self) -> int:
        return len(self.outdegrees)

    @property
    def edges(self) -> int:
        return len(self.sources)


def id_type(nodes: int) -> type[np.uint32] | type[np.uint64]:
    """The narrowest type that holds every id below `nodes`, and one value more for "none"."""
    return np.uint32 if nodes < 2**32 else np.uint64
