"""OPIC of two kinds of cash beside a crawl that never stops: OPIC-HITS on stores.

Source: the backend OPIC-HITS of scrapinghub's crawlfrontier, later Frontera. What a page gives when
it is read, the virtual page and the relevance are those of
pipeline/ranking/cash/opic_hits_cycles.py; here the graph grows while it is read.

A page comes with START cash of each kind. The clock says how many times all cash was read so far: a
read of cash c, out of all the cash C of both kinds, moves it on by c/C. A page has a history H of
each kind, an interpolation over the last T of the clock (Abiteboul, Preda, Cobena, WWW 2003): at a
read of cash c, the clock being G and G_i at the read before,

H <- H (T - (G - G_i)) / T + c  where G - G_i < T,  else H <- c T / (G - G_i).

H/T estimates the cash that goes through the page while all cash is read once. In the mean that is
START for each kind however many pages there are, and a new page begins with it. Scores are these
estimates, as if the page were read now, divided by their sum over pages.

Without a window the history is the whole one, H <- H + c, and H/(G + 1) is the estimate.

A link of a page to itself does not count: a page cannot recommend itself.

Pages that are named by `mark_update` are read first; which these are is not stored, as their cash
waits for them in any case. All else is in the stores, and each call is one transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.stores.database import Page
from crawlrank.pipeline.online.stores.hits_cash import KINDS, Cash, PageCash, SqliteHitsCash
from crawlrank.pipeline.online.stores.page_graph import SqliteGraph, SqliteRelevance


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


START = 1.0  # cash of each kind that a page comes with
NEUTRAL = 0.5  # the relevance of pages without one
WINDOW = 100.0  # times that all cash is read


class PageScore(NamedTuple):
    """Scores of a page. Normalised, either kind sums to 1 over all pages."""

    hub: float
    authority: float


class OpicHits:
    """Scores of hubs and authorities that are kept up to date while pages are added.

    graph, scores, relevance: stores of one database. time_window: T; None for the whole history.
    Raises BadInput for a window that is not above 0."""

    def __init__(
        self,
        graph: SqliteGraph,
        scores: SqliteHitsCash,
        relevance: SqliteRelevance,
        time_window: float | None = WINDOW,
    ) -> None:
        if time_window is not None and not time_window > 0:
            raise BadInput("time window", f"{time_window:g}", "a number above 0")
        self._graph, self._scores, self._relevance = graph, scores, relevance
        self._window = time_window
        self._marked: dict[Page, None] = {}
        with scores.transaction():
            known = {page for page, _ in scores.items()}
            self._introduce(page for page in graph.nodes() if page not in known)

    def add_page(
        self, page: Page, links: Iterable[Page] = (), relevance: float | None = None
    ) -> None:
        """Add a page that was fetched, or what it links to now, in place of what it linked to."""
        targets = dict.fromkeys(link for link in links if link != page)
        with self._scores.transaction():
            for gone in self._graph.successors(page):
                if gone not in targets:
                    self._graph.delete_edge(page, gone)
            self._graph.add_node(page)
            self._graph.add_edges((page, target) for target in targets)
            self._introduce(p for p in (page, *targets) if self._scores.get(p) is None)
            if relevance is not None:
                self._relevance.set(page, relevance)

    def mark_update(self, page: Page) -> None:
        """Read a page before others, as its links or its relevance changed."""
        self._marked[page] = None

    def update(self, count: int = 1) -> list[Page]:
        """Read `count` pages and return them: first those that are marked, then half by their hub
        cash and half by their authority cash."""
        with self._scores.transaction():
            marked = [page for page in self._marked if self._scores.get(page)][:count]
            rest = count - len(marked)
            richest = self._scores.highest("hub", rest - rest // 2)
            richest += self._scores.highest("authority", rest)
            pages = list(dict.fromkeys([*marked, *richest]))[:count]
            self._read(pages)
        for page in marked:
            del self._marked[page]
        return pages

    def get_scores(self, page: Page) -> PageScore | None:
        """The normalised scores of a page; None for one that is not known."""
        score = self._scores.get(page)
        if score is None:
            return None
        flow, sums = self._flow(score, self._scores.clock()), self._sums()
        return PageScore(flow.hub / sums.hub, flow.authority / sums.authority)

    def flow(self, page: Page) -> PageScore | None:
        """The scores of a page before they are normalised, which takes no sum over pages: START in
        the mean, whatever the number of pages."""
        score = self._scores.get(page)
        return score and self._flow(score, self._scores.clock())

    def iscores(self) -> Iterator[tuple[Page, PageScore]]:
        """The normalised scores of all pages."""
        clock, sums = self._scores.clock(), self._sums()
        for page, score in self._scores.items():
            flow = self._flow(score, clock)
            yield page, PageScore(flow.hub / sums.hub, flow.authority / sums.authority)

    def h_mean(self) -> float:
        """The mean score of hubs before they are normalised, a float64; 0 without pages."""
        return self._sums().hub / max(1, self._scores.count())

    def a_mean(self) -> float:
        """The mean score of authorities before they are normalised, a float64; 0 without pages."""
        return self._sums().authority / max(1, self._scores.count())

    def close(self) -> None:
        """Close the database of the stores. All that was added is there when it is opened again."""
        self._scores.close()

    def _introduce(self, pages: Iterable[Page]) -> None:
        new = list(dict.fromkeys(pages))
        if new:
            clock = self._scores.clock()
            begun = clock if self._window is None else self._window
            cash = Cash(begun * START, START, clock)
            self._scores.set_many((page, PageCash(cash, cash)) for page in new)

    def _read(self, pages: list[Page]) -> None:
        """Read pages one after the other; what they give is written once for all of them."""
        scores, count = self._scores, self._scores.count()
        clock = begin = scores.clock()
        numbers = self._numbers_of(pages)
        cash, relevance = scores.get_each([*numbers]), self._relevance.get_each([*numbers])
        known = [number for number in numbers if number in cash]
        targets_of, parents_of = (
            [[number for number in others if number != own] for own, others in rows]
            for rows in (
                zip(known, self._graph.targets_of(known), strict=True),
                zip(known, self._graph.sources_of(known), strict=True),
            )
        )
        gifts, after = Gifts(), dict[int, PageCash]()
        for own, targets, parents in zip(known, targets_of, parents_of, strict=True):
            hub, authority = gifts.taken(own, cash[own])
            clock += (hub.cash + authority.cash) / (2 * START * count)
            after[own] = gifts.emptied(self._after(hub, clock), self._after(authority, clock))
            share = hub.cash / (len(targets) + 1)
            gifts.give("authority", targets, share)
            part = _part(relevance.get(own, NEUTRAL), len(parents))
            gifts.give("hub", parents, part * authority.cash)
            kept = max(0.0, 1 - len(parents) * part) * authority.cash
            gifts.to_all["hub"] += share / count
            gifts.to_all["authority"] += kept / count
        scores.advance(clock - begin)
        for kind in KINDS:
            scores.increase_all(kind, gifts.to_all[kind])
        scores.set_many((numbers[own], gifts.taken(own, left)) for own, left in after.items())
        for kind in KINDS:
            scores.increase_each(kind, gifts.to[kind])

    def _after(self, cash: Cash, clock: float) -> Cash:
        since, window = clock - cash.last, self._window
        if window is None:
            return Cash(cash.history + cash.cash, 0.0, clock)
        if since < window:
            return Cash(cash.history * (window - since) / window + cash.cash, 0.0, clock)
        return Cash(cash.cash * window / since, 0.0, clock)

    def _numbers_of(self, pages: Iterable[Page]) -> dict[int, Page]:
        named = ((self._graph.number_of(page), page) for page in pages)
        return {number: page for number, page in named if number is not None}

    def _flow(self, score: PageCash, clock: float) -> PageScore:
        hub, authority = (self._after(cash, clock) for cash in score)
        length = clock + 1 if self._window is None else self._window
        return PageScore(hub.history / length, authority.history / length)

    def _sums(self) -> PageScore:
        hubs = authorities = 0.0
        clock = self._scores.clock()
        for _, score in self._scores.items():
            hub, authority = self._flow(score, clock)
            hubs, authorities = hubs + hub, authorities + authority
        return PageScore(hubs, authorities)


def _part(relevance: float, parents: int) -> float:
    """z: the part of its authority cash that a page gives to each parent."""
    if not parents:
        return 0.0
    r = relevance
    given = 2 * r * (2 * parents / (parents + 1) * (1 - r) + r - 0.5)
    return min(given, 1.0) / parents
