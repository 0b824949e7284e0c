"""unpack_ranks: the states of the last round to graph lines with their scores, by id.

Reads lines of states, and the structure where it lies; no shuffle. `dummy`, whose score the driver
knows when the round is over, comes behind the last partition.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jobs.base import Pair
from jobs.kernel.lines import DUMMY, GraphLine, format_graph_line
from jobs.kernel.packing import Array, Where, is_first, read_section
from jobs.packed_job import PackedJob


class UnpackRanks(PackedJob):
    DATASET = "ranks"

    def map_line(self, line: bytes) -> Iterator[Pair]:
        if (label := is_first(line, "state")) is None:
            return
        own = self.plan.partition(label)
        scores = read_section(self.plan.state[own], "state")["plain"]
        for text in graph_lines(self.plan.structure[own], scores):
            yield b"", text
        if own == max(self.plan.structure):
            yield b"", format_graph_line(GraphLine(DUMMY, self.plan.dummy, [DUMMY]))


def graph_lines(where: Where, scores: Array) -> Iterator[bytes]:
    """The lines of a partition."""
    ids, degrees, targets = edges_of(where)
    names = targets.tolist()
    end = 0
    for node, score, degree in zip(ids.tolist(), scores.tolist(), degrees.tolist(), strict=True):
        begin, end = end, end + degree
        linked = ",".join(map(str, names[begin:end])) if degree else "dummy"
        yield f"{node}\t{score!r}\tO:{linked}".encode()


def edges_of(where: Where) -> tuple[Array, Array, Array]:
    """(ids, outdegrees, targets of all, ascending within each node) of a partition."""
    nodes, local = read_section(where, "nodes"), read_section(where, "local")
    outgoing = read_section(where, "outgoing")
    ids = np.cumsum(nodes["ids"])
    abroad = np.cumsum(read_section(where, "targets")["ids"])
    names = np.concatenate((np.repeat(ids, local["counts"]), np.repeat(abroad, outgoing["counts"])))
    sources = np.concatenate((local["sources"], outgoing["sources"]))
    return ids, nodes["degrees"], names[np.lexsort((names, sources))]


if __name__ == "__main__":
    UnpackRanks.run()
