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
from pathlib import Path

import numpy as np
import numpy.typing as npt

from jobs.kernel.errors import BadInput
from pipeline.embedded.arrays import IDS, open_array

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


def open_csr(folder: Path, *, edges: bool = True) -> Csr:
    """The graph in a folder, mapped, of which all that a loop goes by was checked: once in this
    process, as long as the files stay the same.

    edges: False for who looks at the sources of a few nodes, or of none; then these are unchecked,
    and the rest takes a pass over the nodes alone. Raises BadInput for files that are missing, do
    not fit, or have what no graph has.
    """
    from pipeline.embedded.csr_check import check_edges, check_nodes

    types = ((np.int64,), IDS, IDS)
    names = (OFFSETS, SOURCES, OUTDEGREES)
    csr = Csr(*(open_array(folder / n, kinds, CURE) for n, kinds in zip(names, types, strict=True)))
    if len(csr.offsets) != csr.nodes + 1 or csr.sources.dtype != csr.outdegrees.dtype:
        what = f"{len(csr.offsets)} offsets and outdegrees of {csr.nodes} nodes"
        raise BadInput(str(folder), what, "one offset more than nodes, and ids of one type", CURE)
    stats = [(folder / name).stat() for name in names]
    files = tuple((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)
    if files not in _checked:
        check_nodes(csr, folder)
        _checked[files] = False
    if edges and not _checked[files]:
        check_edges(csr, folder)
        _checked[files] = True
    return csr


#: graphs of this process that were checked, and whether their edges were, too
_checked: dict[tuple[tuple[int, int, int, int], ...], bool] = {}
