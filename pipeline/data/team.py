"""Threads over a graph: every range of nodes is one call of a loop, and its edges are let go of.

Edges are mapped, not read: what a range has touched is given back to the operating system, so that
they take no memory of the process however often they are passed. Memory: a block a thread.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from crawlrank.pipeline.data.csr import Csr, Ids, Offsets

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
