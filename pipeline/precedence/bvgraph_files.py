"""A graph as the files of WebGraph: NAME.graph, NAME.offsets and NAME.properties.

Lists have intervals and gaps, and copy from no other list, which would take a third to half of the
bytes away. WebGraph's `Transform` makes that of these files. The format is described where it is
read, in engines/embedded/graph_files/bvgraph.py. Memory: a batch of lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.bit_codes import Bits, State, put_gamma, put_zeta
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.data.graph import Positions

LEAST_INTERVAL, ZETA_K = 4, 3
LIST_BYTES, TARGET_BYTES = 64, 32  # of codes, at most
PROPERTIES = """#BVGraph properties
graphclass=it.unimi.dsi.webgraph.BVGraph
version=0
nodes={nodes}
arcs={arcs}
windowsize=0
maxrefcount=0
minintervallength={least}
zetak={k}
compressionflags=
"""


def files_of(output: Path) -> list[Path]:
    """NAME.graph, NAME.offsets and NAME.properties of the first of them."""
    return [output, output.with_suffix(".offsets"), output.with_suffix(".properties")]


def write_bvgraph(lists: Iterator[tuple[Positions, Positions]], output: Path) -> None:
    """Write the files. lists: the outdegrees and the targets of the nodes, some nodes at a time."""
    graph, offsets, properties = files_of(output)
    nodes = arcs = 0
    with (
        replacing(offsets) as offsets_path,
        replacing(graph) as graph_path,
        offsets_path.open("wb") as offsets_file,
        graph_path.open("wb") as graph_file,
    ):
        codes, ends = _Stream(graph_file), _Stream(offsets_file)
        ends.grow(LIST_BYTES)
        put_gamma(ends.bits, ends.at, 0)  # where the first list begins
        for degrees, targets in lists:
            codes.grow(LIST_BYTES * len(degrees) + TARGET_BYTES * len(targets))
            lengths: Positions = np.zeros(len(degrees), np.int64)
            starts = np.concatenate(([0], np.cumsum(degrees)))
            encode(codes.bits, codes.at, nodes, starts, targets, lengths)
            ends.grow(LIST_BYTES * len(degrees))
            put_all(ends.bits, ends.at, lengths)
            nodes, arcs = nodes + len(degrees), arcs + len(targets)
            codes.flush()
            ends.flush()
        codes.flush(whole=True)
        ends.flush(whole=True)
    with replacing(properties) as path:
        path.write_text(PROPERTIES.format(nodes=nodes, arcs=arcs, least=LEAST_INTERVAL, k=ZETA_K))


class _Stream:
    """Bits on their way to a file."""

    def __init__(self, file: object) -> None:
        self._file = file
        self.bits: Bits = np.zeros(1, np.uint8)
        self.at: State = np.zeros(2, np.int64)

    def grow(self, more: int) -> None:
        """Make room for so many bytes more."""
        room = int(self.at[0] // 8) + 1 + more
        if room > len(self.bits):
            self.bits = np.concatenate((self.bits, np.zeros(room - len(self.bits), np.uint8)))

    def flush(self, *, whole: bool = False) -> None:
        """Write the bytes that are full, or all, with zeros after the last bit."""
        count = int(self.at[0] // 8) + (whole and self.at[0] % 8 > 0)
        self._file.write(self.bits[:count].tobytes())  # type: ignore[attr-defined]
        rest = self.bits[count] if count < len(self.bits) else 0
        self.bits[:] = 0
        self.bits[0] = rest
        self.at[0] -= 8 * count


@loop
def put_all(bits: Bits, at: State, numbers: Positions) -> None:
    for k in range(len(numbers)):
        put_gamma(bits, at, numbers[k])


@loop
def encode(
    bits: Bits, at: State, node: int, starts: Positions, targets: Positions, lengths: Positions
) -> None:
    """The lists of the nodes from `node` on. lengths: their bits."""
    for k in range(len(lengths)):
        before = at[0]
        put_gamma(bits, at, starts[k + 1] - starts[k])
        if starts[k] < starts[k + 1]:
            put_intervals(bits, at, node + k, targets, starts[k], starts[k + 1])
            put_others(bits, at, node + k, targets, starts[k], starts[k + 1])
        lengths[k] = at[0] - before


@loop
def interval_end(targets: Positions, begin: int, end: int) -> int:
    """The end of the successive targets from `begin` on."""
    last = begin + 1
    while last < end and targets[last] == targets[last - 1] + 1:
        last += 1
    return last


@loop
def put_intervals(
    bits: Bits, at: State, node: int, targets: Positions, begin: int, end: int
) -> None:
    count, k = 0, begin
    while k < end:
        last = interval_end(targets, k, end)
        count += last - k >= LEAST_INTERVAL
        k = last
    put_gamma(bits, at, count)
    latest, first, k = node, True, begin
    while k < end:
        last = interval_end(targets, k, end)
        if last - k >= LEAST_INTERVAL:
            gap = targets[k] - latest
            put_gamma(bits, at, natural(gap) if first else gap - 1)
            put_gamma(bits, at, last - k - LEAST_INTERVAL)
            latest, first = targets[last - 1] + 1, False
        k = last


@loop
def put_others(bits: Bits, at: State, node: int, targets: Positions, begin: int, end: int) -> None:
    latest, first, k = node, True, begin
    while k < end:
        last = interval_end(targets, k, end)
        if last - k < LEAST_INTERVAL:
            for each in range(k, last):
                gap = targets[each] - latest
                put_zeta(bits, at, natural(gap) if first else gap - 1, ZETA_K)
                latest, first = targets[each], False
        k = last


@loop
def natural(number: int) -> int:
    """0, 1, 2, 3, 4 of 0, -1, 1, -2, 2."""
    return -2 * number - 1 if number < 0 else 2 * number
