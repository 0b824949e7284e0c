"""What a work folder, of either engine, says of every node: as arrays, for the plots.

Nodes are positions, 0 to N-1 in the order of their keys. Keys are read a batch at a time and none
is kept: those of a host follow each other, so a host is a range of nodes, and only the names of
the largest hosts stay. (In an imported graph whose ids do not follow its keys a host is several.)
Memory: about 12 arrays of N, for text datasets the edges besides.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from jobs.kernel.errors import BadInput
from jobs.kernel.formats.lines import parse_map_row
from pipeline.contract import EMBEDDED
from pipeline.data.datasets import ORDER, merged
from pipeline.data.graph import Floats, Mask, Positions, Targets, read_graph
from pipeline.data.parquet import parquet_batches
from pipeline.precedence.captured import MAPPED, Captured, captured_columns
from pipeline.precedence.scored import decoded, row_batches
from pipeline.ranking.classes import Numbers, cut
from pipeline.workfolder.dataset_folders import DatasetFolders, finished_manifest
from pipeline.workfolder.manifest import Manifest

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
    datasets that lie at a URL.

    Raises BadInput where a step is missing or its dataset cannot be read.
    """
    manifest = finished_manifest(work)
    folders = DatasetFolders(work, manifest, tmp)
    with folders.reading():
        return _pages(folders, manifest, tmp)


def _pages(folders: DatasetFolders, manifest: Manifest, tmp: Path) -> Pages:
    asked, folder = manifest.parameters, folders.folder
    weighed = asked["--ties"] == "links"
    if asked["--runner"] == EMBEDDED:
        scores, indegrees, seen = _from_arrays(folder, weighed)
        keys: Iterable[pa.RecordBatch] = parquet_batches(folder("map") / "map.parquet", ["key"])
    else:
        scores, indegrees, seen = _from_lines(folder, tmp, weighed)
        keys = _keys(folder("map"))
    captured = seen.mask
    found = cut(
        scores,
        asked["--bins"],
        digits=manifest.steps["join-scores"]["parameters"]["digits"],
        mask=captured if asked["--classes-over"] == "captured" else None,
        ties=asked["--ties"],
        preferred=seen.preferred,
    )
    ranks = np.empty(len(scores), np.int64)
    ranks[found.order] = np.arange(1, len(scores) + 1)
    counted = _Counted(host_ranges(keys))
    hosts = heapq.nlargest(TOP_HOSTS, counted, key=lambda host: _size(host, captured))
    return Pages(
        scores, indegrees, captured, ranks, found.classes, found.bins, hosts, counted.count
    )


def _from_arrays(folder: Callable[[str], Path], weighed: bool) -> tuple[Floats, Targets, Captured]:
    from pipeline.data.csr_files import open_csr
    from pipeline.data.scores_file import SCORES, open_scores
    from pipeline.engines.embedded.ids import IDS, captured_nodes, preferred_nodes
    from pipeline.engines.embedded.spellings import URIS

    csr = open_csr(folder("graph"), edges=False)
    told = folder("uris") / URIS, folder("map") / IDS, csr.nodes
    scores = open_scores(folder("ranks") / SCORES, csr.nodes)
    seen = Captured(captured_nodes(*told), preferred_nodes(*told) if weighed else None)
    return scores, np.diff(csr.offsets), seen


def _from_lines(
    folder: Callable[[str], Path], tmp: Path, weighed: bool
) -> tuple[Floats, Targets, Captured]:
    graph = read_graph(folder("ranks"))
    seen = captured_columns(graph, folder("uris"), [folder("map")], tmp, weighed=weighed)
    return graph.scores, graph.indegrees, seen


def _keys(where: Path) -> Iterator[pa.RecordBatch]:
    try:
        rows = (parse_map_row(line.rstrip(b"\n")) for line in merged(where, ORDER["map"]))
        yield from row_batches(MAPPED, ((int(row.id), decoded(row.key)) for row in rows))
    except ValueError as error:
        raise BadInput(str(where), str(error), "lines of a map", "Run assign-ids again.") from error


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


def host_name(key: str) -> str:
    """`www.archive.org:8080` of the key's part `org,archive,www:8080`."""
    host, colon, port = key.rpartition(":")
    if not port.isdigit():
        host, colon, port = key, "", ""
    return ".".join(reversed(host.split(","))) + colon + port


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
