"""The lines that passes of HITS work on, and what a half of a pass tells.

A line is `id<TAB>authority hub probe<TAB>I:id,id,…<TAB>O:id,id,…`: three numbers, the sources of
the links to the page, and the targets of its own. All pages have one; `dummy` has none. Authorities
and hubs are sums as they came; whoever reads them divides by the length of all of them, which the
driver knows by then. A task holds one line at a time: some 100 bytes for each link of a page.

The probe is a random number first. With it the driver bounds how far the second largest singular
value is from the first (pipeline/engines/text/hits_rounds.py).
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from crawlrank.jobs.kernel.errors import BadLine
from crawlrank.jobs.kernel.rank.plain_round import exact_parts

SEED = 20030520  # of the random numbers
BLOCK = 4096  # numbers that are summed at a time

_LINE = re.compile(rb"(\d{1,18})\t(\S+) (\S+) (\S+)\tI:([\d,]*)\tO:([\d,]*)")


class HitsLine(NamedTuple):
    id: bytes
    authority: float
    hub: float
    probe: float
    sources: bytes
    targets: bytes

    @property
    def links_in(self) -> list[bytes]:
        return self.sources.split(b",") if self.sources else []

    @property
    def links_out(self) -> list[bytes]:
        return self.targets.split(b",") if self.targets else []


def first_line(node: bytes, sources: list[bytes], targets: bytes) -> HitsLine:
    """The line of a page that passes start from. sources: in any order."""
    probe = random.Random(SEED << 64 | int(node)).gauss(0.0, 1.0) if targets else 0.0
    return HitsLine(node, 1.0, 0.0, probe, b",".join(sorted(sources, key=int)), targets)


def parse_hits_line(line: bytes) -> HitsLine:
    if not (match := _LINE.fullmatch(line)):
        shown = line[:60].decode("utf-8", "replace")
        raise BadLine(shown or "an empty line", "`id<TAB>three numbers<TAB>I:id,…<TAB>O:id,…`")
    node, authority, hub, probe, sources, targets = match.groups()
    numbers = float(authority), float(hub), float(probe)
    if not all(map(math.isfinite, numbers)):
        raise BadLine(f"a number of id {node.decode()} that is none", "three finite numbers")
    return HitsLine(node, *numbers, sources, targets)


def format_hits_line(row: HitsLine) -> bytes:
    numbers = f"{row.authority!r} {row.hub!r} {row.probe!r}".encode()
    return b"%s\t%s\tI:%s\tO:%s" % (row.id, numbers, row.sources, row.targets)


@dataclass
class HalfSums:
    """Sums over the pages that one reducer wrote; those of all reducers merge to those of the half.

    in_max, out_max: the most links to and from a page. squares: of the new numbers, exact in a few
    doubles. weighed: of their squares, each times the relevance of the page. total: of the new
    numbers. away: of the squares of what they differ by from the expected ones. old, along: of the
    products of new numbers with those before, and with hubs or probes. probes: of the squares of
    probes.
    """

    nodes: int = 0
    edges: int = 0
    dangling: int = 0
    in_max: int = 0
    out_max: int = 0
    squares: list[float] = field(default_factory=list)
    total: float = 0.0
    weighed: float = 0.0
    away: float = 0.0
    old: float = 0.0
    along: float = 0.0
    probes: float = 0.0

    def merge(self, other: HalfSums) -> None:
        """Add the sums of another reducer of the same half."""
        for name, value in asdict(other).items():
            own = getattr(self, name)
            setattr(self, name, max(own, value) if name.endswith("_max") else own + value)
        self.squares = exact_parts(self.squares)

    @property
    def length(self) -> float:
        """The root of the sum of the squares."""
        return math.sqrt(math.fsum(self.squares))


class Tally:
    """Sums of one reducer, each correctly rounded within a block of pages."""

    def __init__(self) -> None:
        self._sums = HalfSums()
        self._block: dict[str, list[float]] = {}
        self._held = 0

    def count(self, row: HitsLine) -> None:
        """A page."""
        indegree, outdegree = (
            ends.count(b",") + 1 if ends else 0 for ends in (row.sources, row.targets)
        )
        sums = self._sums
        sums.nodes += 1
        sums.edges += outdegree
        sums.dangling += not outdegree
        sums.in_max, sums.out_max = max(sums.in_max, indegree), max(sums.out_max, outdegree)

    def add(self, **terms: float) -> None:
        """A term of each of these sums."""
        for name, term in terms.items():
            self._block.setdefault(name, []).append(term)
        self._held += 1
        if self._held >= BLOCK:
            self._fold()

    def _fold(self) -> None:
        for name, terms in self._block.items():
            before = getattr(self._sums, name)
            if name == "squares":
                self._sums.squares = exact_parts([*before, *terms])
            else:
                setattr(self._sums, name, math.fsum([before, *terms]))
        self._block, self._held = {}, 0

    def sums(self) -> HalfSums:
        self._fold()
        return self._sums


def merged(parts: Iterable[dict[str, float]]) -> HalfSums:
    """The sums of a half, of those of its reducers."""
    sums = HalfSums()
    for part in parts:
        sums.merge(HalfSums(**part))  # type: ignore[arg-type]  # squares is a list
    return sums
