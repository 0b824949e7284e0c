"""What a finished run has for every node: as arrays, for the plots.

Nodes are positions, 0 to N-1 in the order of their keys. Keys are read a batch at a time and none
is kept: those of a host follow each other, so a host is a range of nodes, and only the names of
the largest hosts stay. (In an imported graph whose ids do not follow its keys a host is several.)
Memory: about 12 arrays of N, and what DuckDB may take.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.graph import Floats, Mask, Positions, Targets
from crawlrank.pipeline.data.memory import half_of_machine
from crawlrank.pipeline.ranking.class_ranges import Numbers
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished

TOP_HOSTS = 20


class HostRange(NamedTuple):
    """The nodes begin to end - 1 are those of a host. key: its part of their keys."""

    begin: int
    end: int
    key: str


@dataclass(frozen=True, eq=False)
class Pages:
    """Columns of N, by position. ranks: places in the order, from 1. classes: precedences, from 1
    to bins. hosts: the largest, by captured nodes, then by all; there are `host_count`."""

    scores: Floats
    indegrees: Targets
    captured: Mask
    ranks: Positions
    classes: Numbers
    bins: int
    hosts: list[HostRange]
    host_count: int


def read_pages(work: Path, tmp: Path) -> Pages:
    """The nodes of a finished run. tmp: a folder for what does not fit into memory, and for
    datasets at a URL.

    Raises BadInput where a step is missing or its dataset cannot be read.
    """
    budget = half_of_machine().budget // 2  # arrays have the other half
    with database(tmp, budget=budget, threads=os.cpu_count() or 1) as (db, near):
        finished = open_finished(work, db, near, "plotted")
        with finished.reading():
            return _pages(finished)


def _pages(finished: Finished) -> Pages:
    scores, captured = finished.scores(), finished.captured()
    classes = finished.classes(scores, captured, finished.parameters)
    counted = _Counted(host_ranges(finished.keys()))
    hosts = heapq.nlargest(TOP_HOSTS, counted, key=lambda host: _size(host, captured))
    return Pages(
        scores,
        finished.indegrees(),
        captured,
        classes.positions.astype(np.int64, copy=False),
        classes.classes,
        classes.bins,
        hosts,
        counted.count,
    )


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


class _Counted:
    """Hosts, and how many went by."""

    def __init__(self, hosts: Iterable[HostRange]) -> None:
        self._hosts, self.count = hosts, 0

    def __iter__(self) -> Iterator[HostRange]:
        for host in self._hosts:
            self.count += 1
            yield host


def _size(host: HostRange, captured: Mask) -> tuple[int, int, int]:
    seen = int(np.count_nonzero(captured[host.begin : host.end]))
    return seen, host.end - host.begin, -host.begin
