"""What a finished run has for every node, as arrays in the order of the keys."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from crawlrank.pipeline.analysis.compare.diff import Side
from crawlrank.pipeline.analysis.linked_hosts import HostRange, host_ranges
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.data.graph import Floats, Mask, Positions, Targets
from crawlrank.pipeline.ranking.classes import Numbers
from crawlrank.pipeline.workfolder.results.opened import open_finished


class NodeColumns(NamedTuple):
    """Arrays of N. ranks: positions in the order, from 1. classes: from 1 to bins."""

    scores: Floats
    indegrees: Targets
    captured: Mask
    ranks: Positions
    classes: Numbers
    hosts: list[HostRange]


def read_node_columns(work: Path, tmp: Path) -> NodeColumns:
    """Raises BadInput where a step is missing or its dataset cannot be read."""
    with database(tmp, budget=1 << 28, threads=1) as (db, near):
        run = open_finished(work, db, near, "read")
        with run.reading():
            side = Side(run, run.parameters)
            hosts = list(host_ranges(run.keys()))
            indegrees = run.indegrees()
    return NodeColumns(side.scores, indegrees, side.captured, side.places, side.classes, hosts)
