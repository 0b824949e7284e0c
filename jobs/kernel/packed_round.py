"""One round of PageRank in one partition: certificate of what enters, sweeps, what leaves.

    x' = 0.15 + 0.85 A x,    A the share that a node gives along each of its edges

The vector that enters is the last one of the partition, z, mixed with earlier ones by the numbers
gammas (Anderson), and each group of it scaled by a factor (aggregation); whatever it is, the
residual x' - x is that of this very vector, and certifies x'. Then come sweeps of Gauss and Seidel
within the partition, up and down in turn; what other partitions contribute stays as it was.

State: plain = x', the scores to be written when this round is the last; step: from there to where
the sweeps led, h; change = h - z, and for each of the last rounds the differences of h and of
change to the round before. All but plain only steer: single precision is enough for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from jobs.kernel import packed_loops as loops
from jobs.kernel.packing import Array, Arrays
from jobs.kernel.rank import BASE, DOUBT, UNIT, RoundSums

Floats = npt.NDArray[np.float64]
MEMORY = 2  # differences of earlier rounds that are mixed
SWEEPS = 5
ALONE = 40  # times SWEEPS, in a partition that has nobody to exchange with


class Partition(NamedTuple):
    """The sections of structure that a reducer reads, see packed_graph."""

    nodes: dict[str, Array]
    local: dict[str, Array]
    outgoing: dict[str, Array]

    @property
    def degrees(self) -> Array:
        return self.nodes["degrees"]


class Entering(NamedTuple):
    """z: the mixed vector. x: that, scaled; the one that the round is about."""

    z: Floats
    x: Floats


class Inflow(NamedTuple):
    """What other partitions contribute to each node, in two parts."""

    high: Floats
    low: Floats


class Left(NamedTuple):
    """What a round leaves: the state, the round's sums, and what steers the next one; flows and
    weights are of the groups from first_group on."""

    state: dict[str, Array]
    sums: RoundSums
    products: dict[str, Any]
    first_group: int
    flows: Floats
    weights: Floats


def entering(
    state: Arrays, nodes: Arrays, gammas: Sequence[float], factors: Sequence[float]
) -> Entering:
    """The vector that enters a round. factors: of all groups, or none."""
    z = _last(state)
    for number, gamma in enumerate(gammas):
        z -= gamma * state[f"moved_{number}"]
    if gammas:
        np.maximum(z, BASE, out=z)
    if not factors:
        return Entering(z, z)
    first, sizes = int(nodes["first_group"][0]), nodes["groups"]
    return Entering(z, z * np.repeat(np.array(factors)[first : first + len(sizes)], sizes))


def _last(state: Arrays) -> Floats:
    plain: Floats = state["plain"].astype(np.float64)
    return plain + state["step"] if "step" in state else plain


def shares_of(x: Floats, degrees: Array) -> Floats:
    """What every node gives along each of its edges."""
    y = np.zeros(len(x))
    np.divide(x, degrees, out=y, where=degrees > 0)
    return y


def contributions(x: Floats, nodes: Arrays, outgoing: Arrays) -> list[Floats]:
    """The numbers for each partition, in its order."""
    counts = outgoing["counts"]
    sums = np.empty(len(counts))
    loops.contributions(counts, outgoing["sources"], shares_of(x, nodes["degrees"]), sums)
    return np.split(sums, np.cumsum(outgoing["lengths"])[:-1])


def received(nodes: int, incoming: Arrays, numbers: Sequence[Floats]) -> Inflow:
    """The sums of what came from all partitions, added in the order of these."""
    inflow = Inflow(np.zeros(nodes), np.zeros(nodes))
    ends = np.cumsum(incoming["lengths"]).tolist()
    for values, length, end in zip(numbers, incoming["lengths"].tolist(), ends, strict=True):
        if len(values) != length:
            raise AssertionError(f"{len(values)} contributions where {length} are due")
        if length:
            loops.receive(incoming["rows"][end - length : end], values, *inflow)
    return inflow


def image(
    part: Partition, x: Floats, inflow: Inflow, span: int, shift: float = 0.0
) -> tuple[Floats, RoundSums]:
    """x' and the sums of the round. span: no sum has more terms, in any partition."""
    degrees, plain = part.degrees, np.empty(len(x))
    y = shares_of(x, degrees)
    doubt = DOUBT + (span * UNIT) ** 2
    old, new, signed, absolute, largest, shifted, dangling = loops.image(
        part.local["counts"], part.local["sources"], degrees, y, x, *inflow, doubt, shift, plain
    )
    sums = RoundSums(
        nodes=len(x), edges=int(degrees.sum()), dangling=int((degrees == 0).sum()),
        old_l1=old, new_l1=new, residual_sum=signed, residual_l1=absolute, residual_max=largest,
        shift=shift, shifted_l1=shifted, dangling_new=dangling,
    )  # fmt: skip
    return plain, sums


