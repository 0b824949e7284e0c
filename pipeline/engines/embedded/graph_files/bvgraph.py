"""Graphs of WebGraph: NAME.graph, a stream of bits, with NAME.properties.

A node has: its outdegree; a reference r, the number of nodes back to the list that its own copies
from; blocks of that list, which are copied and skipped in turn; intervals of successive targets;
and the other targets, by their gaps. Source: Boldi, Vigna: *The WebGraph Framework I: Compression
Techniques* (WWW, 2004). A library of Python that reads this format and is kept was not found:
`webgraph` of PyPI is another one, and pywebgraph ended with Python 2.

Labels are the lines of NAME.urls or NAME.urls.gz, as the Laboratory for Web Algorithmics has them
beside its graphs, else the names in NAME.nodes.csv, else the numbers of the nodes. Whatever a file
says is checked before it is used. Memory: the bits, and ROOM numbers, or those of the longest list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.bit_codes import (
    DELTA,
    GAMMA,
    UNARY,
    ZETA,
    Bits,
    State,
    coded,
    gamma,
)
from crawlrank.pipeline.data.graph import Positions
from crawlrank.pipeline.engines.embedded.graph_files.sources import (
    EDGES,
    NODES,
    Batches,
    GraphSource,
    lines_of,
    names_in,
    pieces_of,
    whole_number,
)
from crawlrank.pipeline.precedence.graph_formats import nodes_beside

ROOM = 1 << 20  # targets at once
CLASS = "BVGraph"
CODES = {"UNARY": UNARY, "GAMMA": GAMMA, "DELTA": DELTA, "ZETA": ZETA}
#: part of a list -> its code, unless the properties name another one
USUAL = {
    "OUTDEGREES": GAMMA, "REFERENCES": UNARY, "BLOCK_COUNT": GAMMA, "BLOCKS": GAMMA,
    "RESIDUALS": ZETA,
}  # fmt: skip
OUTDEGREES, REFERENCES, BLOCK_COUNT, BLOCKS, RESIDUALS, WINDOW, LEAST_INTERVAL, ZETA_K = range(8)
WRONG = -1  # the bits are no list
MOST_WINDOW, MOST_LEAST = 1 << 10, 1 << 20  # of the window, and the least interval


class BvProperties(NamedTuple):
    """options: int64[8], the codes in the order of USUAL, window, least interval, k of zeta."""

    nodes: int
    arcs: int
    options: Positions


def read_properties(path: Path) -> BvProperties:
    """Raises BadInput for what is not there, or not read here."""
    lines = (line.partition("=") for line in path.read_text("latin-1").splitlines())
    given = {name.strip(): value.strip() for name, _, value in lines if not name.startswith("#")}
    kind = given.get("graphclass", "").rpartition(".")[2]
    if kind != CLASS:
        cure = "WebGraph's `Transform` stores another graph so."
        raise BadInput(str(path), f"the graph class {kind!r}", CLASS, cure)
    codes = dict(USUAL)
    for flag in filter(None, re.split(r"[\s|]+", given.get("compressionflags", ""))):
        part, _, code = flag.rpartition("_")
        if part in codes and code in CODES:
            codes[part] = CODES[code]
        elif part != "OFFSETS":
            raise BadInput(str(path), f"the code {flag}", f"one of {', '.join(CODES)}")
    names = ("nodes", "arcs", "windowsize", "minintervallength", "zetak")
    usual = {"minintervallength": "0", "zetak": "3"}
    numbers = [whole_number(given.get(name, usual.get(name, ""))) for name in names]
    if None in numbers:
        name = names[numbers.index(None)]
        what = f"{name}={given.get(name, '')[:80]}"
        raise BadInput(str(path), what, f"a whole number of {name}")
    nodes, arcs, *options = (number or 0 for number in numbers)
    if options[0] > MOST_WINDOW or options[1] > MOST_LEAST or not 1 <= options[2] <= 60:
        what = ", ".join(f"{name}={value}" for name, value in zip(names[2:], options, strict=True))
        raise BadInput(str(path), what, "smaller ones")
    return BvProperties(nodes, arcs, np.array([*codes.values(), *options], np.int64))


class BvGraph(GraphSource):
    """paths: of NAME.graph alone."""

    def __init__(self, path: Path) -> None:
        super().__init__([path, path.with_suffix(".properties")])
        self._path = path
        self.properties = read_properties(self.paths[1])
        self._urls = next(
            (urls for end in (".urls", ".urls.gz") if (urls := path.with_suffix(end)).exists()),
            None,
        )
        self._beside = nodes_beside(path)
        is_named = self._urls or self._beside.exists()
        self.numbered = None if is_named else self.properties.nodes

    def nodes(self) -> Batches:
        if self._urls is None:
            count = self.properties.nodes
            return pieces_of(
                zip(map(str, range(count)), names_in(self._beside, count), strict=True), NODES
            )
        return self._lines_of_urls(self._urls)

    def _lines_of_urls(self, urls: Path) -> Batches:
        count = 0

        def labels() -> Iterator[tuple[str, str]]:
            nonlocal count
            for _, line in lines_of(urls):
                yield str(count), line
                count += 1

        yield from pieces_of(labels(), NODES)
        if count != self.properties.nodes:
            what, expected = f"{count} lines", f"one for each of {self.properties.nodes} nodes"
            raise BadInput(str(urls), what, expected, "Copy it again.")

    def edges(self) -> Batches:
        for targets, sources in self.pairs():
            columns = (pa.array(each).cast(pa.string()) for each in (sources, targets))
            yield pa.record_batch([*columns], EDGES)

    def pairs(self, room: int = ROOM) -> Iterator[tuple[Positions, Positions]]:
        """Targets and sources. room: targets at once, or as many as a list has."""
        nodes, arcs, options = self.properties
        window = int(options[WINDOW])
        bits = np.fromfile(self._path, np.uint8)
        lists = _Lists(min(room, max(arcs, 1)), window)
        state: State = np.zeros(2, np.int64)
        node = count = 0
        while node < nodes:
            last = min(nodes, node + ROOM)
            most = min(nodes, arcs - count)  # targets of a list
            reached = decode(bits, state, node, last, nodes, most, options, lists.targets,
                             lists.starts, *lists.parts)  # fmt: skip
            if reached == WRONG:
                self._refuse(int(state[0]))
            if reached == node:
                lists.grow(nodes)
                continue
            slots = window + reached - node
            targets = lists.targets[lists.starts[window] : lists.starts[slots]]
            degrees = np.diff(lists.starts[window : slots + 1])
            yield targets.copy(), np.repeat(np.arange(node, reached), degrees)
            count += len(targets)
            lists.keep(slots)
            node = reached
        if count != arcs:
            what = f"{count} edges"
            raise BadInput(str(self._path), what, f"{arcs}, as its properties say", "Copy it.")

    def _refuse(self, bit: int) -> None:
        where = f"{self._path}, byte {bit // 8}"
        cure = "Copy both files again."
        raise BadInput(where, "bits that are no list of targets", "what WebGraph writes", cure)


class _Lists:
    """targets: of the last `window` nodes and of those after them. starts: where those of each of
    these begin. parts: room for the blocks, intervals and other targets of a list."""

    def __init__(self, room: int, window: int) -> None:
        self._window = window
        self.targets: Positions = np.zeros(room, np.int64)
        self.starts: Positions = np.zeros(window + ROOM + 1, np.int64)
        self.parts: list[Positions] = [np.zeros(room + 2, np.int64) for _ in range(4)]

    def grow(self, nodes: int) -> None:
        """Make room for a longer list, of at most all nodes."""
        room = min(2 * len(self.targets), (self._window + 1) * nodes + 1)
        self.targets = np.concatenate((self.targets, np.zeros(room - len(self.targets), np.int64)))
        self.parts = [np.zeros(room + 2, np.int64) for _ in range(4)]

    def keep(self, slots: int) -> None:
        """Let the last lists be the first."""
        begin, end = self.starts[slots - self._window], self.starts[slots]
        self.targets[: end - begin] = self.targets[begin:end].copy()
        self.starts[: self._window + 1] = self.starts[slots - self._window : slots + 1] - begin


@loop
def decode(
    bits: Bits,
    at: State,
    node: int,
    last: int,
    nodes: int,
    most: int,
    options: Positions,
    targets: Positions,
    starts: Positions,
    blocks: Positions,
    lefts: Positions,
    lengths: Positions,
    others: Positions,
) -> int:
    """The lists of the nodes from `node` on, until `last` or as there is room. The node after them,
    or WRONG. most: targets that a list may have. starts has those of the window before them, and
    where the first list begins."""
    slot = options[WINDOW]
    while node < last:
        before = at[0]
        degree = coded(bits, at, options[OUTDEGREES], options[ZETA_K])
        begin = starts[slot]
        if at[1] or degree > most:
            return WRONG
        if begin + degree > len(targets):
            at[0] = before
            return node
        starts[slot + 1] = begin + degree
        if degree and not rest(bits, at, node, nodes, options, degree, targets, starts, slot,
                               blocks, lefts, lengths, others):  # fmt: skip
            return WRONG
        slot += 1
        node += 1
    return node


@loop
def rest(
    bits: Bits,
    at: State,
    node: int,
    nodes: int,
    options: Positions,
    degree: int,
    targets: Positions,
    starts: Positions,
    slot: int,
    blocks: Positions,
    lefts: Positions,
    lengths: Positions,
    others: Positions,
) -> bool:
    """Read a list after its outdegree. Whether it is one."""
    reference, count = 0, 0
    if options[WINDOW]:
        reference = coded(bits, at, options[REFERENCES], options[ZETA_K])
    if at[1] or reference > min(options[WINDOW], node):
        return False
    if reference:
        count = copied(bits, at, options, targets, starts, slot, reference, blocks)
    if count < 0 or count > degree:
        return False
    return listed(bits, at, node, nodes, options, degree, count, targets, starts[slot], lefts,
                  lengths, others, blocks)  # fmt: skip


@loop
def copied(
    bits: Bits,
    at: State,
    options: Positions,
    targets: Positions,
    starts: Positions,
    slot: int,
    reference: int,
    blocks: Positions,
) -> int:
    """Put what a list copies from another one to the beginning of `blocks`. How many these are, or
    WRONG."""
    first, end = starts[slot - reference], starts[slot - reference + 1]
    count = coded(bits, at, options[BLOCK_COUNT], options[ZETA_K])
    if at[1] or count > end - first + 1:
        return WRONG
    taken, from_here = 0, first
    for block in range(count + 1):
        length = end - from_here  # of the rest, which is copied where it is its turn
        if block < count:
            length = coded(bits, at, options[BLOCKS], options[ZETA_K]) + (block > 0)
            if at[1] or length > end - from_here:
                return WRONG
        if block % 2 == 0:
            for k in range(from_here, from_here + length):
                blocks[taken] = targets[k]
                taken += 1
        from_here += length
    return taken


@loop
def listed(
    bits: Bits,
    at: State,
    node: int,
    nodes: int,
    options: Positions,
    degree: int,
    count: int,
    targets: Positions,
    begin: int,
    lefts: Positions,
    lengths: Positions,
    others: Positions,
    blocks: Positions,
) -> bool:
    """Read the rest of a list, and merge its parts. count: of targets that are copied, which are in
    `blocks`. Whether it is a list."""
    left, intervals = degree - count, 0
    if left and options[LEAST_INTERVAL]:
        intervals = gamma(bits, at)
        if at[1] or intervals > left:
            return False
        end = node
        for k in range(intervals):
            gap = gamma(bits, at)
            lefts[k] = end + (signed(gap) if k == 0 else gap + 1)
            lengths[k] = min(gamma(bits, at), left) + options[LEAST_INTERVAL]
            if at[1] or lengths[k] > left or not 0 <= lefts[k] <= nodes - lengths[k]:
                return False
            left -= lengths[k]
            end = lefts[k] + lengths[k]
    target = node
    for k in range(left):
        gap = coded(bits, at, options[RESIDUALS], options[ZETA_K])
        target += signed(gap) if k == 0 else gap + 1
        if at[1] or not 0 <= target < nodes:
            return False
        others[k] = target
    return merged(targets, begin, blocks, count, lefts, lengths, intervals, others, left, nodes)


@loop
def signed(number: int) -> int:
    """0, -1, 1, -2, 2 of 0, 1, 2, 3, 4."""
    return -(number + 1 >> 1) if number & 1 else number >> 1


@loop
def merged(
    targets: Positions,
    begin: int,
    blocks: Positions,
    copies: int,
    lefts: Positions,
    lengths: Positions,
    intervals: int,
    others: Positions,
    left: int,
    nodes: int,
) -> bool:
    """Write the three parts in order. Whether they ascend."""
    copy = interval = inside = other = 0
    latest, end = -1, begin + left + copies
    for k in range(intervals):
        end += lengths[k]
    for k in range(begin, end):
        first = blocks[copy] if copy < copies else nodes
        second = lefts[interval] + inside if interval < intervals else nodes
        third = others[other] if other < left else nodes
        value = min(first, second, third)
        if value == first:
            copy += 1
        elif value == second:
            inside += 1
            if inside == lengths[interval]:
                interval += 1
                inside = 0
        else:
            other += 1
        if value <= latest or value >= nodes:
            return False
        targets[k] = latest = value
    return True
