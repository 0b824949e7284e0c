"""Sums over the exact distances to each node, of many nodes at a time.

A search walks the links backwards from LANES nodes at once. A node has a bit for each of them, in
WORDS words, which is set once the search of that bit has reached it. So a link is followed once for
all searches that follow it at the same distance, and pages of one host, whose numbers follow each
other, share nearly all of their searches. Source: Then and others, *The More the Merrier: Efficient
Multi-Source Graph Traversal* (VLDB, 2014).

Bits that a distance has set are counted by adding the bits of a word, spread over the bytes of
eight numbers, up to MOST_ADDED times; then the bytes are added to the counts.

Memory: NODE_BYTES a node for each thread. Sums are of whole numbers and of their quotients by
ascending distance, so neither threads nor the order of the searches change a bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop, prefetch
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets, read_only
from crawlrank.pipeline.data.graph import Floats, Positions

WORDS = 8  # a line of the cache
LANES = WORDS * 64
MOST_ADDED = 255
AHEAD = 4  # sources whose words are asked for
BYTES = 0x0101010101010101
NODE_BYTES = 3 * 8 * WORDS + 2 * 8 + 1
BitWords = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Distances:
    """float64[N] each. harmonic: the sum of 1 / d over the nodes at distance d to a node. reach:
    how many these are. total: the sum of d. longest: the largest d."""

    harmonic: Floats
    reach: Floats
    total: Floats
    longest: int = 0


def exact_distances(
    csr: Csr, threads: int, *, over: Event | None = None, searches: type[Searches] | None = None
) -> Distances:
    """over: set when a thread has failed, or Ctrl-C was pressed, so that the others end."""
    over, searches = over or Event(), searches or Searches
    sums = Distances(np.zeros(csr.nodes), np.zeros(csr.nodes), np.zeros(csr.nodes))
    linked = np.flatnonzero(np.diff(csr.offsets))  # nothing leads to the others
    batches = [linked[begin : begin + LANES] for begin in range(0, len(linked), LANES)]
    teams = min(threads, max(1, len(batches)))

    def work(number: int) -> int:
        search, longest = searches(csr), 0
        for batch in batches[number::teams]:
            if over.is_set():
                break
            columns, farthest = search.sums(batch)
            sums.harmonic[batch], sums.reach[batch], sums.total[batch] = columns
            longest = max(longest, farthest)
        return longest

    if teams == 1:
        longest = work(0)
    else:
        with ThreadPoolExecutor(teams) as pool:
            try:
                longest = max(pool.map(work, range(teams)))
            finally:
                over.set()
    return replace(sums, longest=longest)


class Searches:
    """The arrays of one thread."""

    def __init__(self, csr: Csr) -> None:
        self._offsets, self._sources = read_only(csr.offsets), read_only(csr.sources)
        self._seen, self._now, self._new = (_lines(csr.nodes) for _ in range(3))
        self._front, self._next = (np.zeros(csr.nodes, np.int64) for _ in range(2))
        self._marked = np.zeros(csr.nodes, np.bool_)

    def sums(self, roots: Positions) -> tuple[Floats, int]:
        """The columns of Distances of k nodes, at most LANES: float64[3, k]; the largest one."""
        self._seen[:] = 0
        self._now[:] = 0
        bits = _bits(len(roots))
        self._seen.reshape(-1, WORDS)[roots] = bits
        self._now.reshape(-1, WORDS)[roots] = bits
        self._front[: len(roots)] = roots
        lanes, distance = np.zeros((3, LANES)), 0
        for distance, counts in enumerate(self._levels(len(roots)), 1):
            lanes += counts / distance, counts, counts * distance
        return lanes[:, : len(roots)], distance

    def _levels(self, active: int) -> Iterator[Floats]:
        """How many nodes each lane reaches at each distance, from 1."""
        spread, counts = np.zeros(LANES // 8, np.uint64), np.zeros(LANES, np.int64)
        while active:
            counts[:] = 0
            active = step(
                self._offsets, self._sources, self._front, active, self._seen, self._now,
                self._new, self._next, self._marked, spread, counts,
            )  # fmt: skip
            self._front, self._next = self._next, self._front
            self._now, self._new = self._new, self._now
            if active:
                yield counts.astype(np.float64)


def _lines(nodes: int) -> BitWords:
    """Zeros for WORDS words of each node, which begin with a line of the cache."""
    size = 8 * WORDS
    space = np.zeros(size * (nodes + 1), np.uint8)
    begin = -space.ctypes.data % size
    lines: BitWords = space[begin : begin + size * nodes].view(np.uint64)
    return lines


def _bits(roots: int) -> BitWords:
    """uint64[roots, WORDS]: the bit of each lane."""
    bits = np.zeros((roots, WORDS), np.uint64)
    lanes = np.arange(roots)
    bits[lanes, lanes // 64] = np.uint64(1) << (lanes % 64).astype(np.uint64)
    return bits


@loop
def step(
    offsets: Offsets,
    sources: Ids,
    front: Positions,
    active: int,
    seen: BitWords,
    now: BitWords,
    new: BitWords,
    following: Positions,
    marked: Any,
    spread: BitWords,
    counts: Positions,
) -> int:
    """One more link of all searches: from the first `active` nodes of the front to `following`,
    whose number is returned. now: the bits that the front was reached by, which are cleared; new:
    those by which the next nodes are. counts: those of each lane."""
    reached = follow(offsets, sources, front, active, seen, now, new, following, marked)
    for at in range(active):
        for word in range(front[at] * WORDS, front[at] * WORDS + WORDS):
            now[np.uint64(word)] = 0
    added = 0
    for at in range(reached):
        line = following[at] * WORDS
        marked[following[at]] = False
        for word in range(WORDS):
            bits = new[np.uint64(line + word)]
            seen[np.uint64(line + word)] |= bits
            for bit in range(8):
                byte = np.uint64(word * 8 + bit)
                spread[byte] += (bits >> np.uint64(bit)) & np.uint64(BYTES)
        added += 1
        if added == MOST_ADDED:
            collect(spread, counts)
            added = 0
    collect(spread, counts)
    return reached


@loop
def follow(
    offsets: Offsets,
    sources: Ids,
    front: Positions,
    active: int,
    seen: BitWords,
    now: BitWords,
    new: BitWords,
    following: Positions,
    marked: Any,
) -> int:
    """Pass the bits of the front on to the sources of its nodes that have not seen them."""
    reached = 0
    for at in range(active):
        line, end = front[at] * WORDS, offsets[front[at] + 1]
        for k in range(offsets[front[at]], end):
            if k + AHEAD < end:
                soon = np.uint64(sources[np.uint64(k + AHEAD)]) * np.uint64(WORDS)
                prefetch(seen, soon)
                prefetch(new, soon)
            source = np.int64(sources[np.uint64(k)])
            other, fresh = source * WORDS, np.uint64(0)
            for word in range(WORDS):
                bits = now[np.uint64(line + word)] & ~seen[np.uint64(other + word)]
                new[np.uint64(other + word)] |= bits
                fresh |= bits
            if fresh and not marked[source]:
                marked[source] = True
                following[reached] = source
                reached += 1
    return reached


@loop
def collect(spread: BitWords, counts: Positions) -> None:
    """Add the bytes of the eight numbers of each word to the counts of their lanes."""
    for word in range(WORDS):
        for bit in range(8):
            bits = spread[word * 8 + bit]
            for byte in range(8):
                lane = word * 64 + byte * 8 + bit
                counts[lane] += np.int64((bits >> np.uint64(8 * byte)) & np.uint64(255))
            spread[word * 8 + bit] = 0
