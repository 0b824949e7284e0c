"""Loops of partitions.py for jobs/kernel/machine/machine_code.py.

Cash is kept less what the virtual page had brought to the machine when the page was read last, as
in opic_loops.py.
"""

from __future__ import annotations

from typing import NamedTuple

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.graph import Floats, Mask, Positions, Targets


class Buffers(NamedTuple):
    """Of P machines; the first index is the sender.

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
