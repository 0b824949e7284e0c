"""A crawl by P machines, each with its part of the pages, which send each other cash in messages.

Source: Abiteboul, Preda, Cobena, WWW 2003, on distribution: pages are spread over machines by a
hash of their URL. A link to a page of the same machine gives cash at once. Cash for pages of
another machine waits in a buffer, one for each pair of machines, where transfers to the same page
are added up. A buffer is sent as one message when it holds transfers to `buffer` pages, and at the
end of every sweep. A message also brings what the virtual page got at the sender since the last one
to that machine, of which every page has an N-th.

In a sweep every machine reads each of its pages once, by number; machines take turns, a read each,
until they are through. No cash is lost or made, so what pages record obeys the balance of
opic_cycles.py after every sweep: h = A h + what they had before - what they have then. The fixed
point is that of one machine.

Memory: 9 P N bytes and 8 P P buffer bytes. Cost of a read: that of its edges.

In the loops, cash is kept less what the virtual page had brought to the machine when the page was
read last, as in ranking/opic.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.graph import Floats, Mask, Positions, Targets
from crawlrank.pipeline.lab.chain import Chain


class Buffers(NamedTuple):
    """The buffers of P machines; the first index is the sender.

    waiting: float64[P, N], cash for each page; is_waiting: whether it has any. pages: int64[P, P,
    B], those of each buffer; filled: int64[P, P], how many. gifts: float64[P, P], of the virtual
    page, not sent yet. brought: float64[P], its gifts that came to each machine. counted: int64[3],
    messages, transfers and crossing links.
    """

    waiting: Floats
    is_waiting: Mask
    pages: Positions
    filled: Positions
    gifts: Floats
    brought: Floats
    counted: Positions


@loop
def send(sender: int, to: int, cash: Floats, buffers: Buffers) -> None:
    """One message."""
    for k in range(buffers.filled[sender, to]):
        page = buffers.pages[sender, to, k]
        cash[page] += buffers.waiting[sender, page]
        buffers.waiting[sender, page] = 0.0
        buffers.is_waiting[sender, page] = False
    buffers.brought[to] += buffers.gifts[sender, to]
    buffers.gifts[sender, to] = 0.0
    buffers.counted[0] += 1
    buffers.counted[1] += buffers.filled[sender, to]
    buffers.filled[sender, to] = 0


@loop
def transfer(own: int, to: int, target: int, part: float, cash: Floats, buffers: Buffers) -> None:
    """Cash along a link to another machine."""
    buffers.counted[2] += 1
    buffers.waiting[own, target] += part
    if not buffers.is_waiting[own, target]:
        buffers.is_waiting[own, target] = True
        buffers.pages[own, to, buffers.filled[own, to]] = target
        buffers.filled[own, to] += 1
    if buffers.filled[own, to] == buffers.pages.shape[2]:
        send(own, to, cash, buffers)


@loop
def sweep(
    order: Positions,
    offsets: Positions,
    targets: Targets,
    share: Floats,
    rest: Floats,
    owners: Positions,
    cash: Floats,
    recorded: Floats,
    buffers: Buffers,
) -> None:
    """Read pages in order, then send what waits. The caller adds to the cash of each page an N-th
    of what was brought to its machine."""
    n, machines, brought = len(cash), len(buffers.brought), buffers.brought
    for page in order:
        own = owners[page]
        held = cash[page] + brought[own] / n
        cash[page] = -brought[own] / n
        recorded[page] += held
        brought[own] += held * rest[page]
        for to in range(machines):
            if to != own:
                buffers.gifts[own, to] += held * rest[page]
        for k in range(offsets[page], offsets[page + 1]):
            target = targets[k]
            if owners[target] == own:
                cash[target] += held * share[page]
            else:
                transfer(own, owners[target], target, held * share[page], cash, buffers)
    for own in range(machines):
        for to in range(machines):
            if buffers.filled[own, to] or buffers.gifts[own, to] > 0:
                send(own, to, cash, buffers)


FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: Knuth's hash of a number


class Traffic(NamedTuple):
    """messages: sent. transfers: of cash to one page each, in messages. crossing: how often a read
    gave along a link to another machine."""

    messages: int
    transfers: int
    crossing: int


def owners_of(nodes: int, machines: int, hashes: Positions | None = None) -> Positions:
    """The machine of each page, int64[N]. hashes: int64[N] from 0, of URLs; without them, pages
    are spread by a hash of their numbers. machines: at least 1.
    """
    if hashes is None:
        products = np.arange(1, nodes + 1, dtype=np.uint64) * FACTOR
        hashes = (products >> np.uint64(32)).astype(np.int64)
    owners: Positions = hashes % machines
    return owners


class PartitionedCrawl:
    """owners: int64[N], the machine of each page, from 0. buffer: pages, from 1; 1 sends every
    transfer by itself.

    recorded: float64[N], as in simulation.py. cash: float64[N], of sum 1 after every sweep.
    """

    def __init__(self, chain: Chain, owners: Positions, buffer: int) -> None:
        n, machines = chain.nodes, int(owners.max()) + 1
        self.chain = chain
        self.cash, self.recorded = np.full(n, 1 / n), np.zeros(n)
        self._owners, room = owners, min(buffer, n)
        turns = np.zeros(n, np.int64)  # of each page on its machine
        for machine in range(machines):
            own = np.flatnonzero(owners == machine)
            turns[own] = np.arange(len(own))
        self._order = np.lexsort((owners, turns))
        self._waiting = np.zeros((machines, n))
        self._is_waiting = np.zeros((machines, n), np.bool_)
        # a page is in one buffer of a sender at most, and a buffer that is full is sent
        self._pages = np.zeros((machines, machines, room), np.int64)

    def sweep(self) -> Traffic:
        """Read every page once; what was sent for that."""
        machines = len(self._waiting)
        square = machines, machines
        buffers = Buffers(
            self._waiting, self._is_waiting, self._pages, np.zeros(square, np.int64),
            np.zeros(square), np.zeros(machines), np.zeros(3, np.int64),
        )  # fmt: skip
        edges = self.chain.offsets, self.chain.targets, self.chain.share, self.chain.rest
        sweep(self._order, *edges, self._owners, self.cash, self.recorded, buffers)
        self.cash += buffers.brought[self._owners] / self.chain.nodes
        return Traffic(*buffers.counted.tolist())
