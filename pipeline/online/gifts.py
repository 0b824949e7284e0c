"""What pages of a batch give while they are read, before it is written to the stores."""

from __future__ import annotations

from collections.abc import Iterable

from crawlrank.pipeline.online.stores.protocols import KINDS, Cash, PageCash


class Gifts:
    """to: by kind, what single pages got and have not taken, by their numbers. to_all: by kind,
    what every page got."""

    def __init__(self) -> None:
        self.to: dict[str, dict[int, float]] = {kind: {} for kind in KINDS}
        self.to_all = dict.fromkeys(KINDS, 0.0)

    def give(self, kind: str, pages: Iterable[int], amount: float) -> None:
        amounts = self.to[kind]
        for page in pages:
            amounts[page] = amounts.get(page, 0.0) + amount

    def taken(self, page: int, score: PageCash) -> PageCash:
        """The cash of a page with what it got since the score was true of it."""
        return PageCash(*(
            cash._replace(cash=cash.cash + self.to[kind].pop(page, 0.0) + self.to_all[kind])
            for kind, cash in zip(KINDS, score, strict=True)
        ))  # fmt: skip

    def emptied(self, hub: Cash, authority: Cash) -> PageCash:
        """The cash of a page that was read now, so that `taken` adds what it gets from now on."""
        both = zip(KINDS, (hub, authority), strict=True)
        return PageCash(*(cash._replace(cash=-self.to_all[kind]) for kind, cash in both))
