"""The hosts of a graph as ranges of nodes, and the links between them.

Nodes are numbered in the order of their keys, so the nodes of a host follow each other. (In an
imported graph whose ids do not follow its keys, a host is several ranges.) `hosts_of` counts, for
every host, its pages, the captured ones, the sum and the maximum of its scores, and its links
within, in and out. `links_among` counts the links from each to each of some hosts. Each reads the
links once. Memory: 64 bytes a host, 12 a node; keys are read a batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.arrays import release
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets
from crawlrank.pipeline.data.graph import Floats, Mask, Positions

PIECE = 1 << 18  # nodes whose links are counted at once
OTHERS = -1  # the number of a host that is not among the largest


class HostRange(NamedTuple):
    """The nodes begin to end - 1 belong to a host. key: the part of their keys before `)`."""

    begin: int
    end: int
    key: str


def host_ranges(batches: Iterable[pa.RecordBatch]) -> Iterator[HostRange]:
    """The hosts of keys that ascend, with their ranges. batches: with a column `key`."""
    begin = at = done = 0
    host: str | None = None
    for batch in batches:
        before = pc.split_pattern(batch["key"], ")", max_splits=1)
        runs = pc.run_end_encode(pc.list_element(before, 0))
        for end, name in zip(runs.run_ends.to_numpy(), runs.values.to_pylist(), strict=True):
            if name != host:
                if host is not None:
                    yield HostRange(begin, at, host)
                begin, host = at, name
            at = done + int(end)
        done += len(batch)
    if host is not None:
        yield HostRange(begin, at, host)


def class_counts(
    classes: npt.NDArray[np.integer[Any]], begin: int, end: int, bins: int
) -> Positions:
    """How many of the nodes begin to end - 1 are in each class from 1 to bins: int64[bins]."""
    return np.bincount(classes[begin:end], minlength=bins + 1)[1:]


@dataclass(frozen=True, eq=False)
class LinkedHosts:
    """Columns of H, by position of the first page. begins: int64[H]. within, incoming, outgoing:
    links that stay, come from other hosts, lead to others."""

    begins: Positions
    pages: Positions
    captured: Positions
    scores: Floats
    best: Floats
    within: Positions
    incoming: Positions
    outgoing: Positions

    def largest(self, count: int) -> list[int]:
        """The hosts with the highest sum of scores, best first."""
        order = np.lexsort((self.begins, -self.scores))[:count]
        chosen: list[int] = order.tolist()
        return chosen


def hosts_of(begins: Positions, csr: Csr, scores: Floats, captured: Mask) -> LinkedHosts:
    """begins: the first node of each host, ascending from 0. scores, captured: by node."""
    within, incoming, outgoing = count_links(csr, _numbers(begins, csr.nodes), len(begins))
    return LinkedHosts(
        begins,
        np.diff(begins, append=csr.nodes),
        np.add.reduceat(captured, begins, dtype=np.int64),
        np.add.reduceat(scores, begins),
        np.maximum.reduceat(scores, begins),
        within,
        incoming,
        outgoing,
    )


def count_links(csr: Csr, number: Positions, hosts: int) -> tuple[Positions, Positions, Positions]:
    """Links within each host, from others and to others. number: the host of every node."""
    within, incoming, outgoing = (np.zeros(hosts, np.int64) for _ in range(3))
    for begin in range(0, csr.nodes, PIECE):
        end = min(begin + PIECE, csr.nodes)
        _count_links(csr.offsets, csr.sources, number, begin, end, within, incoming, outgoing)
        release(csr.sources, int(csr.offsets[begin]), int(csr.offsets[end]))
    return within, incoming, outgoing


def links_among(begins: Positions, csr: Csr, chosen: list[int]) -> list[list[int]]:
    """Links from each to each of the chosen hosts, from the row to the column."""
    of_host = np.full(len(begins), OTHERS, np.int64)
    of_host[chosen] = np.arange(len(chosen))
    number = of_host[_numbers(begins, csr.nodes)]
    counts = np.zeros((len(chosen), len(chosen)), np.int64)
    for begin in range(0, csr.nodes, PIECE):
        end = min(begin + PIECE, csr.nodes)
        _count_pairs(csr.offsets, csr.sources, number, begin, end, counts)
        release(csr.sources, int(csr.offsets[begin]), int(csr.offsets[end]))
    table: list[list[int]] = counts.tolist()
    return table


def _numbers(begins: Positions, nodes: int) -> Positions:
    """The host of every node, int32 or int64."""
    kind = np.int32 if len(begins) < 2**31 else np.int64
    numbers: Positions = np.repeat(
        np.arange(len(begins), dtype=kind), np.diff(begins, append=nodes)
    )
    return numbers


@loop
def _count_links(
    offsets: Offsets,
    sources: Ids,
    number: Positions,
    begin: int,
    end: int,
    within: Positions,
    incoming: Positions,
    outgoing: Positions,
) -> None:
    for node in range(begin, end):
        host = number[node]
        for k in range(offsets[node], offsets[node + 1]):
            other = number[sources[k]]
            if other == host:
                within[host] += 1
            else:
                incoming[host] += 1
                outgoing[other] += 1


@loop
def _count_pairs(
    offsets: Offsets, sources: Ids, number: Positions, begin: int, end: int, counts: Positions
) -> None:
    for node in range(begin, end):
        target = number[node]
        if target != OTHERS:
            for k in range(offsets[node], offsets[node + 1]):
                source = number[sources[k]]
                if source != OTHERS:
                    counts[source, target] += 1
