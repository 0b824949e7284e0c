"""Of what is found on a page, the links that the options keep, each target and hop once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import repeat

from jobs.kernel.formats.rows import UNKNOWN, Link
from jobs.kernel.links.html_links import Run
from jobs.kernel.links.link_rules import NAV_CONTEXTS

NAV_HOPS, ALL_HOPS = frozenset("LR"), frozenset("LREX")
CANONICAL = "C"
_link = partial(tuple.__new__, Link)  # in half the time of Link(target, source, hop, when)
_COUNTED = {hop: (hop.encode(), f"links.{hop}") for hop in (*sorted(ALL_HOPS), CANONICAL)}


class PageLinks:
    """The links of the page at hand, which may come from several places: its header, its body,
    its metadata.

    nav: keep L, R and frames only. drop: leave out what asks not to be followed. most: links of a
    page. canonical: keep hop C. timestamps: say of each link when its page was captured. counters:
    see `extract`; they are added to once for each run, as counting each link when it comes takes as
    long as all the rest of it.
    """

    def __init__(
        self,
        *,
        nav: bool,
        drop: bool,
        most: int,
        counters: Counter[str],
        canonical: bool = False,
        timestamps: bool = False,
    ) -> None:
        hops = NAV_HOPS if nav else ALL_HOPS
        self._hops = hops | {CANONICAL} if canonical else hops
        self._timestamps, self._timestamp = timestamps, UNKNOWN
        self._drop, self._most, self._counters = drop, most, counters
        self.page = (b"", "")  # URI and time
        self._given: dict[str, dict[bytes, None]] = {}  # by hop

    def begin(self, uri: bytes, timestamp: str) -> None:
        self.page, self._given = (uri, timestamp), {}
        if self._timestamps:
            self._timestamp = timestamp.encode() or UNKNOWN

    @property
    def room(self) -> int:
        """How many more links the page may have."""
        return self._most - sum([len(given) for given in self._given.values()])

    def add(self, source: bytes, found: Iterable[Run], origin: str) -> list[Link]:
        """Those that are new; origin: a document's name, `header` or `metadata`."""
        links, counters = list[Link](), self._counters
        room = self.room
        for targets, hop, context, nofollow in found:
            if not targets or not self._keeps(targets, hop, context, nofollow):
                continue
            letter, counted = _COUNTED[hop]
            new, given = dict.fromkeys(targets), self._given.get(hop)
            if given is not None:
                new = dict.fromkeys([target for target in new if target not in given])
            if len(new) < len(targets):
                counters["dropped.duplicate"] += len(targets) - len(new)
            is_full = len(links) + len(new) > room
            if is_full:
                counters["dropped.over-limit"] += 1
                new = dict.fromkeys([*new][: room - len(links)])
            if new:
                counters[counted] += len(new)
                links += map(
                    _link, zip(new, repeat(source), repeat(letter), repeat(self._timestamp))
                )
                if given is None:
                    self._given[hop] = new
                else:
                    given.update(new)
            if is_full:
                break  # so that the rest need not even be joined
        if links:
            counters["links"] += len(links)
            counters[f"links.from.{origin}"] += len(links)
        return links

    def _keeps(self, targets: list[bytes], hop: str, context: str, nofollow: bool) -> bool:
        """Whether links of this kind stay, all counted if not."""
        if hop not in self._hops and not (hop in ALL_HOPS and context.lower() in NAV_CONTEXTS):
            self._counters[f"dropped.hop.{hop}"] += len(targets)
            return False
        if not nofollow:
            return True
        self._counters["flagged.nofollow"] += len(targets)
        if self._drop:
            self._counters["dropped.nofollow"] += len(targets)
        return not self._drop
