"""Distinct pairs of numbers in order, larger than memory: an external sort of 64-bit words.

A pair (target, source) of numbers below 2^b is the word target * 2^b + source, so that words sort
as pairs do. Where 2b > 64, the high bits of the target name a slab, and a word is of its slab.

    fill    each thread packs pairs until its share of the budget is full, and sorts them to a run
            without duplicates: a file, or an array if everything fits
    merge   ranges of words, cut by samples of the runs to be about equally long, are read from
            all runs and sorted again; a page that everybody links to may take several ranges

Memory: `budget` bytes, whatever the number of pairs. Disk: 8 bytes a pair, less duplicates.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Naturals = npt.NDArray[Any]  # integers, none negative
Pairs = tuple[Naturals, Naturals]  # targets and sources, equally many
SortedRun = Words | Path  # sorted words, each once

Argument = TypeVar("Argument")
Value = TypeVar("Value")

FILL_BYTES = 25  # a pair: as it came, among all, marked as distinct, copied
MERGE_BYTES = 96  # a pair of a range: read, joined, marked, copied, unpacked, passed on, held
LEAST = 1 << 10
RANGE = 1 << 20  # pairs of a range, however large the budget: threads merge the next meanwhile


@dataclass(frozen=True)
class Packing:
    """How pairs become words: `bits` of a source, and of a target `target_bits`; what is above
    them is the slab."""

    bits: int
    target_bits: int

    @staticmethod
    def of(bound: int) -> Packing:
        """The pairs for numbers below `bound`, at most 2^63."""
        bits = max(1, (bound - 1).bit_length())
        return Packing(bits, min(bits, 64 - bits))

    def packed(self, targets: Naturals, sources: Naturals) -> Iterator[tuple[int, Words]]:
        """The words of pairs, by slab."""
        wide = targets.astype(np.uint64)
        words = (wide << np.uint64(self.bits)) | sources.astype(np.uint64)
        if self.target_bits == self.bits:
            yield 0, words
            return
        slabs = wide >> np.uint64(self.target_bits)
        for slab in np.unique(slabs):
            yield int(slab), words[slabs == slab]

    def unpacked(self, slab: int, words: Words) -> Pairs:
        """The pairs of words of a slab, as uint64."""
        bits = np.uint64(self.bits)
        targets = (words >> bits) | np.uint64(slab << self.target_bits)
        return targets, words & ((np.uint64(1) << bits) - np.uint64(1))


class _Runs:
    """The runs of every slab: files in a folder, or arrays if all fit. Threads add to them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count()
        self._held: list[tuple[int, Words]] = []
        self._written: list[tuple[int, Path]] = []

    def hold(self, slab: int, words: Words) -> None:
        self._held.append((slab, words))

    def write(self, slab: int, words: Words) -> None:
        path = self._folder / f"run-{next(self._numbers)}"
        with path.open("wb") as file:  # tofile() would not say why it failed
            file.write(words.data)
        self._written.append((slab, path))

    def settled(self) -> dict[int, list[SortedRun]]:
        """All runs by slab, in order; those that are held are written too if any had to be."""
        while self._written and self._held:
            self.write(*self._held.pop())
        runs: list[tuple[int, SortedRun]] = [*self._held, *self._written]
        slabs: dict[int, list[SortedRun]] = {}
        for slab, run in sorted(runs, key=itemgetter(0)):
            slabs.setdefault(slab, []).append(run)
        return slabs


def distinct(words: Words) -> Words:
    """Sorts in place; each word once."""
    words.sort()
    new = np.empty(len(words), np.bool_)
    new[:1] = True
    np.not_equal(words[1:], words[:-1], out=new[1:])
    return words[new]


