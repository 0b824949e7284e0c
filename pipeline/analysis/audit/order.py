"""How well an order of fetches keeps to classes: Kendall's tau-b, exactly, in one pass.

A group of n URIs, fetched one after the other, has n0 = n(n-1)/2 pairs, of which n2 are of one
class (ties). W of the others are in the wrong order: the URI of the later class came first. Then

    tau_b = (n0 - n2 - 2 W) / sqrt(n0 (n0 - n2))        (Kendall 1945; no ties among positions)

It is sqrt(1 - n2 / n0) at best, as URIs of one class are fetched at different times.

There are at most CLASSES classes, as Heritrix keeps a precedence within a queue in a byte. So W
grows by the number of earlier URIs of a later class, which is a sum over counts: n * CLASSES steps,
memory of CLASSES counts a group, no sort. Tests compare with scipy.stats.kendalltau.

Which URIs of a host came after most URIs of later classes of the same host.

A queue of Heritrix counts as its best waiting URI. So a URI that cannot be fetched yet, or that is
found late, puts the worse URIs before it ahead of other hosts. A URI that was tried without an
answer (forbidden by robots.txt, beyond a limit) is one, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.analysis.audit.entries import HOST, UNORDERED_HOPS, arrays, label
from crawlrank.pipeline.data.arrays import Int64Array
from crawlrank.pipeline.data.database import feed

CLASSES = 256
AT_ONCE = 4096  # rows of a batch; each may be a group of its own
KEPT = 1000  # groups whose measures are kept


@loop
def count_wrong(counts: Any, wrong: Any, groups: Any, classes: Any) -> None:
    """Add rows in the order of fetches. counts: int64[groups, CLASSES], wrong: int64[groups]."""
    for row in range(len(classes)):
        group, number = groups[row], classes[row]
        later = 0
        for later_class in range(number + 1, counts.shape[1]):
            later += counts[group, later_class]
        wrong[group] += later
        counts[group, number] += 1


@dataclass(frozen=True)
class Measure:
    """The order within a group, or within several. pairs: of URIs of different classes. wrong:
    those in the wrong order. ties: pairs of one class."""

    uris: int
    pairs: int
    wrong: int
    ties: int

    @property
    def kept(self) -> float | None:
        """The share of the pairs that are in order, None without pairs."""
        return 1 - self.wrong / self.pairs if self.pairs else None

    @property
    def tau_b(self) -> float | None:
        if not self.pairs:
            return None
        return (self.pairs - 2 * self.wrong) / math.sqrt(self.pairs * (self.pairs + self.ties))

    @property
    def best(self) -> float | None:
        """The largest tau-b that these classes allow."""
        return math.sqrt(self.pairs / (self.pairs + self.ties)) if self.pairs else None

    def __add__(self, other: Measure) -> Measure:
        return Measure(
            self.uris + other.uris, self.pairs + other.pairs,
            self.wrong + other.wrong, self.ties + other.ties,
        )  # fmt: skip

    def __sub__(self, other: Measure) -> Measure:
        """The pairs between groups, if `other` has those within them."""
        return Measure(
            self.uris, self.pairs - other.pairs, self.wrong - other.wrong, self.ties - other.ties
        )


NOTHING = Measure(0, 0, 0, 0)


def measure(counts: Int64Array, wrong: int) -> Measure:
    """The measure from counts by class."""
    total = int(counts.sum())
    ties = sum(count * (count - 1) // 2 for count in map(int, counts[counts > 1]))
    return Measure(total, total * (total - 1) // 2 - ties, wrong, ties)


class Orders:
    """The order within each of some groups, numbered from 0."""

    def __init__(self, groups: int) -> None:
        self._counts = np.zeros((groups, CLASSES), np.int64)
        self._wrong = np.zeros(groups, np.int64)

    def add(self, groups: npt.NDArray[Any], classes: npt.NDArray[Any]) -> None:
        """Rows in the order of fetches."""
        rows = groups.astype(np.int64, copy=False), classes.astype(np.int64, copy=False)
        count_wrong(self._counts, self._wrong, *rows)

    def measures(self) -> dict[int, Measure]:
        """The measures by group, without the empty ones."""
        groups = np.flatnonzero(self._counts.any(axis=1))
        return {int(g): measure(self._counts[g], int(self._wrong[g])) for g in groups}


class ManyOrders:
    """The order within each of any number of groups, whose rows come group by group.

    within: all pairs within a group. groups: how many there are. kept: groups whose measures are
    kept.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._most, self._open = kept, -1
        self._counts, self._wrong = np.zeros(CLASSES, np.int64), 0
        self._kept: list[tuple[int, Measure]] = []
        self.within, self.groups = NOTHING, 0

    def add(self, groups: Int64Array, classes: npt.NDArray[Any]) -> None:
        """groups: ascending numbers, from batch to batch too."""
        for at in range(0, len(groups), AT_ONCE):
            self._add(groups[at : at + AT_ONCE], classes[at : at + AT_ONCE])

    def _add(self, groups: Int64Array, classes: npt.NDArray[Any]) -> None:
        numbers, rows = np.unique(groups, return_inverse=True)
        counts = np.zeros((len(numbers), CLASSES), np.int64)
        wrong = np.zeros(len(numbers), np.int64)
        if numbers[0] == self._open:
            counts[0], wrong[0] = self._counts, self._wrong
        else:
            self._close()
        count_wrong(counts, wrong, rows.astype(np.int64), classes.astype(np.int64))
        for number, row, bad in zip(numbers[:-1], counts[:-1], wrong[:-1], strict=True):
            self._keep(int(number), measure(row, int(bad)))
        self._open, self._counts, self._wrong = int(numbers[-1]), counts[-1], int(wrong[-1])

    def _close(self) -> None:
        if self._open >= 0:
            self._keep(self._open, measure(self._counts, self._wrong))
        self._open = -1

    def _keep(self, number: int, order: Measure) -> None:
        self.groups += 1
        self.within += order
        self._kept.append((number, order))
        if len(self._kept) >= 10 * self._most:
            self._kept = self._sorted()

    def _sorted(self) -> list[tuple[int, Measure]]:
        return sorted(self._kept, key=lambda kept: (-kept[1].uris, kept[0]))[: self._most]

    def end(self) -> list[tuple[int, Measure]]:
        """After the last row: the kept groups, those with most rows, then by number."""
        self._close()
        return self._sorted()


