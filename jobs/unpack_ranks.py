"""unpack_ranks: the states of the last round to graph lines with their scores, by id.

Reads a list of partitions; no shuffle. `dummy`, whose score the driver knows when the round is
over, comes behind the last partition.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jobs.base import Pair
from jobs.kernel.lines import DUMMY, GraphLine, format_graph_line
from jobs.kernel.packing import Array, Where, read_section
from jobs.packed_job import PartitionJob


class UnpackRanks(PartitionJob):
    DATASET = "ranks"

    def map_partition(self, own: int) -> Iterator[Pair]:
        for text in graph_lines(self.plan.structure[own], self.plan.state[own]):
            yield b"", text
        if own == max(self.plan.structure):
            yield b"", format_graph_line(GraphLine(DUMMY, self.plan.dummy, [DUMMY]))


def graph_lines(structure: Where, state: Where) -> Iterator[bytes]:
    """The lines of a partition."""
    ids, degrees, targets = edges_of(structure)
    scores = np.empty(len(ids))
    scores[degrees > 0] = read_section(state, "state")["plain"]
    scores[degrees == 0] = read_section(state, "dangling")["plain"]
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
    ids, degrees = np.cumsum(nodes["ids"]), nodes["degrees"]
    rows = np.concatenate((ids[degrees > 0], ids[degrees == 0]))
    abroad = np.cumsum(read_section(where, "targets")["ids"])
    names = np.concatenate(
        (np.repeat(rows, local["counts"]), np.repeat(abroad, outgoing["counts"]))
    )
    sources = np.concatenate((local["sources"], outgoing["sources"]))
    return ids, degrees, names[np.lexsort((names, sources))]


if __name__ == "__main__":
    UnpackRanks.run()
