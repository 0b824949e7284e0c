"""OPIC's visits, one edge at a time, and its bounds: loops for jobs/kernel/machine/machine_code.py.

Equation, dangling pages and stopping rule: see opic.py. Here a page that is read records
its cash, gives `share` of it along every edge, and to each page of the graph through the virtual
page `dangling` of it if it has no edges, else `kept` of it, or an N-th of `edges` times `share`
where kept is 0; all of that in the order of the visits, without any reordering of sums.

Visits take offsets and targets of a Graph, share, cash and recorded by position, and change cash
and recorded in place. `held_then` gets the cash of each visit, or is empty. While they run, cash is
kept less what the virtual page had given when the page was read last, so that its gift to all N
pages is one addition; they return that gift, and the caller adds it to all cash.
"""

from __future__ import annotations

from crawlrank.pipeline.data.graph import Floats, Positions, Targets

BLOCK = 1 << 12  # pages whose values are summed by themselves


def visit(
    order: Positions,
    given: float,
    offsets: Positions,
    targets: Targets,
    share: Floats,
    kept: float,
    edges: float,
    dangling: float,
    cash: Floats,
    recorded: Floats,
    held_then: Floats,
) -> float:
    """Read pages in order. given: what the virtual page gave to each and nobody has added yet."""
    equal = edges / len(cash)
    for visited in range(len(order)):
        page = order[visited]
        held = cash[page] + given
        cash[page] = -given
        recorded[page] += held
        if len(held_then):
            held_then[visited] = held
        part = held * share[page]
        for k in range(offsets[page], offsets[page + 1]):
            cash[targets[k]] += part
        if offsets[page] == offsets[page + 1]:
            given += held * dangling
        else:
            given += held * (kept if kept > 0 else equal * share[page])
    return given


def greedy(
    count: int,
    winner: Targets,
    offsets: Positions,
    targets: Targets,
    share: Floats,
    kept: float,
    edges: float,
    dangling: float,
    cash: Floats,
    recorded: Floats,
    held_then: Floats,
    pages_then: Targets,
) -> float:
    """Read the page with most cash, count times; of equal ones the first by position.

    The virtual page's gift is the same for all, so it does not change who has most. A tournament
    tree over the pages holds the winner of each pair: a page that gains climbs while it wins, the
    page that was read loses all the way from its leaf to the root. Exact, O(log N) a change.
    winner: room for the tree, twice as long as the power of two that the pages fit into.
    pages_then: gets the pages, where held_then gets their cash.
    """
    n, width = len(cash), len(winner) // 2
    for node in range(width):
        winner[width + node] = min(node, n)  # n: nobody, at the leaves beyond the last page
    for node in range(width - 1, 0, -1):
        left, right = winner[2 * node], winner[2 * node + 1]
        winner[node] = right if right < n and cash[right] > cash[left] else left
    given, equal = 0.0, edges / len(cash)
    for visited in range(count):
        page = winner[1]
        held = cash[page] + given
        cash[page] = -given
        recorded[page] += held
        if len(held_then):
            held_then[visited], pages_then[visited] = held, page
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
        if offsets[page] == offsets[page + 1]:
            given += held * dangling
        else:
            given += held * (kept if kept > 0 else equal * share[page])
    return given


def spread(offsets: Positions, targets: Targets, share: Floats, cash: Floats, flow: Floats) -> None:
    """Add to flow what every page would give to its targets, if all gave at once."""
    for page in range(len(cash)):
        part = cash[page] * share[page]
        for k in range(offsets[page], offsets[page + 1]):
            flow[targets[k]] += part


def totals(e: Floats, h: Floats) -> tuple[float, float]:
    """The sums of both, a block at a time, so that rounding grows with the blocks and not with the
    pages."""
    of_e = of_h = 0.0
    for begin in range(0, len(e), BLOCK):
        block_e = block_h = 0.0
        for page in range(begin, min(begin + BLOCK, len(e))):
            block_e += e[page]
            block_h += h[page]
        of_e += block_e
        of_h += block_h
    return of_e, of_h


def deviations(
    e: Floats, mean: float, h: Floats, cash: Floats, g: float, adds: Positions, unit: float
) -> tuple[float, float, float]:
    """Sums of |e - mean| and of the slack unit (adds + 8) (h + cash + g), and the most that the two
    are together at a page."""
    apart = doubt = most = 0.0
    for begin in range(0, len(e), BLOCK):
        block_apart = block_doubt = 0.0
        for page in range(begin, min(begin + BLOCK, len(e))):
            far = abs(e[page] - mean)
            slack = unit * (adds[page] + 8) * (h[page] + cash[page] + g)
            block_apart += far
            block_doubt += slack
            most = max(most, far + slack)
        apart += block_apart
        doubt += block_doubt
    return apart, doubt, most