SHOWN = 5  # URIs, one a host
ROWS = pa.schema([("position", pa.int64()), ("behind", pa.int64())])
LEAST = 10  # URIs of later classes before one that is worth a line


class Holder(NamedTuple):
    """A URI, and how many URIs of later classes of its host came before it. status: of its
    answer, or of its first line in the log if there is none."""

    host: str
    uri: str
    precedence: str
    status: int
    behind: int


@loop
def count_behind(counts: Any, groups: Any, classes: Any, behind: Any) -> None:
    """For each row the rows of its group before it that have a later class. counts: int64[CLASSES +
    1], of the group that is open, whose number is the last."""
    most = len(counts) - 1
    for row in range(len(classes)):
        if groups[row] != counts[most]:
            counts[:] = 0
            counts[most] = groups[row]
        later = 0
        for number in range(classes[row] + 1, most):
            later += counts[number]
        behind[row] = later
        counts[classes[row]] += 1


def find_holders(db: duckdb.DuckDBPyConnection) -> list[Holder]:
    """The URI of each host that came after most URIs of later classes, the one with most first. db:
    with the tables of entries.py."""
    feed(db, "rows", ROWS, _behind(db.cursor()))
    query = (
        f"SELECT {HOST}, uri, class, status, behind FROM rows JOIN seen USING (position)"
        f" WHERE behind >= {LEAST}"
        f" QUALIFY row_number() OVER (PARTITION BY {HOST} ORDER BY behind DESC, position) = 1"
        f" ORDER BY behind DESC, position LIMIT {SHOWN}"
    )
    holders = db.execute(query).fetchall()
    db.unregister("rows")
    return [Holder(host, uri, label(number), *rest) for host, uri, number, *rest in holders]


def _behind(db: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    unordered = ", ".join(str(ord(hop)) for hop in UNORDERED_HOPS)
    query = (
        f"SELECT dense_rank() OVER (ORDER BY {HOST}) AS number, class, position FROM seen WHERE"
        f" class IS NOT NULL AND hop NOT IN ({unordered}) AND uri LIKE 'http%'"
        " ORDER BY number, position"
    )
    counts = np.full(CLASSES + 1, -1)
    for rows in arrays(db, query):
        behind = np.zeros(len(rows["class"]), np.int64)
        count_behind(counts, rows["number"], rows["class"], behind)
        yield pa.record_batch([pa.array(rows["position"]), pa.array(behind)], ROWS)
