"""The transposed graph: for each node the targets of its links, ascending.

The outdegrees give where the targets of each node begin. One pass over the edges, which are in the
order of their targets, appends each target to those of its source. Where that does not fit the
memory, the pairs are sorted on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import compiled
from crawlrank.pipeline.data.arrays import release
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets, open_csr, read_only
from crawlrank.pipeline.data.pairs import Pairs
from crawlrank.pipeline.engines.embedded.graph.gen_graph import PIECE, write_graph

NODE_BYTES = 32  # offsets, next positions and degrees of both graphs


def transposed(
    csr: Csr,
    output: Path,
    *,
    budget: int,
    tmp: Path,
    threads: int = 1,
    beside: int = 0,
    piece: int = PIECE,
) -> Csr:
    """The transposed graph: its `sources` are the targets. It is in memory if its edges fit the
    `budget` in bytes, with its nodes or with `beside`, if that is more: what the caller needs next,
    with these nodes. Else it is in a new folder `output`. piece: edges at once."""
    if csr.sources.nbytes + max(NODE_BYTES * csr.nodes, beside) <= budget:
        return _in_memory(csr, piece)
    pairs = _reversed(csr, piece)
    write_graph([pairs], csr.nodes, output, budget=budget, tmp=tmp, threads=threads, piece=piece)
    return open_csr(output, edges=False)  # its edges need no check: they come from checked ones


def _in_memory(csr: Csr, piece: int) -> Csr:
    offsets = np.zeros(csr.nodes + 1, np.int64)
    np.cumsum(csr.outdegrees, out=offsets[1:])
    targets = cast(Ids, np.empty(csr.edges, csr.sources.dtype))
    append, positions = compiled(_append), offsets[:-1].copy()
    starts, sources = read_only(csr.offsets), read_only(csr.sources)
    begin = 0
    while begin < csr.nodes:
        end = max(begin + 1, int(np.searchsorted(starts, starts[begin] + piece, "right")) - 1)
        end = min(end, csr.nodes)
        append(begin, starts[begin : end + 1], sources, positions, targets)
        release(csr.sources, int(starts[begin]), int(starts[end]))
        begin = end
    indegrees = cast(Ids, np.diff(csr.offsets).astype(csr.outdegrees.dtype))
    return Csr(offsets, targets, indegrees)


def _append(begin: int, offsets: Offsets, sources: Ids, positions: Offsets, targets: Ids) -> None:
    """The edges to some nodes, from begin on. positions: of the next target of each node."""
    for node in range(len(offsets) - 1):
        for k in range(offsets[node], offsets[node + 1]):
            source = sources[k]
            targets[positions[source]] = begin + node
            positions[source] += 1


def _reversed(csr: Csr, piece: int) -> Iterator[Pairs]:
    for begin in range(0, csr.edges, piece):
        sources = csr.sources[begin : begin + piece]
        edges = np.arange(begin, begin + len(sources))
        first, last = np.searchsorted(csr.offsets, (begin, edges[-1]), "right") - 1
        nodes = np.searchsorted(csr.offsets[first : last + 2], edges, "right") - 1 + first
        yield sources, nodes
