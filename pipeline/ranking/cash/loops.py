"""The loops of OPIC and OPIC-HITS, compiled by numba when first used.

OPIC: a page's cash when it is read is what its sources gave since it was read last. In a cycle,
each of them was read once in between, so that cash is a sum over what the sources held when they
were read last. So a page takes what others give to it, by its incoming edges, and no edge is turned
around.

OPIC-HITS: both kinds of cash move along the incoming edges of the page that is read. Its authority
cash is summed from what its sources held as hubs, as in OPIC; the hub cash that it gives to them is
handed out at once.
"""

from __future__ import annotations

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.csr import Ids, Offsets
from crawlrank.pipeline.data.graph import Floats

UNIT = 2.0**-53
BLOCK = 1 << 12  # pages whose values are summed by themselves


@loop
def total(weights: Floats, values: Floats) -> float:
    """The sum of the products, each rounded once, with what the rounding of sums took away."""
    high = low = 0.0
    for page in range(len(values)):
        term = weights[page] * values[page]
        following = high + term
        part = following - high
        low += (high - (following - part)) + (term - part)
        high = following
    return high + low


@loop
def read_pages(
    offsets: Offsets, sources: Ids, share: Floats, start: float, held: Floats, virtual: float
) -> None:
    """Read all pages, one after the other. held: what each had when it was read last, changed in
    place. start: what each has besides that nobody gave. virtual: what all pages together gave to
    the virtual page when they were read last; it gives each page an N-th."""
    for page in range(len(held)):
        cash = start + virtual / len(held)
        for k in range(offsets[page], offsets[page + 1]):
            source = sources[k]
            cash += share[source] * held[source]
        virtual += share[page] * (cash - held[page])
        held[page] = cash


@loop
def imbalance(
    offsets: Offsets, sources: Ids, share: Floats, held: Floats, gift: float
) -> tuple[float, float, float, float]:
    """Sum of |r| and max|r| of r = held - A held - gift; then both with what rounding may have
    taken from each. A sum with its low part is wrong by UNIT and by the square of UNIT times its
    terms (Ogita, Rump, Oishi, Accurate Sum and Dot Product, SIAM J. Sci. Comput. 26, 2005)."""
    whole = most = sure = surest = 0.0
    for begin in range(0, len(held), BLOCK):
        block = block_sure = 0.0
        for page in range(begin, min(begin + BLOCK, len(held))):
            high = low = 0.0
            for k in range(offsets[page], offsets[page + 1]):
                term = share[sources[k]] * held[sources[k]]
                following = high + term
                part = following - high
                low += (high - (following - part)) + (term - part)
                high = following
            flow, terms = high + low, UNIT * (offsets[page + 1] - offsets[page])
            r = abs(held[page] - flow - gift)
            doubt = (8 * UNIT + terms * terms) * (held[page] + flow + gift)
            block += r
            block_sure += r + doubt
            most, surest = max(most, r), max(surest, r + doubt)
        whole += block
        sure += block_sure
    return whole, most, sure, surest


@loop
def kept_part(parents: int, part: float) -> float:
    """The part of its authority cash that a page does not give to its parents; what is no more than
    the rounding of the others is nothing."""
    kept = 1 - parents * part
    return kept if kept > 8 * UNIT else 0.0


@loop
def kept_back(offsets: Offsets, part: Floats, authority: Floats) -> float:
    """The authority cash that pages give to the virtual page, all together."""
    high = low = 0.0
    for page in range(len(authority)):
        term = kept_part(offsets[page + 1] - offsets[page], part[page]) * authority[page]
        following = high + term
        added = following - high
        low += (high - (following - added)) + (term - added)
        high = following
    return high + low


@loop
def read_both(
    offsets: Offsets,
    sources: Ids,
    share: Floats,
    part: Floats,
    start: float,
    authority: Floats,
    hub: Floats,
    waiting: Floats,
    kept: float,
    rest: float,
) -> None:
    """Read all pages, one after the other. authority, hub: what each had when it was read last.
    waiting: hub cash that a page got from pages since then. All three are changed in place. start:
    of either kind, what each has besides that nobody gave. kept, rest: what all pages together gave
    to the virtual page when they were read last, of authority and of hub cash."""
    n = len(hub)
    for page in range(n):
        cash, begin, end = start + kept / n, offsets[page], offsets[page + 1]
        for k in range(begin, end):
            cash += share[sources[k]] * hub[sources[k]]
        of_hub = start + rest / n + waiting[page]
        waiting[page] = 0.0
        kept += kept_part(end - begin, part[page]) * (cash - authority[page])
        rest += share[page] * (of_hub - hub[page])
        authority[page], hub[page] = cash, of_hub
        given = part[page] * cash
        for k in range(begin, end):
            waiting[sources[k]] += given


@loop
def hub_flow(
    offsets: Offsets, sources: Ids, part: Floats, authority: Floats, flow: Floats, low: Floats
) -> None:
    """What each page would get as a hub if all gave their authority cash, and what the rounding of
    that sum took away."""
    flow[:] = 0.0
    low[:] = 0.0
    for page in range(len(authority)):
        term = part[page] * authority[page]
        for k in range(offsets[page], offsets[page + 1]):
            source = sources[k]
            high = flow[source]
            following = high + term
            added = following - high
            low[source] += (high - (following - added)) + (term - added)
            flow[source] = following


@loop
def authority_flow(
    offsets: Offsets, sources: Ids, share: Floats, hub: Floats, flow: Floats
) -> None:
    """What each page would get as an authority if all gave their hub cash."""
    for page in range(len(flow)):
        high = low = 0.0
        for k in range(offsets[page], offsets[page + 1]):
            term = share[sources[k]] * hub[sources[k]]
            following = high + term
            added = following - high
            low += (high - (following - added)) + (term - added)
            high = following
        flow[page] = high + low


@loop
def differences(
    held: Floats, flow: Floats, degrees: Ids | Offsets, gift: float, mean: float
) -> tuple[float, float, float, float]:
    """Sum of |r| and max|r| of r = held - flow - gift; then both with what rounding may have
    taken from each. degrees: terms of each flow. mean: all cash by the pages, for the rounding of
    the parts that go to the virtual page."""
    whole = most = sure = surest = 0.0
    for begin in range(0, len(held), BLOCK):
        block = block_sure = 0.0
        for page in range(begin, min(begin + BLOCK, len(held))):
            r, terms = abs(held[page] - flow[page] - gift), UNIT * degrees[page]
            doubt = (16 * UNIT + terms * terms) * (held[page] + flow[page] + gift + mean)
            block += r
            block_sure += r + doubt
            most, surest = max(most, r), max(surest, r + doubt)
        whole += block
        sure += block_sure
    return whole, most, sure, surest


@loop
def crossing(offsets: Offsets, sources: Ids, share: Floats, part: Floats) -> float:
    """At least how likely cash changes its kind before it comes back to the virtual page: the sum
    of both kinds, see opic_hits_cycles.py. It counts paths of one link."""
    likely = 0.0
    for page in range(len(share)):
        block, parents = 0.0, offsets[page + 1] - offsets[page]
        for k in range(offsets[page], offsets[page + 1]):
            block += share[sources[k]]
        likely += block * (part[page] + kept_part(parents, part[page]))
    return likely / len(share)
