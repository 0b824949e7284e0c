"""OPIC's visits, one edge at a time: plain loops over arrays, compiled by numba when first used.

Equation, dangling pages and stopping rule: see pipeline/opic.py. Here a page that is read records
its cash, gives `share` of it along every edge, and `kept` of it to each page of the graph through
the virtual page; all of that in the order of the visits, without any reordering of sums.

All take offsets and targets of a Graph, share, kept, cash and recorded by position, and change cash
and recorded in place. While they run, cash is kept less what the virtual page had given when the
page was read last, so that its gift to all N pages is one addition; they return that gift, and the
caller adds it to all cash.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pipeline.graph import Floats, Positions, Targets


class Loops(NamedTuple):
    visit: Callable[..., float]
    greedy: Callable[..., float]
    spread: Callable[..., None]


@cache
def compiled() -> Loops:
    """The loops below as machine code, kept on disk where numba finds a place for that."""
    import numba  # takes a second to import

    njit: Any = numba.njit
    loops = (_visit, _greedy, _spread)
    try:
        return Loops(*(njit(cache=True)(loop) for loop in loops))
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        return Loops(*(njit(loop) for loop in loops))


def _visit(
    order: Positions,
    offsets: Positions,
    targets: Targets,
    share: Floats,
    kept: Floats,
    cash: Floats,
    recorded: Floats,
) -> float:
    """Read pages in order."""
    given = 0.0
    for page in order:
        held = cash[page] + given
        cash[page] = -given
        recorded[page] += held
        part = held * share[page]
        for k in range(offsets[page], offsets[page + 1]):
            cash[targets[k]] += part
        given += held * kept[page]
    return given


def _greedy(
    count: int,
    offsets: Positions,
    targets: Targets,
    share: Floats,
    kept: Floats,
    cash: Floats,
    recorded: Floats,
) -> float:
    """Read the page with most cash, count times; of equal ones the first by position.

    The virtual page's gift is the same for all, so it does not change who has most. A tournament
    tree over the pages holds the winner of each pair: a page that gains climbs while it wins, the
    page that was read loses all the way from its leaf to the root. Exact, O(log N) a change.
    """
    n, width = len(cash), 1
    while width < n:
        width *= 2
    winner = np.full(2 * width, n, np.int64)  # n: nobody, at the leaves beyond the last page
    winner[width : width + n] = np.arange(n)
    for node in range(width - 1, 0, -1):
        left, right = winner[2 * node], winner[2 * node + 1]
        winner[node] = right if right < n and cash[right] > cash[left] else left
    given = 0.0
    for _ in range(count):
        page = winner[1]
        held = cash[page] + given
        cash[page] = -given
        recorded[page] += held
        node = (width + page) // 2
        while node:
            left, right = winner[2 * node], winner[2 * node + 1]
            winner[node] = right if right < n and cash[right] > cash[left] else left
            node //= 2
        part = held * share[page]
        for k in range(offsets[page], offsets[page + 1]):
            target = targets[k]
            cash[target] += part
            node = (width + target) // 2
            while node:
                other = winner[node]
                if cash[target] > cash[other] or (cash[target] == cash[other] and target < other):
                    winner[node] = target
                elif target != other:
                    break
                node //= 2
        given += held * kept[page]
    return given


def _spread(
    offsets: Positions, targets: Targets, share: Floats, cash: Floats, flow: Floats
) -> None:
    """Add to flow what every page would give to its targets, if all gave at once."""
    for page in range(len(cash)):
        part = cash[page] * share[page]
        for k in range(offsets[page], offsets[page + 1]):
            flow[targets[k]] += part
