"""Classes of nodes by the rows at their boundaries, for tasks that see some nodes each.

The equations are those of pipeline/ranking/classes.py for ties by key and by links. A node's class
is 1 more than the number of boundaries before it. The first and the last class that its exact score
may give it are found likewise: what it may be at most is compared with the boundaries in the order
of what the others are at least, and the reverse.

A position is text whose byte order is the order of nodes: a score as `descending` writes it, then
the name of the node, which orders nodes of equal scores.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from crawlrank.jobs.kernel.formats.order import descending

if TYPE_CHECKING:
    from crawlrank.jobs.kernel.rank.array_types import Floats

PLACE, MOST, LEAST = b"P", b"H", b"L"  # the orders: by the score, and by its ends


class NodeRow(NamedTuple):
    score: float
    name: bytes
    captured: bool


@dataclass(frozen=True)
class ScoreErrors:
    """digits: that scores share which count as equal. eta, absolute: bounds of the error of a
    score, relative to the exact one and in its unit."""

    digits: int
    eta: float = 0.0
    absolute: float = math.inf

    @property
    def any(self) -> bool:
        return self.eta > 0 and self.absolute > 0

    @property
    def may_be_0(self) -> float:
        """The largest score that cannot be told from 0."""
        return self.absolute if self.eta == math.inf else 0.0

    def positions(self, rows: Sequence[NodeRow]) -> dict[bytes, list[bytes]]:
        """By order; those of the ends only where scores have errors."""
        import numpy as np

        from crawlrank.jobs.kernel.rank.rounding import rounded_ends

        scores = np.array([row.score for row in rows], np.float64)
        result = {PLACE: self._positions(scores, rows)}
        if self.any:
            low, high = rounded_ends(scores, self.digits, self.eta, self.absolute)
            result[MOST], result[LEAST] = self._positions(high, rows), self._positions(low, rows)
        return result

    def _positions(self, values: Floats, rows: Sequence[NodeRow]) -> list[bytes]:
        before_all = b"0" * self.width  # of an infinite value
        return [
            (before_all if value == math.inf else descending(value, self.digits)) + row.name
            for value, row in zip(values.tolist(), rows, strict=True)
        ]

    @property
    def width(self) -> int:
        """Bytes of a score in a position."""
        return 4 + self.digits


def boundaries(nodes: int, bins: int) -> list[int]:
    """The nodes, counted from 1, after which another class begins, of those that classes are cut
    over."""
    return [-(-number * nodes // bins) for number in range(1, bins)]


@dataclass(frozen=True)
class Cuts:
    """Positions at the boundaries of classes by order. further: in the order of MOST, those one
    node after them, for nodes that are among those before a boundary themselves.

    over_captured: whether classes are cut over captured nodes alone. equal_bytes: of a position in
    which nodes are equal that their key alone orders.
    """

    bins: int
    over_captured: bool
    equal_bytes: int
    places: list[str]
    least: list[str] = field(default_factory=list)
    most: list[str] = field(default_factory=list)
    further: list[str] = field(default_factory=list)


@dataclass
class NodeCounts:
    """near: those whose class is open. after: those after a boundary among equal nodes."""

    nodes: int = 0
    captured: int = 0
    near: int = 0
    after: int = 0
    highest: float = 0.0
    lowest: float = math.inf

    def add(self, other: NodeCounts) -> None:
        self.nodes += other.nodes
        self.captured += other.captured
        self.near += other.near
        self.after += other.after
        self.highest = max(self.highest, other.highest)
        self.lowest = min(self.lowest, other.lowest)


class CutNodes:
    """Counts of nodes: by class, and of those that are equal to a node at a boundary. unscored:
    those whose score cannot be told from 0."""

    def __init__(self) -> None:
        self.classes: dict[str, NodeCounts] = {}
        self.equal: dict[str, NodeCounts] = {}
        self.unscored = 0

    def add(self, other: CutNodes) -> None:
        self.unscored += other.unscored
        for mine, theirs in ((self.classes, other.classes), (self.equal, other.equal)):
            for name, counts in theirs.items():
                mine.setdefault(name, NodeCounts()).add(counts)

    def to_json(self) -> dict[str, Any]:
        return {
            "classes": {name: asdict(counts) for name, counts in self.classes.items()},
            "equal": {name: asdict(counts) for name, counts in self.equal.items()},
            "unscored": self.unscored,
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> CutNodes:
        result = cls()
        result.unscored = value["unscored"]
        for mine, name in ((result.classes, "classes"), (result.equal, "equal")):
            mine.update({key: NodeCounts(**counts) for key, counts in value[name].items()})
        return result

    @property
    def near(self) -> int:
        return sum(counts.near for counts in self.classes.values())

    @property
    def by_key(self) -> NodeCounts:
        """Nodes that their key alone has placed: a boundary is among those that are equal."""
        result = NodeCounts()
        for counts in self.equal.values():
            if counts.after:
                result.add(counts)
        return result


class Cutter:
    """Cuts nodes, and counts them."""

    def __init__(self, cuts: Cuts, errors: ScoreErrors) -> None:
        self._errors, self._over_captured, self.bins = errors, cuts.over_captured, cuts.bins
        self._places, self._least, self._most, self._further = (
            [position.encode() for position in positions]
            for positions in (cuts.places, cuts.least, cuts.most, cuts.further)
        )
        self._equal_bytes = cuts.equal_bytes
        # the first boundary in each group of equal nodes
        self._groups = {first[: cuts.equal_bytes]: first for first in reversed(self._places)}
        self.counts = CutNodes()

    def placed(self, rows: Sequence[NodeRow]) -> list[tuple[bytes, int]]:
        """The place of each node, and its class."""
        places = self._errors.positions(rows)[PLACE] if rows else []
        return [(position, self._class(position)) for position in places]

    def count(self, rows: Sequence[NodeRow]) -> None:
        if not rows:
            return
        orders = self._errors.positions(rows)
        places = orders[PLACE]
        ends: Iterable[tuple[bytes, bytes]] = zip(
            orders.get(MOST, places), orders.get(LEAST, places), strict=True
        )
        for row, position, (most, least) in zip(rows, places, ends, strict=True):
            near = self._errors.any and self._is_near(row, most, least)
            self._count(row, position, near=near)

    def _class(self, position: bytes) -> int:
        return 1 + bisect_left(self._places, position)

    def _is_near(self, row: NodeRow, most: bytes, least: bytes) -> bool:
        counts_itself = (row.captured or not self._over_captured) and most < least
        latest = self._further if counts_itself else self._most
        return bisect_left(self._least, most) != bisect_left(latest, least)

    def _count(self, row: NodeRow, position: bytes, *, near: bool) -> None:
        self.counts.unscored += row.score <= self._errors.may_be_0
        own = NodeCounts(1, row.captured, near, 0, row.score, row.score)
        self.counts.classes.setdefault(str(self._class(position)), NodeCounts()).add(own)
        group = position[: self._equal_bytes]
        if first := self._groups.get(group):
            own.after = position > first
            self.counts.equal.setdefault(group.decode(), NodeCounts()).add(own)
