"""Loops of Adaptive OPIC for jobs/kernel/machine/machine_code.py: reads with unequal weights of the
virtual page, and what windows keep. Definitions: simulation.py and windows.py. Reads with equal
weights are those of pipeline/ranking/opic_loops.py.
"""

from __future__ import annotations

from crawlrank.pipeline.data.graph import Floats, Positions, Targets


def favoured(
    order: Targets,
    greedy: bool,
    held_then: Floats,
    offsets: Positions,
    targets: Targets,
    share: Floats,
    rest: Floats,
    cash: Floats,
    recorded: Floats,
    weights: Floats,
    favour: Floats,
) -> float:
    """Read pages in order, or write into order those that have most cash, the first of equal ones.

    weights: of the virtual page's gifts; a page that is read gets its favour as weight. Cash is
    kept less what the virtual page had given when the page was read last, as in opic_loops.py.
    Returns that gift for a weight of 1; the caller adds it. Greedy takes O(N) a read: gifts change
    who has most.
    """
    total, given = weights.sum(), 0.0
    for visited in range(len(order)):
        if greedy:
            most = -1.0
            for page in range(len(cash)):
                if cash[page] + given * weights[page] > most:
                    most, order[visited] = cash[page] + given * weights[page], page
        page = order[visited]
        held = cash[page] + given * weights[page]
        total += favour[page] - weights[page]
        weights[page] = favour[page]
        cash[page] = -given * weights[page]
        recorded[page] += held
        held_then[visited] = held
        for k in range(offsets[page], offsets[page + 1]):
            cash[targets[k]] += held * share[page]
        given += held * rest[page] / total
    return given


def last_reads(
    most: int,
    pages: Targets,
    cash: Floats,
    clock: Floats,
    sums: Floats,
    starts: Floats,
    ends: Floats,
    counts: Positions,
) -> None:
    """The last `most` reads of every page, from the log backwards: their cash, the clock of the
    last one, and of the read before them. starts: as they are where there is none before."""
    for k in range(len(pages) - 1, -1, -1):
        page = pages[k]
        if counts[page] < most:
            if counts[page] == 0:
                ends[page] = clock[k]
            sums[page] += cash[k]
            counts[page] += 1
        elif counts[page] == most:
            starts[page] = clock[k]
            counts[page] += 1  # one more than counted: the start is known
    for page in range(len(counts)):
        counts[page] = min(counts[page], most)


def interpolate(
    time: float, pages: Targets, cash: Floats, clock: Floats, history: Floats, last: Floats
) -> None:
    """The paper's update of a page's history at each of its reads. last: the clock of the read
    before."""
    for k in range(len(pages)):
        page = pages[k]
        since = clock[k] - last[page]
        if since < time:
            history[page] = history[page] * (time - since) / time + cash[k]
        else:
            history[page] = cash[k] * time / since
        last[page] = clock[k]
