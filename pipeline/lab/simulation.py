"""Reads of pages one after another, with their cash: the crawl of Adaptive OPIC as a simulation.

Source: Abiteboul, Preda, Cobena, Adaptive On-Line Page Importance Computation, WWW 2003. Every page
holds cash, all together 1. A page that is read records its cash and gives it away: see chain.py.
The clock G is all cash that was read so far. The virtual page pays at once what it gets, so it is
no page of its own and is never read.

Policies: random takes any page with equal probability; greedy the page with the highest cash, of
equal ones the first; cycle the pages by number, over and over; replay an order that is given.

Discovery: a page that was not read yet gets `discovery` times as much from the virtual page as it
will get afterwards; what others get falls, so the total stays. Favour: a weight for each page. What
the virtual page gives is in the proportion of both.

The graph may change between two runs. A new page has no cash. Its importance is estimated, until it
is read, as the mean importance of the pages that were introduced recently.

Memory: 24 bytes a page and 20 bytes a read. Cost of a read: that of its edges, for greedy times log
N; greedy with discovery or favour takes O(N) a read.

`reads_by_time` gives the order in which a crawl read its pages, for Simulation.replay, from the
times of captures or of lines of a crawl.log. A page that was fetched several times is read as
often.

Estimates of importance from the reads, by windows. A measure of a page is the cash that it had at a
read, and the clock after it.

whole: all history. X = (H + C) / (G + total), with the cash C that it has now.
fixed: the measures of the last T of the clock. X = their cash / T.
improved: as fixed, but never fewer than 3 measures: where the last T has fewer, the last 3 as in
    `variable`.
variable: the last k measures. X = their cash / (clock of the last - clock of the one before them).
interpolation: one number H and one clock G_i a page. At a read with cash C, where G - G_i < T,
    H <- H (T - (G - G_i)) / T + C, else H <- C T / (G - G_i). X = H / T.

At the start, history reaches back to when the page was introduced (ReadLog.born), and a page that
was never read has the importance that it was given then (ReadLog.prior); with a fixed window it has
0, as has every page without a read in the last T. For interpolation H begins as prior T. The
estimates need not sum to 1. They take 8 to 40 bytes a page.

The loops are compiled (jobs/kernel/machine/machine_code.py): reads with unequal weights of the
virtual page, and what windows keep. The loops of reads with equal weights are in
pipeline/ranking/opic.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import compiled
from crawlrank.pipeline.data.graph import Floats, Mask, Positions, Targets
from crawlrank.pipeline.lab.chain import Chain, weights_of
from crawlrank.pipeline.ranking import opic
from crawlrank.pipeline.ranking.opic import width_of


class Reads(NamedTuple):
    """V reads, in order. pages: int32[V] or int64[V], as the targets are. cash: float64[V], read
    then. clock: float64[V], G after the read."""

    pages: Targets
    cash: Floats
    clock: Floats

    @property
    def mean_cash(self) -> float:
        return float(self.cash.mean())


class ReadLog(NamedTuple):
    """All reads so far of a simulation with N pages. now: the clock G. born: float64[N], the clock
    when each page was introduced; that of the first ones is -1, since they began with cash as of
    one unit of the clock. prior: float64[N], the importance that they were given then."""

    reads: Reads
    now: float
    born: Floats
    prior: Floats


class Simulation:
    """A crawl that continues from call to call.

    cash: float64[N], of sum 1 (to rounding) at all times; recorded: float64[N], all cash that each
    page had when it was read. cash and favour as arguments: float64[N] above 0; cash is scaled to
    sum 1. seed: of the policy random.
    """

    def __init__(
        self,
        chain: Chain,
        cash: Floats | None = None,
        favour: Floats | None = None,
        discovery: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.chain, self.discovery, n = chain, float(discovery), chain.nodes
        self.cash = weights_of(chain, cash)
        self.recorded: Floats = np.zeros(n)
        self.unread: Mask = np.ones(n, np.bool_)
        self._equal = favour is None and discovery == 1
        self._favour = np.ones(n) if favour is None else np.array(favour, np.float64)
        self._weights = weights_of(chain, self._favour) * discovery
        self._favour /= self._favour.sum()
        self._born: Floats = np.full(n, -1.0)
        self._prior: Floats = self.cash.copy()
        self._rng, self._next, self._now = np.random.default_rng(seed), 0, 0.0
        self._batches: list[Reads] = []

    @property
    def clock(self) -> float:
        return self._now

    def random(self, visits: int) -> Reads:
        order = self._rng.integers(self.chain.nodes, size=visits)
        return self._in_order(order)

    def cycle(self, visits: int) -> Reads:
        order = (self._next + np.arange(visits)) % self.chain.nodes
        self._next = (self._next + visits) % self.chain.nodes
        return self._in_order(order)

    def replay(self, order: Targets) -> Reads:
        """Read the pages in this order."""
        return self._in_order(order)

    def greedy(self, visits: int) -> Reads:
        pages, held = np.empty(visits, self.chain.targets.dtype), np.empty(visits)
        if self._equal:
            winner = np.empty(2 * width_of(self.chain.nodes), pages.dtype)
            state = self._state(held)
            self.cash += compiled(opic.greedy)(visits, winner, *state, pages)
        else:
            self._favoured(pages, True, held)
        return self._logged(pages, held)

    def replace(self, chain: Chain, importance: Floats, recent: float = 1.0) -> None:
        """Continue with other edges, and with more pages where the chain has more.

        importance: float64[N] of the pages so far, estimated. recent: units of the clock; pages
        introduced since then give new ones their mean importance, or all pages if none was. The
        favour of a new page is the mean.
        """
        more = chain.nodes - self.chain.nodes
        newest = self._born > self._now - recent
        mean = float(importance[newest].mean() if newest.any() else importance.mean())
        self.chain = chain
        self.cash = np.append(self.cash, np.zeros(more))
        self.recorded = np.append(self.recorded, np.zeros(more))
        self.unread = np.append(self.unread, np.ones(more, np.bool_))
        favour = np.append(self._favour, np.full(more, float(self._favour.mean())))
        self._favour = favour / favour.sum()
        self._weights = self._favour * np.where(self.unread, self.discovery, 1.0)
        self._born = np.append(self._born, np.full(more, self._now))
        self._prior = np.append(self._prior, np.full(more, mean))

    def log(self) -> ReadLog:
        """Everything so far, as arrays of their own."""
        kind = self.chain.targets.dtype
        none = Reads(np.empty(0, kind), np.empty(0), np.empty(0))
        columns = zip(*self._batches, strict=True) if self._batches else ((each,) for each in none)
        reads = Reads(*(np.concatenate(column) for column in columns))
        return ReadLog(reads, self._now, self._born.copy(), self._prior.copy())

    def _in_order(self, numbers: npt.NDArray[Any]) -> Reads:
        order = cast(Targets, numbers.astype(self.chain.targets.dtype))
        held = np.empty(len(order))
        if self._equal:
            self.cash += compiled(opic.visit)(order, 0.0, *self._state(held))
        else:
            self._favoured(order, False, held)
        return self._logged(order, held)

    def _state(self, held: Floats) -> tuple[object, ...]:
        """Arguments of the loops of ranking/opic.py."""
        chain, n = self.chain, self.chain.nodes
        constants = chain.share, chain.teleport / n, chain.edges or 0.0, 1 / n
        return chain.offsets, chain.targets, *constants, self.cash, self.recorded, held

    def _favoured(self, order: Targets, greedy: bool, held: Floats) -> None:
        chain = self.chain
        edges = chain.offsets, chain.targets, chain.share, chain.rest
        state = self.cash, self.recorded, self._weights, self._favour
        given = compiled(favoured)(order, greedy, held, *edges, *state)
        self.cash += given * self._weights

    def _logged(self, pages: Targets, held: Floats) -> Reads:
        clock = self._now + np.cumsum(held)
        if len(held):
            self._now = float(clock[-1])
            self.unread[pages] = False
        self._batches.append(Reads(pages, held, clock))
        return self._batches[-1]


def reads_by_time(pages: Positions, times: npt.NDArray[Any]) -> Targets:
    """The pages by the time of their fetches, earliest first, those of equal time in their order.

    pages: int64[F], -1 for a fetch of what is no page of the graph, which is left out. times: [F],
    of any type that sorts, such as datetime64; a fetch at NaT or NaN is left out, too.
    """
    known = (pages >= 0) & (times == times)  # NaT and NaN equal nothing
    order = np.argsort(times[known], kind="stable")
    return cast(Targets, pages[known][order])


def favoured(
    order: Targets,
    greedy: bool,
    held_then: Floats,
    offsets: Positions,
    targets: Targets,
    share: Floats,
    rest: Floats,
    cash: Floats,
    recorded: Floats,
    weights: Floats,
    favour: Floats,
) -> float:
    """Read pages in order, or write into order those that have most cash, the first of equal ones.

    weights: of the virtual page's gifts; a page that is read gets its favour as weight. Cash is
    kept less what the virtual page had given when the page was read last, as in ranking/opic.py.
    Returns that gift for a weight of 1; the caller adds it. Greedy takes O(N) a read: gifts change
    who has most.
    """
    total, given = weights.sum(), 0.0
    for visited in range(len(order)):
        if greedy:
            most = -1.0
            for page in range(len(cash)):
                if cash[page] + given * weights[page] > most:
                    most, order[visited] = cash[page] + given * weights[page], page
        page = order[visited]
        held = cash[page] + given * weights[page]
        total += favour[page] - weights[page]
        weights[page] = favour[page]
        cash[page] = -given * weights[page]
        recorded[page] += held
        held_then[visited] = held
        for k in range(offsets[page], offsets[page + 1]):
            cash[targets[k]] += held * share[page]
        given += held * rest[page] / total
    return given


def last_reads(
    most: int,
    pages: Targets,
    cash: Floats,
    clock: Floats,
    sums: Floats,
    starts: Floats,
    ends: Floats,
    counts: Positions,
) -> None:
    """The last `most` reads of every page, from the log backwards: their cash, the clock of the
    last one, and of the read before them. starts: as they are where there is none before."""
    for k in range(len(pages) - 1, -1, -1):
        page = pages[k]
        if counts[page] < most:
            if counts[page] == 0:
                ends[page] = clock[k]
            sums[page] += cash[k]
            counts[page] += 1
        elif counts[page] == most:
            starts[page] = clock[k]
            counts[page] += 1  # one more than counted: the start is known
    for page in range(len(counts)):
        counts[page] = min(counts[page], most)


def interpolate(
    time: float, pages: Targets, cash: Floats, clock: Floats, history: Floats, last: Floats
) -> None:
    """The paper's update of a page's history at each of its reads. last: the clock of the read
    before."""
    for k in range(len(pages)):
        page = pages[k]
        since = clock[k] - last[page]
        if since < time:
            history[page] = history[page] * (time - since) / time + cash[k]
        else:
            history[page] = cash[k] * time / since
        last[page] = clock[k]


LEAST = 3  # measures of the improved fixed window


@dataclass(frozen=True, eq=False)
class Estimate:
    """importance: float64[N]. measures: int64[N], how many each page stores."""

    importance: Floats
    measures: Positions


def whole(log: ReadLog, cash: Floats) -> Estimate:
    """cash: float64[N], what each page has now."""
    history = np.bincount(log.reads.pages, log.reads.cash, len(cash))
    return Estimate((history + cash) / (log.now + cash.sum()), np.ones(len(cash), np.int64))


def fixed(log: ReadLog, time: float) -> Estimate:
    """time: T, in units of the clock, above 0."""
    begin = int(np.searchsorted(log.reads.clock, log.now - time, side="right"))
    pages, n = log.reads.pages[begin:], len(log.born)
    sums = np.bincount(pages, log.reads.cash[begin:], n)
    passed = np.minimum(time, log.now - log.born)
    known = np.divide(sums, passed, out=np.zeros(n), where=passed > 0)
    return Estimate(known, np.bincount(pages, minlength=n))


def improved(log: ReadLog, time: float, least: int = LEAST) -> Estimate:
    """time: as in `fixed`. least: measures that a page keeps, however old."""
    recent, last = fixed(log, time), variable(log, least)
    few = recent.measures < least
    return Estimate(
        np.where(few, last.importance, recent.importance),
        np.maximum(recent.measures, last.measures),
    )


def variable(log: ReadLog, visits: int) -> Estimate:
    """visits: k, at least 1."""
    n = len(log.born)
    sums, starts, ends, counts = np.zeros(n), log.born.copy(), np.zeros(n), np.zeros(n, np.int64)
    compiled(last_reads)(visits, *log.reads, sums, starts, ends, counts)
    known = (counts > 0) & (ends > starts)
    importance = log.prior.copy()
    np.divide(sums, ends - starts, out=importance, where=known)
    return Estimate(importance, counts)


def interpolated(log: ReadLog, time: float) -> Estimate:
    """time: T, in units of the clock, above 0."""
    history, last = log.prior * time, log.born.copy()
    compiled(interpolate)(float(time), *log.reads, history, last)
    return Estimate(history / time, np.ones(len(history), np.int64))
