"""The graph of the hosts of a finished run, or of their domains, for graph_formats.py.

Nodes are the rows of the table of hosts, the highest score first. The weight of an edge is the
number of links of the graph from pages of one host to pages of the other; links within a host are
no edge. Memory: that of the table, 8 bytes a page, and 32 a pair of linked hosts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from crawlrank.pipeline.analysis.host_table import read_hosts
from crawlrank.pipeline.analysis.linked_hosts import host_ranges
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.data.site_names import NAMES
from crawlrank.pipeline.precedence.exported_graph import links_among
from crawlrank.pipeline.precedence.graph_formats import ExportedGraph, LinkArrays, write_graph
from crawlrank.pipeline.precedence.page_table import RankedPages
from crawlrank.pipeline.ranking.inputs import SiteBy
from crawlrank.pipeline.workfolder.manifest import require_manifest
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished, temporary_database

BUDGET = 1 << 30


def export_host_graph(
    ranked: RankedPages, form: str, by: SiteBy, top: int | None, output: Path, tmp: Path
) -> tuple[int, int]:
    """Write the file; how many hosts and how many links between hosts it has. top: only the hosts
    of the highest scores. Raises BadInput."""
    work = ranked.work or Path()
    rows = read_hosts(ranked, require_manifest(work), by, "score")[:top]
    with temporary_database(BUDGET) as (db, near):
        finished = open_finished(work, db, near, "run")
        with finished.reading():
            numbers = _numbers(finished, rows["host"].to_pylist(), by)
            links = _links_between(finished.links(), numbers, len(rows))
    graph = ExportedGraph(
        len(rows), "host", rows.schema, lambda: _batches(rows), lambda: iter([links]), weighted=True
    )
    write_graph(graph, form, output, tmp)
    return len(rows), len(links[0])


def _batches(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from rows.to_batches()


def _numbers(finished: Finished, names: list[str], by: SiteBy) -> Positions:
    """The row of the host of each page, by id; -1 without one."""
    rows, name_of = {name: number for number, name in enumerate(names)}, NAMES[by]
    ranges = list(host_ranges(finished.keys()))
    hosts = np.array([rows.get(name_of(each.key), -1) for each in ranges], np.int64)
    return np.repeat(hosts, [each.end - each.begin for each in ranges])


def _links_between(csr: Csr, numbers: Positions, hosts: int) -> LinkArrays:
    """The links between two hosts, by source and target, with their counts."""
    pairs: Positions = np.empty(0, np.int64)
    counts: Positions = pairs
    for sources, targets in links_among(csr, numbers):
        between = sources != targets
        more, of_more = np.unique(sources[between] * hosts + targets[between], return_counts=True)
        pairs, at = np.unique(np.concatenate((pairs, more)), return_inverse=True)
        whole = np.bincount(at, np.concatenate((counts, of_more)), len(pairs))
        counts = whole.astype(np.int64)  # which a double holds exactly up to 2^53
    return pairs // max(hosts, 1), pairs % max(hosts, 1), counts
