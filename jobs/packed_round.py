"""packed_round: one round of PageRank on partitions of packed arrays; packed_round.py.

Reads a list of partitions and writes their states. A mapper sends one block of numbers to each
other partition that its partition points to, summed for each node there. A reducer adds the blocks
for its partition, measures the residual of the vector that entered the round, sweeps, and writes
the new state. A note has what steers the next round.

Structure and state do not go through the shuffle, as both tasks of a partition read them from the
datasets (Schimmy: Lin and Schatz, *Design Patterns for Efficient Graph Algorithms in MapReduce*,
2010). Blocks are added in the order of their partitions, whatever the order in which they arrive.
A task holds one partition at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from crawlrank.jobs.kernel.formats.side_lines import PLAN, to_json
from crawlrank.jobs.kernel.rank.array_types import Floats
from crawlrank.jobs.kernel.rank.equation import EVERYWHERE
from crawlrank.jobs.kernel.rank.packed_round import (
    Left,
    Partition,
    alone,
    contributions,
    entering,
    one_round,
    received,
)
from crawlrank.jobs.kernel.rank.packing import (
    Array,
    Where,
    Writer,
    check_incoming,
    check_inside,
    check_outgoing,
    check_state,
    check_teleport,
    from_text,
    pieces,
    read_section,
    to_text,
)
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import KeyValue, PartitionJob

MARK = b"M"  # of each partition, also without blocks


class PackedRound(PartitionJob):
    DATASET = "state"

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._writer = Writer()

    def map_partition(self, own: int) -> Iterator[KeyValue]:
        plan = self.plan
        yield plan.label(own), MARK
        where = plan.structure[own]
        outgoing = read_section(where, "outgoing")
        if not outgoing["lengths"].any():
            return
        linking, state = read_section(where, "linking"), self._state(own)
        check_outgoing(where, linking, outgoing, plan.ranges.partitions)
        check_state(plan.state[own], state, len(linking["degrees"]))
        base = plan.equation.base * self._teleport(where)
        x = entering(state, linking, plan.gammas, plan.factors, base).x
        for partition, numbers in enumerate(contributions(x, linking, outgoing)):
            if len(numbers):
                for position, piece in enumerate(pieces({"numbers": numbers})):
                    yield plan.label(partition), b"%d.%d %s" % (own, position, to_text(piece))

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        own, positions = self.plan.partition(key), dict[str, list[int]]()
        left = self._round(own, _blocks(values))
        yield from self._writer.lines(key, "state", left.state, positions)
        yield from self._writer.lines(key, "dangling", {"plain": left.dangling}, positions)
        report = {"partition": own, "sections": positions, "sums": left.sums.as_dict()}
        report["steering"] = {**left.products, **left.groups.as_json()}
        yield PLAN + b"\t" + to_json(report)

    def _round(self, own: int, blocks: dict[int, dict[int, Floats]]) -> Left:
        plan, where = self.plan, self.plan.structure[own]
        partitions, groups = plan.ranges.partitions, plan.ranges.groups
        linking, state = read_section(where, "linking"), self._state(own)
        sections = (linking, read_section(where, "local"), read_section(where, "outgoing"))
        part = Partition(*sections, plan.equation, self._teleport(where))
        check_outgoing(where, linking, part.outgoing, partitions)
        check_inside(where, *sections, groups)
        check_state(plan.state[own], state, len(part.degrees))
        if plan.weighted:
            check_teleport(where, {"weights": part.teleport}, part.nodes)
        enters = entering(state, linking, plan.gammas, plan.factors, part.base)
        if partitions == 1:
            return alone(part, enters.x, plan.span, plan.tolerance)
        none = [np.zeros(0)]
        numbers = [
            np.concatenate(
                [block for _, block in sorted(blocks[s].items())] if s in blocks else none
            )
            for s in range(partitions)
        ]
        incoming = read_section(where, "incoming")
        check_incoming(where, incoming, part.nodes, partitions)
        inflow = received(part.nodes, incoming, numbers)
        return one_round(part, state, enters, inflow, plan.span, groups)

    def _teleport(self, where: Where) -> Floats:
        """How often a reader starts at each node, by row, or one number for all."""
        return read_section(where, "teleport")["weights"] if self.plan.weighted else EVERYWHERE

    def _state(self, own: int) -> dict[str, Array]:
        return read_section(self.plan.state[own], "state")


def _blocks(values: Iterator[bytes]) -> dict[int, dict[int, Floats]]:
    """Blocks of numbers, by the partition that sent them and their position among its own."""
    blocks: dict[int, dict[int, Floats]] = {}
    for value in values:
        if value != MARK:
            name, _, text = value.partition(b" ")
            source, _, position = name.partition(b".")
            blocks.setdefault(int(source), {})[int(position)] = from_text(text)["numbers"]
    return blocks


if __name__ == "__main__":
    main(PackedRound)
