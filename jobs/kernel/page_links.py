"""Of what is found on a page, the links that the options keep, each target and hop once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from jobs.kernel.html_links import Found
from jobs.kernel.lines import Link
from jobs.kernel.link_rules import NAV_CONTEXTS

NAV_HOPS, ALL_HOPS = frozenset("LR"), frozenset("LREX")
_LETTERS = {hop: hop.encode() for hop in sorted(ALL_HOPS)}


class PageLinks:
    """The links of the page at hand, which may come from several places: its header, its body,
    its metadata.

    nav: keep L, R and frames only. drop: leave out what asks not to be followed. most: links of a
    page. counters: see `extract`; they are added to once for each place, as counting each link
    when it comes takes as long as all the rest of it.
    """

    def __init__(self, *, nav: bool, drop: bool, most: int, counters: Counter[str]) -> None:
        self._hops = NAV_HOPS if nav else ALL_HOPS
        self._drop, self._most, self._counters = drop, most, counters
        self.page = (b"", "")  # URI and time
        self._given: dict[str, set[bytes]] = {}  # by hop

    def begin(self, uri: bytes, timestamp: str) -> None:
        self.page, self._given = (uri, timestamp), {hop: set() for hop in _LETTERS}

    def add(self, source: bytes, found: Iterable[Found], origin: str) -> list[Link]:
        """Those that are new; origin: a document's name, `header` or `metadata`."""
        hops, given, links = self._hops, self._given, list[Link]()
        before = {hop: len(targets) for hop, targets in given.items()}
        room = self._most - sum(before.values())
        duplicates = 0
        for target, hop, context, nofollow in found:
            if hop not in hops and not (hop in ALL_HOPS and context.lower() in NAV_CONTEXTS):
                self._counters[f"dropped.hop.{hop}"] += 1
            elif nofollow and self._flagged():
                continue
            elif target in given[hop]:
                duplicates += 1
            elif len(links) >= room:
                self._count("dropped.over-limit", 1)
                break  # so that the rest need not even be joined
            else:
                given[hop].add(target)
                links.append(Link(target, source, _LETTERS[hop]))
        self._count("links", len(links))
        self._count(f"links.from.{origin}", len(links))
        for hop, targets in given.items():
            self._count(f"links.{hop}", len(targets) - before[hop])
        self._count("dropped.duplicate", duplicates)
        return links

    def _flagged(self) -> bool:
        """Count a link that asks not to be followed; whether it is dropped."""
        self._counters["flagged.nofollow"] += 1
        if self._drop:
            self._counters["dropped.nofollow"] += 1
        return self._drop

    def _count(self, name: str, count: int) -> None:
        if count:
            self._counters[name] += count
