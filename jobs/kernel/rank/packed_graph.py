"""The structure of a partition: a contiguous range of ids, and the edges from and to its nodes.

The nodes with edges out, the linking ones, come first, by id; after them those that dangle, by id.
A node's row is its place in this order, so that sources of edges are rows, too. What partition s
sends to t is one number for each node of t that s points to, in the order of their ids: t knows
these rows, so that no id travels in a round. Sections, each read where it is needed:

    nodes     ids (their differences), degrees: edges out; by id
    teleport  weights: by row; only where readers do not start everywhere equally often
    linking   degrees; groups: linking nodes of each group, dangling: others; first_group
    local     counts, sources: edges within the partition, by row of the target
    incoming  lengths: numbers that come from each partition, rows: those that they belong to
    outgoing  lengths: numbers for each partition, counts, sources: the edges of each number,
              groups: numbers for each group of all
    targets   ids (their differences): the node of each number
    state     plain: the scores of linking nodes
    dangling  plain: the scores of the others, which nothing reads until the last round is over

A group is a range of ids too: flows between groups are what aggregation needs.

The plan (JSON) tells the tasks of packed jobs the ranges, the locations of data and how to
continue.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation
from crawlrank.jobs.kernel.rank.packing import Array, Where

NodeIds = npt.NDArray[np.int64]
Sections = dict[str, dict[str, Array]]


class Ranges(NamedTuple):
    """The first ids of all partitions but the first, and of all groups but the first; ascending."""

    points: NodeIds
    group_points: NodeIds

    @property
    def partitions(self) -> int:
        return len(self.points) + 1

    @property
    def groups(self) -> int:
        return len(self.group_points) + 1

    def partition_of(self, ids: NodeIds) -> NodeIds:
        return np.searchsorted(self.points, ids, side="right")


class Held(NamedTuple):
    """Lines of a graph as arrays: ids, scores and outdegrees of nodes, and the targets of all."""

    ids: NodeIds
    scores: npt.NDArray[np.float64]
    degrees: NodeIds
    targets: NodeIds


def shares(held: Held, ranges: Ranges) -> Iterator[tuple[int, Held]]:
    """The lines of each partition that has any."""
    owners = ranges.partition_of(held.ids)
    order = np.argsort(owners, kind="stable")
    along = np.repeat(owners, held.degrees)
    edges = held.targets[np.argsort(along, kind="stable")]
    ids, scores, degrees = held.ids[order], held.scores[order], held.degrees[order]
    cuts = np.searchsorted(owners[order], np.arange(ranges.partitions + 1))
    ends = np.concatenate(([0], np.cumsum(degrees)))[cuts]
    for number in np.unique(owners).tolist():
        rows = slice(cuts[number], cuts[number + 1])
        share = edges[ends[number] : ends[number + 1]]
        yield number, Held(ids[rows], scores[rows], degrees[rows], share)


def abroad(own: int, targets: NodeIds, ranges: Ranges) -> Iterator[tuple[int, NodeIds]]:
    """The distinct targets, ascending, in each of the other partitions that has any."""
    ids = distinct(targets)
    cuts = [0, *np.searchsorted(ids, ranges.points).tolist(), len(ids)]
    for number in range(ranges.partitions):
        if number != own and cuts[number] < cuts[number + 1]:
            yield number, ids[cuts[number] : cuts[number + 1]]


def distinct(ids: NodeIds) -> NodeIds:
    """Sorted, each once."""
    ids = np.sort(ids, kind="stable")
    return ids[np.concatenate(([True], ids[1:] != ids[:-1]))] if len(ids) else ids


def merged(parts: Iterable[Held]) -> Held:
    """All lines of a partition, by id."""
    ids, scores, degrees, targets = (np.concatenate(c) for c in zip(*parts, strict=True))
    order = np.argsort(ids, kind="stable")
    ends = np.cumsum(degrees)
    lengths, begins = degrees[order], (ends - degrees)[order]
    shift = np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
    moved = targets[np.arange(len(targets)) + shift]
    return Held(ids[order], scores[order], lengths, moved)


def bad_nodes(own: int, held: Held, incoming: Iterable[NodeIds], ranges: Ranges) -> dict[int, int]:
    """NodeIds of the partition that do not have exactly one line: id -> lines."""
    ids, lines = np.unique(held.ids, return_counts=True)
    counts = {int(i): int(n) for i, n in zip(ids[lines > 1], lines[lines > 1], strict=True)}
    here = held.targets[ranges.partition_of(held.targets) == own]
    wanted = distinct(np.concatenate((here, *incoming)))
    return counts | dict.fromkeys(np.setdiff1d(wanted, ids, assume_unique=True).tolist(), 0)


def sections(own: int, held: Held, incoming: Mapping[int, NodeIds], ranges: Ranges) -> Sections:
    """What is kept of a partition, and the state that it starts with."""
    links = held.degrees > 0
    rows = rows_of(links)
    sources = np.repeat(rows[links], held.degrees[links]).astype(np.uint32)
    inside = ranges.partition_of(held.targets) == own
    local = rows[np.searchsorted(held.ids, held.targets[inside])]
    out = held.targets[~inside]
    order = np.argsort(out, kind="stable")
    names, counts = np.unique(out, return_counts=True)
    reached = {s: rows[np.searchsorted(held.ids, distinct(i))] for s, i in incoming.items()}
    group = np.searchsorted(ranges.group_points, held.ids, side="right")
    first, count = int(group[0]), int(group[-1] - group[0]) + 1
    return {
        "nodes": {"ids": np.diff(held.ids, prepend=0), "degrees": held.degrees.astype(np.uint32)},
        "linking": {
            "degrees": held.degrees[links].astype(np.uint32),
            "first_group": np.array([first], np.uint32),
            "groups": np.bincount(group[links] - first, minlength=count).astype(np.uint32),
            "dangling": np.bincount(group[~links] - first, minlength=count).astype(np.uint32),
        },
        "local": {
            "counts": np.bincount(local, minlength=len(held.ids)).astype(np.uint32),
            "sources": sources[inside][np.argsort(local, kind="stable")],
        },
        "incoming": {
            "lengths": _lengths(reached, ranges.partitions),
            "rows": _together(reached),
        },
        "outgoing": {
            "lengths": _shared_out(names, ranges.points),
            "counts": counts.astype(np.uint32),
            "sources": sources[~inside][order],
            "groups": _shared_out(names, ranges.group_points),
        },
        "targets": {"ids": np.diff(names, prepend=0)},
        "state": {"plain": held.scores[links]},
        "dangling": {"plain": held.scores[~links]},
    }


def rows_of(links: npt.NDArray[np.bool_]) -> NodeIds:
    """The row of each node, of which `links` tells whether it has edges out; by id."""
    return np.where(links, np.cumsum(links), links.sum() + np.cumsum(~links)) - 1


def _shared_out(ids: NodeIds, points: NodeIds) -> npt.NDArray[np.uint32]:
    """How many of the ascending ids are in each range."""
    return np.diff([0, *np.searchsorted(ids, points), len(ids)]).astype(np.uint32)


def _lengths(rows: Mapping[int, NodeIds], partitions: int) -> npt.NDArray[np.uint32]:
    return np.array([len(rows.get(s, ())) for s in range(partitions)], np.uint32)


def _together(rows: Mapping[int, NodeIds]) -> npt.NDArray[np.uint32]:
    none = np.zeros(0, np.uint32)
    return np.concatenate([none, *(rows[s].astype(np.uint32) for s in sorted(rows))])


@dataclass(frozen=True)
class Plan:
    """points, group_points: see Ranges. labels: the first field of the lines of each partition,
    which takes them to its reducer. structure, state: where the sections of each partition are; one
    without nodes is in neither. span: terms that no sum has more of. gammas, factors: of the vector
    that enters, see packed_round. tolerance: of the certificate. damping: see
    equation.py. dummy: its score at the end. weighted: whether
    partitions have a section teleport."""

    points: list[int]
    group_points: list[int]
    labels: list[str]
    structure: dict[int, Where] = field(default_factory=dict)
    state: dict[int, Where] = field(default_factory=dict)
    span: int = 0
    gammas: list[float] = field(default_factory=list)
    factors: list[float] = field(default_factory=list)
    tolerance: float = 0.0
    damping: float = RECIPE.damping
    dummy: float = 0.0
    weighted: bool = False

    @property
    def ranges(self) -> Ranges:
        return Ranges(np.array(self.points, np.int64), np.array(self.group_points, np.int64))

    @property
    def equation(self) -> Equation:
        return Equation(self.damping)

    def label(self, partition: int) -> bytes:
        return self.labels[partition].encode()

    def partition(self, label: bytes) -> int:
        """The label begins with the number of its partition."""
        return int(label.partition(b".")[0])

    def write(self, path: Path) -> Path:
        path.write_text(json.dumps(asdict(self)))
        return path


def plan_from(saved: dict[str, Any]) -> Plan:
    """The plan of which this is the JSON."""
    places = {
        name: {int(number): Where(*where) for number, where in saved[name].items()}
        for name in ("structure", "state")
    }
    return Plan(**{**saved, **places})


def read_plan(path: str | Path) -> Plan:
    return plan_from(json.loads(Path(path).read_bytes()))