class _Filling:
    """Streams being sorted to runs, `size` pairs at a time, by any number of threads."""

    def __init__(
        self, streams: Iterable[Iterable[Pairs]], packing: Packing, size: int, runs: _Runs
    ) -> None:
        self._streams = deque(streams)
        self._packing, self._size, self._runs = packing, size, runs
        self._stopped = False

    def run(self, pool: ThreadPoolExecutor, threads: int) -> None:
        """Until all streams are empty, or one of them fails or the program is interrupted."""
        try:
            futures = [pool.submit(self._work) for _ in range(threads)]
            for future in wait(futures, return_when=FIRST_EXCEPTION).done:
                future.result()
        finally:
            self._stopped = True  # or the pool would wait for the other streams' ends

    def _work(self) -> None:
        pieces: dict[int, list[Words]] = defaultdict(list)
        filled = 0
        for targets, sources in self._pairs():
            for slab, words in self._packing.packed(targets, sources):
                pieces[slab].append(words)
            filled += len(targets)
            if filled >= self._size:
                self._sort(pieces, self._runs.write)
                filled = 0
        self._sort(pieces, self._runs.hold)

    def _pairs(self) -> Iterator[Pairs]:
        while True:
            try:
                stream = self._streams.popleft()
            except IndexError:
                return
            for pairs in stream:
                if self._stopped:
                    return
                yield pairs

    def _sort(self, pieces: dict[int, list[Words]], put: Callable[[int, Words], None]) -> None:
        for slab in list(pieces):
            words = np.concatenate(pieces.pop(slab))
            put(slab, distinct(words))


def _cuts(runs: Sequence[SortedRun], size: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Ranges that have `size` words of all runs together, or a quarter more: for each range where
    it begins and ends in every run. Sampled evenly, k samples stand for k strides of words."""
    words = [np.memmap(run, np.uint64, "r") if isinstance(run, Path) else run for run in runs]
    stride = max(1, size // (4 * len(runs)))
    samples = np.sort(np.concatenate([run[stride - 1 :: stride] for run in words]))
    splits = samples[max(1, size // stride) - 1 :: max(1, size // stride)]
    ends = [np.searchsorted(run, splits, side="right") for run in words]
    cuts = [[0, *end.tolist(), len(run)] for run, end in zip(words, ends, strict=True)]
    return zip(*map(pairwise, cuts), strict=True)


def _merged(runs: Sequence[SortedRun], bounds: Sequence[tuple[int, int]]) -> Words:
    """The words of a range of each run, sorted and each once."""
    pieces = [_piece(run, *between) for run, between in zip(runs, bounds, strict=True)]
    return pieces[0] if len(pieces) == 1 else distinct(np.concatenate(pieces))


def _piece(run: SortedRun, begin: int, end: int) -> Words:
    """Read, not mapped: what was mapped and seen would stay in memory."""
    if isinstance(run, Path):
        return np.fromfile(run, np.uint64, end - begin, offset=8 * begin)
    return run[begin:end]


def in_order(
    pool: ThreadPoolExecutor,
    function: Callable[[Argument], Value],
    items: Iterable[Argument],
    ahead: int,
) -> Iterator[Value]:
    """The values of the function, in the order of the items, at most `ahead` of them at a time."""
    waiting: deque[Future[Value]] = deque()
    for item in items:
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
        waiting.append(pool.submit(function, item))
    while waiting:
        yield waiting.popleft().result()


def distinct_pairs(
    streams: Iterable[Iterable[Pairs]],
    bound: int,
    budget: int,
    folder: Path,
    threads: int = 1,
    least: int = LEAST,
) -> Iterator[Pairs]:
    """The distinct pairs of all streams, ascending by target, then source, in arrays of uint64.

    bound: all numbers are below it, at most 2^63. Streams are read by `threads` threads, each
    stream by one. folder: for runs, of 8 bytes a pair, if not everything fits; there, and empty.
    least: pairs at once, however small the budget.
    """
    packing, runs = Packing.of(bound), _Runs(folder)
    size = max(least, budget // FILL_BYTES // threads)
    range_size = max(least, min(RANGE, budget // MERGE_BYTES // threads))
    with ThreadPoolExecutor(threads) as pool:
        _Filling(streams, packing, size, runs).run(pool, threads)
        for slab, of_slab in runs.settled().items():
            ranges = partial(_merged, of_slab)
            for words in in_order(pool, ranges, _cuts(of_slab, range_size), threads):
                yield packing.unpacked(slab, words)
