"""The graph as PageRank reads it: for every node the nodes that point to it, in mapped files.

Equation served: x_i = 0.15 + 0.85 * sum over edges j->i of x_j / outdegree_j.
Dangling nodes have outdegree 0, are never a source, and give to dummy, which is no node here.
Order: nodes are their ids, 0 to N-1 in key order, so neighbours are pages of one host.
Memory: none but the operating system's cache; the edges are read where they lie.

Files of a folder: offsets.npy int64[N+1], sources.npy uint32[E] (uint64 from 2^32 nodes),
outdegrees.npy uint32[N] (likewise).

Offsets, outdegrees and every edge are checked before a loop uses them. Memory of the check: PIECE
numbers, and for the edges 4 bytes a node (8 from 2^32 nodes). It passes each array once; the pass
over the edges is compiled, and releases what it has mapped.

A Team runs loops over ranges of nodes in threads. It returns the mapped edges of each range to the
operating system, so that edges take no memory of the process. Memory: a block a thread.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.arrays import IDS, PIECE, open_array, refuse

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


Result = TypeVar("Result")
Range = tuple[int, int]
BLOCK = 1 << 20  # edges, or nodes, at once


class _CallersThread:
    """Takes the part of a pool, in the thread of the caller."""

    map = staticmethod(map)


class Team:
    """A graph and the threads that work on it. Arrays are plain, read-only views of the graph's,
    so that loops are compiled for one kind of array. block: edges, or nodes, of a range."""

    def __init__(
        self, csr: Csr, threads: int, pool: ThreadPoolExecutor | _CallersThread, block: int
    ) -> None:
        self.threads, self._pool, self._block = threads, pool, block
        self.offsets: Offsets = read_only(csr.offsets)
        self.sources: Ids = read_only(csr.sources)
        self.outdegrees: Ids = read_only(csr.outdegrees)
        self.nodes, self.edges = csr.nodes, csr.edges
        self._mapped = getattr(csr.sources, "_mmap", None)
        if self._mapped is not None:
            self._start = self.sources.ctypes.data - np.frombuffer(self._mapped, "u1").ctypes.data

    def each(self, work: Callable[[int], Result]) -> list[Result]:
        """The work of every thread, by its number."""
        return list(self._pool.map(work, range(self.threads)))

    def over_nodes(self, work: Callable[[int, int], Result]) -> list[Result]:
        """What the work makes of all ranges, in their order, whoever did them when."""

        def worked(block: Range) -> Result:
            result = work(*block)
            self.release(*block)
            return result

        return list(self._pool.map(worked, self.blocks(0, self.nodes)))

    def blocks(self, begin: int, end: int) -> Iterator[Range]:
        """A range in pieces of at most a block of edges and nodes, or one node."""
        while begin < end:
            by_edges = int(np.searchsorted(self.offsets, self.offsets[begin] + self._block)) - 1
            further = min(max(by_edges, begin + 1), begin + self._block, end)
            yield begin, further
            begin = further

    def release(self, begin: int, end: int) -> None:
        """Let go of the mapped edges to a range of nodes."""
        if self._mapped is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        width = self.sources.itemsize
        first = self._start + int(self.offsets[begin]) * width
        first -= first % mmap.PAGESIZE
        last = self._start + int(self.offsets[end]) * width
        if last > first:
            self._mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


@contextmanager
def team_of(csr: Csr, threads: int, block: int = BLOCK) -> Iterator[Team]:
    """A team of threads; one thread is the caller's own, as a pool costs a millisecond."""
    if threads == 1:
        yield Team(csr, 1, _CallersThread(), block)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield Team(csr, threads, pool, block)


def read_only(array: Any) -> Any:
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
