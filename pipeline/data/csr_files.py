"""A graph opened from its files, checked before any loop goes by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.arrays import IDS, open_array
from crawlrank.pipeline.data.csr import CURE, OFFSETS, OUTDEGREES, SOURCES, Csr
from crawlrank.pipeline.data.csr_check import check_edges, check_nodes


def open_csr(folder: Path, *, edges: bool = True) -> Csr:
    """The graph in a folder, mapped, of which all that a loop goes by was checked: once in this
    process, as long as the files stay the same.

    edges: False for who looks at the sources of a few nodes, or of none; then these are unchecked,
    and the rest takes a pass over the nodes alone. Raises BadInput for files that are missing, do
    not fit, or have what no graph has.
    """
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
