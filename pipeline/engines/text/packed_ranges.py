"""Ranges of ids with about equal shares of a graph's text, for partitions and for their groups.

A line of the graph is as long as its node has edges, so equal shares of the text are about equal
shares of nodes and edges. Pieces of it, read here and there, give the ranges; nothing of the
graph but these comes to the driver.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from multiprocessing.pool import ThreadPool
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jobs.kernel.formats.ranges import labels
from jobs.kernel.formats.reading import parts, read_lines
from jobs.kernel.rank.packed_plan import Plan
from jobs.kernel.storage.opening import Place, is_url, open_binary
from jobs.kernel.storage.stores import part_sizes
from jobs.mapreduce.launcher import Launcher

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


class Sample(NamedTuple):
    """Ids, and how much text stands for each."""

    ids: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]


def plan_of(graph: Place, launcher: Launcher, partitions: int | None = None) -> Plan:
    """The ranges of a graph. partitions: as many, at most; or as its size asks for."""
    sizes = _part_sizes(graph)
    size = sum(count * (INFLATED if _compressed(part) else 1) for part, count in sizes)
    wanted = partitions or usual_partitions(size)
    points: list[int] = []
    group_points: list[int] = []
    if wanted > 1:
        groups = min(wanted * GROUPS, MOST_GROUPS)
        sample = _sample(sizes, min(SAMPLES * groups, MOST_SAMPLES))
        points, group_points = _cuts(sample, wanted), _cuts(sample, groups)
    reducers = min(len(points) + 1, launcher.ranges)
    named = [label.decode() for label in labels(len(points) + 1, reducers)]
    return Plan(points, group_points, named)


def usual_partitions(size: int) -> int:
    """Of a graph of so many bytes of text."""
    growing = math.sqrt(size * PARTITION_BYTES / FEW)
    return max(1, round(size / max(PARTITION_BYTES, min(LARGEST, growing))))


def _part_sizes(graph: Place) -> list[tuple[Place, int]]:
    if is_url(graph):
        return part_sizes(graph)
    return [(path, path.stat().st_size) for path in parts(graph)]


def _compressed(part: Place) -> bool:
    return str(part).endswith(COMPRESSED)


def _cuts(sample: Sample, ranges: int) -> list[int]:
    """The first ids of all ranges but the first; fewer where one id has more than its share."""
    order = np.argsort(sample.ids, kind="stable")
    ids, before = sample.ids[order], np.cumsum(sample.bytes[order])
    if not len(ids):
        return []
    shares = before[-1] * (np.arange(1, ranges) / ranges)
    found = np.unique(ids[np.searchsorted(before, shares)])
    return [int(point) for point in found if point > ids[0]]


def _sample(sizes: list[tuple[Place, int]], count: int) -> Sample:
    """About `count` pieces of the text, at equal distances; all of what is compressed."""
    step = max(PIECE_BYTES, sum(size for _, size in sizes) // count)
    threads = max(1, min(AT_ONCE, len(sizes)))
    with ThreadPool(threads) as pool:  # a piece of a store takes long to come, and no processor
        found = list(chain.from_iterable(pool.imap(lambda p: list(_rows(*p, step)), sizes)))
    ids, lengths = zip(*found, strict=True) if found else ((), ())
    return Sample(np.array(ids, np.int64), np.array(lengths, np.int64))


def _rows(part: Place, size: int, step: int) -> Iterator[tuple[int, int]]:
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
    """Nothing of a line that is none, which the job that reads it tells, nor of dummy's."""
    node, tab, _ = line.replace(b" ", b"\t", 1).partition(b"\t")
    if tab and node.isdigit() and len(node) <= 18:
        yield int(node), len(line) + 1