def swept(part: Partition, x: Floats, inflow: Inflow) -> Floats:
    """The scores after SWEEPS passes."""
    offsets = np.concatenate(([0], np.cumsum(part.local["counts"], dtype=np.int64)))
    y, scores, given = shares_of(x, part.degrees), x.copy(), inflow.high + inflow.low
    for number in range(SWEEPS):
        loops.sweep(
            offsets, part.local["sources"], part.degrees, given, y, scores,
            number % 2 == 1, number == SWEEPS - 1,
        )  # fmt: skip
    return scores


def one_round(
    part: Partition, state: Arrays, enters: Entering, inflow: Inflow, span: int, groups: int
) -> Left:
    """A round of a partition among others. groups: of all partitions; 1 for no flows."""
    plain, sums = image(part, enters.x, inflow, span)
    scores = swept(part, enters.x, inflow)
    kept = _state(plain, scores, enters.z, state)
    first, flows, weights = _flows(part, scores, groups)
    return Left(kept, sums, _products(kept), first, flows, weights)


def alone(part: Partition, x: Floats, span: int, tolerance: float) -> Left:
    """All rounds of the only partition at once, to a certificate of the tolerance if it can be."""
    nothing = Inflow(np.zeros(len(x)), np.zeros(len(x)))
    plain, sums = image(part, x, nothing, span)
    for _ in range(ALONE):
        if sums.certificate <= tolerance:
            break
        x = swept(part, x, nothing)
        plain, sums = image(part, x, nothing, span)
    return Left({"plain": plain}, sums, _products({}), 0, np.zeros(0), np.zeros(0))


def _state(plain: Floats, scores: Floats, z: Floats, before: Arrays) -> dict[str, Array]:
    step, change = (scores - plain).astype(np.float32), (scores - z).astype(np.float32)
    kept: dict[str, Array] = {"plain": plain, "step": step, "change": change}
    if "change" not in before:
        return kept
    kept["moved_0"] = (scores - _last(before)).astype(np.float32)
    kept["changed_0"] = change - before["change"]
    for number in range(1, MEMORY):
        for name in ("moved", "changed"):
            if (older := f"{name}_{number - 1}") in before:
                kept[f"{name}_{number}"] = before[older]
    return kept


def _products(state: Arrays) -> dict[str, Any]:
    """Inner products of the last changes' differences, with each other and with the change."""
    known = [state[f"changed_{k}"].astype(float) for k in range(MEMORY) if f"changed_{k}" in state]
    change = state["change"].astype(float) if known else np.zeros(0)
    gram = [[_dot(one, other) for other in known] for one in known]
    return {"gram": gram, "right": [_dot(one, change) for one in known]}


def _dot(one: Floats, other: Floats) -> float:
    """In an order that does not depend on the threads of a library."""
    return float(np.sum(one * other))


def _flows(part: Partition, scores: Floats, groups: int) -> tuple[int, Floats, Floats]:
    """The first group of the partition; what goes from each of its groups to each group of all; the
    scores of its groups in sum."""
    sizes, first = part.nodes["groups"], int(part.nodes["first_group"][0])
    own = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    found = np.zeros(len(sizes) * groups)
    y = shares_of(scores, part.degrees)
    here = own + np.uint32(first)
    loops.flows(part.local["counts"], part.local["sources"], y, own, here, groups, found)
    abroad = np.repeat(np.arange(groups, dtype=np.uint32), part.outgoing["groups"])
    loops.flows(part.outgoing["counts"], part.outgoing["sources"], y, own, abroad, groups, found)
    return first, found, np.bincount(own, scores, len(sizes)).astype(float)
