"""The graph with all edges turned round: for each node the targets of its links, ascending.

Sources are counted (outdegrees), so that where each node's targets begin is known; one pass over
the edges, which come by target, puts each where its source's next one goes. Where that does not fit
the memory, the pairs are sorted on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np

from jobs.kernel.machine.machine_code import compiled
from pipeline.data.csr import Csr, Ids, Offsets
from pipeline.data.csr_files import open_csr
from pipeline.data.mapped import release
from pipeline.data.pairs import Pairs
from pipeline.data.team import read_only
from pipeline.engines.embedded.edges import PIECE, write_graph

NODE_BYTES = 32  # offsets, places and degrees of both graphs


def transposed(
    csr: Csr, output: Path, *, budget: int, tmp: Path, threads: int = 1, beside: int = 0
) -> Csr:
    """The turned graph: its `sources` are the targets. In memory if `budget` bytes are enough for
    its edges, and for its nodes or what the caller needs then (`beside`, with the turned graph's
    nodes), whichever is more; else in a new folder `output`."""
    if csr.sources.nbytes + max(NODE_BYTES * csr.nodes, beside) <= budget:
        return _placed(csr)
    write_graph([_turned(csr)], csr.nodes, output, budget=budget, tmp=tmp, threads=threads)
    return open_csr(output, edges=False)  # made here, of edges that were checked


def _placed(csr: Csr) -> Csr:
    offsets = np.zeros(csr.nodes + 1, np.int64)
    np.cumsum(csr.outdegrees, out=offsets[1:])
    targets = cast(Ids, np.empty(csr.edges, csr.sources.dtype))
    place, places = compiled(_place), offsets[:-1].copy()
    starts, sources = read_only(csr.offsets), read_only(csr.sources)
    begin = 0
    while begin < csr.nodes:
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + PIECE, "right")) - 1)
        end = min(end, csr.nodes)
        place(begin, starts[begin : end + 1], sources, places, targets)
        release(csr.sources, int(starts[begin]), int(starts[end]))
        begin = end
    indegrees = cast(Ids, np.diff(csr.offsets).astype(csr.outdegrees.dtype))
    return Csr(offsets, targets, indegrees)


def _place(begin: int, offsets: Offsets, sources: Ids, places: Offsets, targets: Ids) -> None:
    """Some nodes, from begin on. places: where the next target of each node goes; they move."""
    for node in range(len(offsets) - 1):
        for k in range(offsets[node], offsets[node + 1]):
            source = sources[k]
            targets[places[source]] = begin + node
            places[source] += 1


def _turned(csr: Csr) -> Iterator[Pairs]:
    for at in range(0, csr.edges, PIECE):
        sources = csr.sources[at : at + PIECE]
        edges = np.arange(at, at + len(sources))
        first, last = np.searchsorted(csr.offsets, (at, at + len(sources) - 1), "right") - 1
        nodes = np.searchsorted(csr.offsets[first : last + 2], edges, "right") - 1 + first
        yield sources, nodes
