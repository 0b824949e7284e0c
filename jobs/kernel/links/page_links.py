"""The links of a page that the options keep, each target and hop once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from crawlrank.jobs.kernel.formats.hops import CANONICAL_HOP, LINK_HOPS, NAV_HOPS
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, LinkRun
from crawlrank.jobs.kernel.links.html_links import LinkGroup
from crawlrank.jobs.kernel.links.link_rules import NAV_CONTEXTS
from crawlrank.jobs.kernel.links.reference_kinds import BETWEEN

_COUNTED = {hop: (hop.encode(), f"links.{hop}") for hop in LINK_HOPS + CANONICAL_HOP}


class PageLinks:
    """The links of the current page, from its header, its body and its metadata.

    nav: keep only NAV_HOPS and NAV_CONTEXTS. drop: leave out nofollow links. most: links of a page.
    canonical: keep hop C. timestamps: give each link the time of its page's capture, and the kinds
    of its references. counters: see `extract`; counted once for each group, as counting each link
    would double the time.
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
        hops = NAV_HOPS if nav else LINK_HOPS
        self._hops = frozenset(hops + CANONICAL_HOP * canonical)
        self._timestamps, self._timestamp = timestamps, UNKNOWN
        self._drop, self._most, self._counters = drop, most, counters
        self.page = (b"", "")  # URI and timestamp
        self.room = most  # for links of the page
        self._targets: dict[str, dict[bytes, None]] = {}  # of the page so far, by hop
        # by hop and target: the list that has the kinds of the link, and its index there
        self._kinds: dict[tuple[str, bytes], tuple[list[bytes], int]] = {}

    def begin(self, uri: bytes, timestamp: str) -> None:
        self.page, self._targets, self.room = (uri, timestamp), {}, self._most
        self._kinds = {}
        if self._timestamps:
            self._timestamp = timestamp.encode() or UNKNOWN

    def add(self, source: bytes, groups: Iterable[LinkGroup], origin: str) -> list[LinkRun]:
        """The new links of these groups; origin: a document's name, `header` or `metadata`."""
        runs, counters, count = list[LinkRun](), self._counters, 0
        room = self.room
        for targets, hop, context, nofollow, kinds in groups:
            if not targets or not self._keeps(targets, hop, context, nofollow):
                continue
            letter, counted = _COUNTED[hop]
            new, known = dict.fromkeys(targets), self._targets.get(hop)
            if known is not None:
                new = dict.fromkeys([target for target in new if target not in known])
            if len(new) < len(targets):
                counters["dropped.duplicate"] += len(targets) - len(new)
            is_full = count + len(new) > room
            if is_full:
                counters["dropped.over-limit"] += 1
                new = dict.fromkeys([*new][: room - count])
            if new:
                counters[counted] += len(new)
                count += len(new)
                added = [UNKNOWN] * len(new) if self._timestamps else None
                runs.append(LinkRun([*new], source, letter, self._timestamp, added))
                if known is None:
                    self._targets[hop] = new
                else:
                    known.update(new)
            if kinds:
                self._add_kinds(hop, targets, kinds, runs[-1] if new else None)
            if is_full:
                break  # so that the other references are not even joined
        if runs:
            self.room -= count
            counters["links"] += count
            counters[f"links.from.{origin}"] += count
        return runs

    def _add_kinds(
        self, hop: str, targets: list[bytes], kinds: list[bytes], run: LinkRun | None
    ) -> None:
        """Note the kinds of references to targets, some of which may be those of earlier links.
        run: of those that are new."""
        known = self._kinds
        if run is not None and run.references is not None:
            for index, target in enumerate(run.targets):
                run.references[index] = b""
                known[hop, target] = run.references, index
        for target, kind in zip(targets, kinds, strict=True):
            references, index = known.get((hop, target), (None, 0))
            if references is None:  # of a link above the limit, or of Heritrix's lines
                continue
            before = references[index]
            if not before:
                references[index] = kind
            elif kind != before and kind not in before.split(BETWEEN):
                references[index] = before + BETWEEN + kind

    def _keeps(self, targets: list[bytes], hop: str, context: str, nofollow: bool) -> bool:
        """Whether links of this kind are kept; those that are not are counted."""
        if hop not in self._hops and not (hop in LINK_HOPS and context.lower() in NAV_CONTEXTS):
            self._counters[f"dropped.hop.{hop}"] += len(targets)
            return False
        if not nofollow:
            return True
        self._counters["flagged.nofollow"] += len(targets)
        if self._drop:
            self._counters["dropped.nofollow"] += len(targets)
        return not self._drop
