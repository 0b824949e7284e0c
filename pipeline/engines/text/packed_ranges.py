"""Ranges of ids with about equal shares of a graph's text, for partitions and for their groups.

The length of a node's line grows with its edges, so equal shares of the text are about equal shares
of nodes and edges. Pieces of the text at equal distances give the ranges; the driver reads nothing
else of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from multiprocessing.pool import ThreadPool
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.formats.order import labels
from crawlrank.jobs.kernel.formats.reading import read_lines, sized_parts
from crawlrank.jobs.kernel.rank.packed_graph import Plan
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, open_binary
from crawlrank.jobs.mapreduce.launcher import Launcher

PARTITION_BYTES = 16_000_000  # of text: some 2 million edges
# More than FEW partitions grow with the graph, as each pair of them exchanges a block in a round;
# LARGEST is packed in 0.6 GB (docs/scaling.md)
FEW, LARGEST = 64, 96_000_000
INFLATED = 5  # times its compressed size, a graph's text
GROUPS, MOST_GROUPS = 16, 1024  # of a partition, of all
SAMPLES = 24  # pieces of text for each group
MOST_SAMPLES = 8192
PIECE_BYTES = 8192
AT_ONCE = 16  # parts
COMPRESSED = (".gz", ".parquet", ".bz2", ".zst", ".lz4")


class TextSample(NamedTuple):
    """Ids, and the bytes of text that each stands for."""

    ids: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]


def plan_of(graph: PathOrUrl, launcher: Launcher, partitions: int | None = None) -> Plan:
    """The ranges of a graph. partitions: at most; by default according to its size."""
    sizes = sized_parts(graph)
    wanted = partitions or usual_partitions(text_bytes(sizes))
    points: list[int] = []
    group_points: list[int] = []
    if wanted > 1:
        groups = min(wanted * GROUPS, MOST_GROUPS)
        sample = _sample(sizes, min(SAMPLES * groups, MOST_SAMPLES))
        points, group_points = _cuts(sample, wanted), _cuts(sample, groups)
    reducers = min(len(points) + 1, launcher.ranges)
    named = [label.decode() for label in labels(len(points) + 1, reducers)]
    return Plan(points, group_points, named)


def text_bytes(sizes: list[tuple[PathOrUrl, int]]) -> int:
    """Of a graph, about, by the sizes of its parts."""
    return sum(count * (INFLATED if _compressed(part) else 1) for part, count in sizes)


def usual_partitions(size: int) -> int:
    """The number of partitions of a graph with `size` bytes of text."""
    growing = math.sqrt(size * PARTITION_BYTES / FEW)
    return max(1, round(size / max(PARTITION_BYTES, min(LARGEST, growing))))


def _compressed(part: PathOrUrl) -> bool:
    return str(part).endswith(COMPRESSED)


def _cuts(sample: TextSample, ranges: int) -> list[int]:
    """The first ids of all ranges but the first; fewer where one id has more than its share."""
    order = np.argsort(sample.ids, kind="stable")
    ids, before = sample.ids[order], np.cumsum(sample.bytes[order])
    if not len(ids):
        return []
    shares = before[-1] * (np.arange(1, ranges) / ranges)
    points = np.unique(ids[np.searchsorted(before, shares)])
    return [int(point) for point in points if point > ids[0]]


def _sample(sizes: list[tuple[PathOrUrl, int]], count: int) -> TextSample:
    """About `count` pieces of the text, at equal distances; the whole of compressed parts."""
    step = max(PIECE_BYTES, sum(size for _, size in sizes) // count)
    threads = max(1, min(AT_ONCE, len(sizes)))
    with ThreadPool(threads) as pool:  # a store takes its time for each piece, but no processor's
        rows = list(chain.from_iterable(pool.imap(lambda p: list(_rows(*p, step)), sizes)))
    ids, lengths = zip(*rows, strict=True) if rows else ((), ())
    return TextSample(np.array(ids, np.int64), np.array(lengths, np.int64))


def _rows(part: PathOrUrl, size: int, step: int) -> Iterator[tuple[int, int]]:
    """(id, bytes of its line) of some lines of a part."""
    if _compressed(part):
        for _, _, line in read_lines(str(part)):
            yield from _row(line)
        return
    with open_binary(part) as stream:
        for begin in range(0, size, step):
            stream.seek(begin)
            lines = stream.read(PIECE_BYTES).split(b"\n")
            for line in lines[1 if begin else 0 :]:
                yield from _row(line)


def _row(line: bytes) -> Iterator[tuple[int, int]]:
    """(id, bytes) of a line; nothing of dummy's, nor of a bad line, which the job will report."""
    node, tab, _ = line.replace(b" ", b"\t", 1).partition(b"\t")
    if tab and node.isdigit() and len(node) <= 18:
        yield int(node), len(line) + 1
