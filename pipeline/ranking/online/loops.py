"""The loops of opic.py, compiled by numba when first used.

A page's cash when it is read is what its sources gave since it was read last. In a cycle, each of
them was read once in between, so that cash is a sum over what the sources held when they were read
last. So a page takes what others give to it, by its incoming edges, and no edge is turned around.
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
    """Read all pages, one behind the other. held: what each had when it was read last, changed in
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
    """Of r = held - A held - gift: sum of |r| and max|r|; then the same with what rounding may have
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
