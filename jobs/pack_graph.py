"""pack_graph: graph lines to partitions of packed arrays, the structure of packed rounds.

Reads graph lines, writes lines of sections (jobs/kernel/rank/packed_graph.py, packing.py): for each
partition its structure, and the state at the start of the first round: the scores in the graph, or
the weights in a file of equation.py. The note of a partition has the positions of its sections, its
sums, and what steers the first round.

The shuffle has compressed arrays: each line of the graph for its partition, and for each other
partition the distinct ids there that it points to, some HELD edges of a task at a time. A reduce
task holds a partition: some 60 bytes an edge.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from crawlrank.jobs.kernel.formats.lines import DUMMY, parse_graph_line
from crawlrank.jobs.kernel.formats.side_lines import PLAN, to_json
from crawlrank.jobs.kernel.rank.packed_graph import (
    Held,
    NodeIds,
    Sections,
    abroad,
    bad_nodes,
    merged,
    sections,
    shares,
)
from crawlrank.jobs.kernel.rank.packed_round import GroupSums, Partition, flows_of, sums_of
from crawlrank.jobs.kernel.rank.packing import Writer, from_text, pieces, to_text
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import KeyValue, PackedJob
from crawlrank.jobs.page_rank import TeleportJob, bad_node

HELD = 1 << 19  # edges, or nodes, in the memory of a task before they are sent
LINES, TARGETS, DUMMIES, DANGLES = b"L", b"T", b"D", b"N"


class PackGraph(PackedJob, TeleportJob):
    DATASET = "structure"

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._dummies: list[float] = []
        self._clear()
        self._writer = Writer()

    def _clear(self) -> None:
        self._ids, self._scores = array("q"), array("d")
        self._degrees, self._targets = array("q"), array("q")

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        node, score, targets = parse_graph_line(line)
        if node == DUMMY:
            self._dummies.append(score)
            return
        self._ids.append(int(node))
        self._scores.append(score)
        linked = targets if targets[0] != DUMMY else []
        self._degrees.append(len(linked))
        self._targets.extend(map(int, linked))
        if max(len(self._targets), len(self._ids)) >= HELD:
            yield from self._send()

    def map_end(self) -> Iterator[KeyValue]:
        yield from self._send()
        last = self.plan.label(len(self.plan.labels) - 1)
        for score in self._dummies:
            yield last, DUMMIES + repr(score).encode()

    def _send(self) -> Iterator[KeyValue]:
        held = Held(
            np.array(self._ids, np.int64), np.array(self._scores, float),
            np.array(self._degrees, np.int64), np.array(self._targets, np.int64),
        )  # fmt: skip
        self._clear()
        plan = self.plan
        if not held.degrees.all():
            yield plan.label(len(plan.labels) - 1), DANGLES
        for own, share in shares(held, plan.ranges):
            yield plan.label(own), LINES + to_text(share._asdict())
            for partition, ids in abroad(own, share.targets, plan.ranges):
                for piece in pieces({"ids": ids}):
                    yield plan.label(partition), TARGETS + b"%d " % own + to_text(piece)

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        plan, own = self.plan, self.plan.partition(key)
        lines: list[Held] = []
        targets: dict[int, list[NodeIds]] = {}
        dummies: list[float] = []
        dangling = False
        for value in values:
            if value[:1] == LINES:
                lines.append(Held(**from_text(value[1:])))
            elif value[:1] == TARGETS:
                source, _, text = value[1:].partition(b" ")
                targets.setdefault(int(source), []).append(from_text(text)["ids"])
            elif value[:1] == DUMMIES:
                dummies.append(float(value[1:]))
            else:
                dangling = True
        incoming = {source: np.concatenate(ids) for source, ids in targets.items()}
        none = np.zeros(0, np.int64)
        held = merged(lines) if lines else Held(none, np.zeros(0), none, none)
        bad = bad_nodes(own, held, incoming.values(), plan.ranges)
        for node, count in bad.items():
            yield from bad_node(self, b"%d" % node, count)
        if len(dummies) > 1 or (dangling and not dummies):
            yield from bad_node(self, DUMMY, len(dummies))
        report: dict[str, Any] = {"partition": own, "dummies": dummies, "nodes": len(held.ids)}
        if len(held.ids) and not bad:
            report["edges"] = len(held.targets)
            report["dangling"] = int((held.degrees == 0).sum())
            packed = self._sections(own, held, incoming)
            groups = _group_sums(packed, plan.ranges.groups)
            linking, first = packed["linking"], packed["state"]["plain"]
            report["scores"] = math.fsum([*first.tolist(), *packed["dangling"]["plain"].tolist()])
            sizes = linking["groups"] + linking["dangling"]
            report["groups"] = (groups.weights if self.teleport else sizes).tolist()
            report["steering"] = groups.as_json()
            positions = report["sections"] = dict[str, list[int]]()
            for name, arrays in packed.items():
                yield from self._writer.lines(key, name, arrays, positions)
        yield PLAN + b"\t" + to_json(report)

    def _sections(self, own: int, held: Held, incoming: Mapping[int, NodeIds]) -> Sections:
        """The sections, with the weights of nodes, if there are any, as the first scores."""
        if not self.teleport:
            return sections(own, held, incoming, self.plan.ranges)
        weights = self.teleport.of_all(held.ids)
        packed = sections(own, held._replace(scores=weights), incoming, self.plan.ranges)
        links = held.degrees > 0
        packed["teleport"] = {"weights": np.concatenate((weights[links], weights[~links]))}
        return packed


def _group_sums(packed: Sections, groups: int) -> GroupSums:
    """The sums of the scores in the graph."""
    linking, scores = packed["linking"], packed["state"]["plain"]
    part = Partition(linking, packed["local"], packed["outgoing"])
    flows, _ = flows_of(part, scores, groups)
    weights = sums_of(scores, linking["groups"])
    weights += sums_of(packed["dangling"]["plain"], linking["dangling"])
    return GroupSums(int(linking["first_group"][0]), flows.ravel(), weights)


if __name__ == "__main__":
    main(PackGraph)
