"""unpack_ranks: the states of the last round as graph lines, by id.

Reads a list of partitions; no shuffle. The line of `dummy`, whose score the driver knows after the
round, follows the last partition.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crawlrank.jobs.kernel.formats.lines import DUMMY, format_graph_line
from crawlrank.jobs.kernel.formats.rows import GraphLine
from crawlrank.jobs.kernel.rank.packing import Array, Where, check_lines, check_state, read_section
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import KeyValue, PartitionJob


class UnpackRanks(PartitionJob):
    DATASET = "ranks"

    def map_partition(self, own: int) -> Iterator[KeyValue]:
        for text in graph_lines(self.plan.structure[own], self.plan.state[own]):
            yield b"", text
        if own == max(self.plan.structure):
            yield b"", format_graph_line(GraphLine(DUMMY, self.plan.dummy, [DUMMY]))


def graph_lines(structure: Where, state: Where) -> Iterator[bytes]:
    """The lines of a partition."""
    ids, degrees, targets = edges_of(structure)
    linking = int(np.count_nonzero(degrees))
    vectors = read_section(state, "state"), read_section(state, "dangling")
    check_state(state, vectors[0], linking)
    check_state(state, vectors[1], len(ids) - linking)
    scores = np.empty(len(ids))
    scores[degrees > 0], scores[degrees == 0] = vectors[0]["plain"], vectors[1]["plain"]
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
    targets = read_section(where, "targets")
    check_lines(where, nodes, local, outgoing, targets)
    ids, degrees = np.cumsum(nodes["ids"]), nodes["degrees"]
    abroad = np.cumsum(targets["ids"])
    rows = np.concatenate((ids[degrees > 0], ids[degrees == 0]))
    names = np.concatenate(
        (np.repeat(rows, local["counts"]), np.repeat(abroad, outgoing["counts"]))
    )
    sources = np.concatenate((local["sources"], outgoing["sources"]))
    return ids, degrees, names[np.lexsort((names, sources))]


if __name__ == "__main__":
    main(UnpackRanks)
