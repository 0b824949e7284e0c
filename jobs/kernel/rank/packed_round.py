"""One round of PageRank in one partition: certificate of what enters, sweeps, what leaves.

    x'_i = base_i + damping (A x)_i,    A the share that a node gives along each of its edges

The vector that enters is the last one of the partition, z, mixed with earlier ones by the numbers
gammas (Anderson), and each group of it scaled by a factor (aggregation); whatever it is, the
residual x' - x is that of this very vector, and certifies x'. Then come sweeps of Gauss and Seidel
within the partition, up and down in turn; what other partitions contribute stays as it was.

No score depends on those of nodes that dangle: vectors are of linking nodes (packed_graph.py), and
what enters of the others is by definition what leaves.

State: plain = x', the scores to be written when this round is the last; step: from there to where
the sweeps led, h; change = h - z, and for each of the last rounds the differences of h and of
change to the round before. All but plain only steer: single precision is enough for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from crawlrank.jobs.kernel.rank import packed_loops as loops
from crawlrank.jobs.kernel.rank.array_types import Floats
from crawlrank.jobs.kernel.rank.equation import EVERYWHERE, RECIPE, Equation
from crawlrank.jobs.kernel.rank.packing import Array, Arrays, to_text
from crawlrank.jobs.kernel.rank.plain_round import DOUBT, UNIT, RoundSums

MEMORY = 5  # differences of earlier rounds that are mixed
SWEEPS = 10
ALONE = 40  # times SWEEPS, in a partition that has nobody to exchange with


class Partition(NamedTuple):
    """The sections of structure that a reducer reads, see packed_graph. teleport: float64 by row,
    or float64[1] for all."""

    linking: dict[str, Array]
    local: dict[str, Array]
    outgoing: dict[str, Array]
    equation: Equation = RECIPE
    teleport: Floats = EVERYWHERE

    @property
    def base(self) -> Floats:
        return self.equation.base * self.teleport

    @property
    def degrees(self) -> Array:
        return self.linking["degrees"]

    @property
    def nodes(self) -> int:
        return len(self.local["counts"])


class Entering(NamedTuple):
    """z: the mixed vector. x: that, scaled; the one that the round is about."""

    z: Floats
    x: Floats


class Inflow(NamedTuple):
    """What other partitions contribute to each node, in two parts."""

    high: Floats
    low: Floats


class GroupSums(NamedTuple):
    """Sums of a partition's groups, from `first` on: flows to each group of all, float64[own *
    all], and the scores in sum."""

    first: int
    flows: Floats
    weights: Floats

    def as_json(self) -> dict[str, Any]:
        flows = to_text({"flows": self.flows}).decode()
        return {"first_group": self.first, "flows": flows, "weights": self.weights.tolist()}


class Left(NamedTuple):
    """What a round leaves: state, new scores of nodes that dangle, the round's sums, and what
    steers the next one."""

    state: dict[str, Array]
    dangling: Floats
    sums: RoundSums
    products: dict[str, Any]
    groups: GroupSums


def entering(
    state: Arrays,
    linking: Arrays,
    gammas: Sequence[float],
    factors: Sequence[float],
    base: Floats,
) -> Entering:
    """The vector that enters a round. factors: of all groups, or none. base: of all rows, or one
    number for all."""
    z = _last(state)
    for number, gamma in enumerate(gammas):
        z -= gamma * state[f"moved_{number}"]
    if gammas:
        np.maximum(z, base[: len(z)], out=z)
    if not factors:
        return Entering(z, z)
    first, sizes = int(linking["first_group"][0]), linking["groups"]
    return Entering(z, z * np.repeat(np.array(factors)[first : first + len(sizes)], sizes))


def _last(state: Arrays) -> Floats:
    plain: Floats = state["plain"].astype(np.float64)
    return plain + state["step"] if "step" in state else plain


def contributions(x: Floats, linking: Arrays, outgoing: Arrays) -> list[Floats]:
    """The numbers for each partition, in its order."""
    counts = outgoing["counts"]
    sums = np.empty(len(counts))
    loops.contributions(counts, outgoing["sources"], x / linking["degrees"], sums)
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
    """x' of all rows, and the sums of the round. span: no sum has more terms, in any partition."""
    degrees, plain, equation = part.degrees, np.empty(part.nodes), part.equation
    doubt = DOUBT + (span * UNIT) ** 2
    old, new, signed, absolute, largest, relative, share, least, shifted, dangling = loops.image(
        part.local["counts"], part.local["sources"], x / degrees, x, *inflow,
        part.base, equation.damping, doubt, shift / equation.base, plain,
    )  # fmt: skip
    sums = RoundSums(
        nodes=part.nodes, edges=int(degrees.sum()), dangling=part.nodes - len(x),
        old_l1=old, new_l1=new, residual_sum=signed, residual_l1=absolute, residual_max=largest,
        relative_max=relative, share_max=share, least=least, damping=equation.damping,
        shift=shift, shifted_l1=shifted, dangling_new=dangling,
    )  # fmt: skip
    return plain, sums


def swept(part: Partition, x: Floats, inflow: Inflow) -> Floats:
    """The scores of linking nodes after SWEEPS passes."""
    counts = part.local["counts"][: len(x)]
    offsets = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    y, scores, received_sums = x / part.degrees, x.copy(), inflow.high + inflow.low
    graph = (offsets, part.local["sources"], part.degrees)
    terms = (received_sums, part.base, part.equation.damping)
    for number in range(SWEEPS):
        loops.sweep(*graph, *terms, y, scores, number % 2 == 1)
    return scores


def one_round(
    part: Partition, state: Arrays, enters: Entering, inflow: Inflow, span: int, groups: int
) -> Left:
    """A round of a partition among others. groups: of all partitions; 1 for no flows."""
    plain, sums = image(part, enters.x, inflow, span)
    scores = swept(part, enters.x, inflow)
    links = len(scores)
    kept = _state(plain[:links], scores, enters.z, state)
    received_sums = (inflow.high + inflow.low)[links:]
    between = _group_sums(part, scores, received_sums, groups)
    return Left(kept, plain[links:], sums, _products(kept), between)


def alone(part: Partition, x: Floats, span: int, tolerance: float) -> Left:
    """All rounds of the only partition at once, to a certificate of the tolerance if it can be."""
    nothing = Inflow(np.zeros(part.nodes), np.zeros(part.nodes))
    plain, sums = image(part, x, nothing, span)
    for _ in range(ALONE):
        if sums.certificate <= tolerance:
            break
        x = swept(part, x, nothing)
        plain, sums = image(part, x, nothing, span)
    none = GroupSums(0, np.zeros(0), np.zeros(0))
    return Left({"plain": plain[: len(x)]}, plain[len(x) :], sums, _products({}), none)


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
    gram = [[_dot(row, column) for column in known] for row in known]
    return {"gram": gram, "right": [_dot(row, change) for row in known]}


def _dot(first: Floats, second: Floats) -> float:
    """The product, summed in an order that does not depend on the threads of a library."""
    return float(np.sum(first * second))


def _group_sums(part: Partition, scores: Floats, received_sums: Floats, groups: int) -> GroupSums:
    """After the sweeps. received_sums: what other partitions contribute to nodes that dangle."""
    flows, inside = flows_of(part, scores, groups)
    sizes, dangling = part.linking["groups"], part.linking["dangling"]
    reached = inside.sum(axis=0) + sums_of(received_sums, dangling)
    equation = part.equation
    starts = equation.base * started(part, len(scores), dangling)
    weights = sums_of(scores, sizes) + starts + equation.damping * reached
    return GroupSums(int(part.linking["first_group"][0]), flows.ravel(), weights)


def started(part: Partition, begin: int, lengths: Array) -> Floats:
    """The sum of the weights of each group of rows, the first of which is `begin`."""
    if len(part.teleport) == 1:
        return lengths.astype(float)
    return sums_of(part.teleport[begin : begin + int(lengths.sum())], lengths)


def sums_of(values: Floats, lengths: Array) -> Floats:
    """The sum of each group of values; groups come one after another."""
    groups = np.repeat(np.arange(len(lengths)), lengths)
    return np.bincount(groups, values, len(lengths)).astype(float)


def flows_of(part: Partition, scores: Floats, groups: int) -> tuple[Floats, Floats]:
    """What goes from each own group to each group of all, and to the nodes of each own group that
    dangle: float64[own, all] and [own, own]."""
    sizes, first = part.linking["groups"], int(part.linking["first_group"][0])
    names = np.arange(len(sizes), dtype=np.uint32)
    own, dangling = np.repeat(names, sizes), np.repeat(names, part.linking["dangling"])
    abroad_flows, inside = np.zeros((len(sizes), groups)), np.zeros((len(sizes), len(sizes)))
    y = scores / part.degrees
    counts, sources = part.local["counts"], part.local["sources"]
    rows, edges = len(scores), int(counts[: len(scores)].sum())
    here = own + np.uint32(first)
    loops.flows(counts[:rows], sources[:edges], y, own, here, groups, abroad_flows.ravel())
    loops.flows(counts[rows:], sources[edges:], y, own, dangling, len(sizes), inside.ravel())
    abroad = np.repeat(np.arange(groups, dtype=np.uint32), part.outgoing["groups"])
    counts, sources = part.outgoing["counts"], part.outgoing["sources"]
    loops.flows(counts, sources, y, own, abroad, groups, abroad_flows.ravel())
    abroad_flows[:, first : first + len(sizes)] += inside
    return abroad_flows, inside
