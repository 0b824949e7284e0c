"""The experiments of the laboratory: errors of policies and windows on random webs.

The error of an estimate X is the paper's: 100/N sum |X_i - Imp_i| / Imp_i, in percent, over all
pages or over the tenth with the highest importance. Imp is the exact importance of the same chain,
certified to EXACT in L1 (pipeline/lab/chain.py). As no page has less than a tenth of 1/N, that is
at most 1000 EXACT percent of an error.

Policies: on one web, after N, 2 N … 10 N visits, from all history. Offline is power iteration, one
round for N visits, from equal importance. On the web of a crawl, replay reads the captured pages in
the order of their captures, ten times. Pages that were not captured keep what they get.

Windows: greedy on a web that changes. WARM_UP N visits without changes come first. Then come ten
crawls of N visits, and during each of them a share of the pages changes, in PARTS equal parts. The
error is taken at the end of each crawl, against the web as it is then. M is a number of visits; T
is 16 units of the clock: if the mean cash at a read is 2/N, a page of mean importance is read 8
times in T. Interpolation has half and twice of that, too, since the paper leaves T open.

Partitions: what messages cost, and what buffers do to the error. Pages are read by cycle, CRAWLS
sweeps, by P machines and by one, for each size of the buffers (pipeline/lab/partitions.py). The
error is that of the last sweep, h over its sum, which no longer knows the start: it falls to 0 if
the fixed point is that of the chain.

Other definitions of importance, of the paper's section 1, beside that of OPIC's random walk.
Importance is a vector x that a matrix M leaves in proportion, M x = c x:

    random walk     M_ij is what page j gives to page i, the virtual page included: c = 1
    (L + I)         the same matrix and the identity: c = 2, and the same x. Powers of M may go
                    round in a circle, as on a ring of pages; those of M + I settle
    adjacency       M_ij = 1 for each link from j to i: a page gives all of its importance to each
                    of its targets
    undirected      M_ij = 1 for each link from j to i or from i to j

The last two are found with the identity added, too. Each is found by x <- M x / |M x|_1, begun at
equal importance, until a round moves x by at most STEP in L1; after MOST rounds it is taken as it
is.

Two experiments look for the reasons where a claim of the paper does not hold.

Smooth income: on webs by Poisson's law the income of a page comes from more and more sources, in
parts of the cash that are smaller and smaller. Policies are compared on each, after 10 N visits.

Order and length: windows on a web without changes, after SHORT N and LONG N visits, by greedy and
by random reads. Greedy reads a page when its cash is about a threshold, so the distances of its
reads on the clock are nearly equal; random ones differ as the exponential law does.

Webs have a part of the pages of the other experiments, since the effects do not depend on N.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from crawlrank.pipeline.data.graph import Floats, Positions, Targets
from crawlrank.pipeline.lab.chain import Chain, exact_importance, one_round, weights_of
from crawlrank.pipeline.lab.partitions import PartitionedCrawl, owners_of
from crawlrank.pipeline.lab.simulation import (
    Estimate,
    ReadLog,
    Simulation,
    fixed,
    improved,
    interpolated,
    variable,
)
from crawlrank.pipeline.lab.webs import RandomWeb, poisson_web, random_web
from crawlrank.pipeline.ranking.correlations import kendall

POLICIES = ("random", "cycle", "greedy")
OFFLINE, REPLAY = "offline", "replay"
CRAWLS = 10
VISITS = (4, 8, 16)  # M
TIME = 16.0  # T
TIMES = (TIME / 2, TIME, 2 * TIME)  # of interpolation
RATES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
WARM_UP, PARTS = 20, 4
EXACT = 1e-8

FIXED, IMPROVED = "fixed", "improved fixed"
INTERPOLATIONS = {f"interpolation, T = {time:g}": time for time in TIMES}
#: what a window is called -> its estimate from a log
WINDOWS: dict[str, Callable[[ReadLog], Estimate]] = {
    **{f"M = {m}": lambda log, m=m: variable(log, m) for m in VISITS},  # type: ignore[misc]
    **{
        name: lambda log, time=time: interpolated(log, time)  # type: ignore[misc]
        for name, time in INTERPOLATIONS.items()
    },
    FIXED: lambda log: fixed(log, TIME),
    IMPROVED: lambda log: improved(log, TIME),
}


class PolicyRow(NamedTuple):
    """A policy after a number of visits a page: errors in percent; mean cash of the last N reads,
    times N."""

    seed: int
    policy: str
    visits: int
    error: float
    error_of_top: float
    mean_cash: float
    weighted: float
    disorder: float
    variance: float


class WindowRow(NamedTuple):
    """After a crawl on a web that changes. rate: share of pages that change in it."""

    seed: int
    rate: float
    window: str
    crawl: int
    error: float
    measures: float


class MeasureRow(NamedTuple):
    """How many pages store a number of measures, without changes, after the last crawl."""

    seed: int
    window: str
    measures: int
    pages: int


@dataclass(frozen=True)
class LabGraphs:
    """nodes: N. exponent: of the power law of indegrees. poisson: their mean, where they are to
    follow Poisson's law. crawl: a web to take instead of random ones, with `nodes` pages; where: of
    its work folder. discovery: how much more of what the virtual page gives an unread page gets;
    it and preferences hold where policies are compared."""

    nodes: int = 100_000
    exponent: float = 2.1
    poisson: float | None = None
    crawl: RandomWeb | None = field(default=None, compare=False, repr=False)
    where: str = ""
    discovery: float = 1.0

    def web(self, seed: int) -> tuple[RandomWeb, np.random.Generator]:
        rng = np.random.default_rng(seed)
        if self.crawl:
            return self.crawl, rng
        if self.poisson:
            return poisson_web(self.nodes, self.poisson, rng), rng
        return random_web(self.nodes, self.exponent, rng), rng

    def __str__(self) -> str:
        preferring = self.crawl is not None and self.crawl.favour is not None
        more = [f"those unread {self.discovery:g} times as much"] if self.discovery > 1 else []
        more += ["those preferred by their weights"] if preferring else []
        gets = f"; of what the virtual page gives, {' and '.join(more)}" if more else ""
        return self._webs + gets

    @property
    def _webs(self) -> str:
        if self.crawl:
            return f"the crawl in {self.where}, of {self.nodes:,} pages"
        law = f"a power law of exponent {self.exponent:g}"
        if self.poisson:
            law = f"Poisson's law of mean {self.poisson:g}"
        return f"random webs of {self.nodes:,} pages whose indegrees follow {law}"


def error_of(estimate: Floats, exact: Floats, pages: Positions | None = None) -> float:
    apart = np.abs(estimate - exact) / exact
    return 100 * float((apart if pages is None else apart[pages]).mean())


class Errors(NamedTuple):
    """More measures of an estimate. weighted: the error with the importance as the weight of each
    page, 100 sum |X - Imp|. disorder: percent of the pairs of pages that X has in another order,
    100 (1 - tau) / 2 with Kendall's tau b, and 50 if all pages of one are equal. variance: of
    100 (X - Imp) / Imp over the pages."""

    weighted: float
    disorder: float
    variance: float


def errors_of(estimate: Floats, exact: Floats) -> Errors:
    weighted = 100 * float(np.abs(estimate - exact).sum())
    tau = kendall(estimate, exact) if np.ptp(estimate) and np.ptp(exact) else 0.0
    return Errors(weighted, 50 * (1 - tau), float(np.var(100 * (estimate - exact) / exact)))


def compare_policies(graphs: LabGraphs, seed: int) -> tuple[list[PolicyRow], dict[str, float]]:
    """The rows, and the visits a second of each policy."""
    web, _ = graphs.web(seed)
    chain, n = web.chain(), graphs.nodes
    exact = exact_importance(chain, web.favour, EXACT)
    rows, speeds = list[PolicyRow](), dict[str, float]()
    order = web.order if web.order is not None else np.empty(0, np.int64)
    for policy in (*POLICIES, REPLAY) if len(order) else POLICIES:
        simulation, seconds = _simulation(graphs, web, chain, seed), 0.0
        visit = getattr(simulation, policy)
        visit(order[:0] if policy == REPLAY else 0)  # compiles
        for turn in range(1, CRAWLS + 1):
            begin = perf_counter()
            reads = visit(order if policy == REPLAY else n)
            seconds += perf_counter() - begin
            x = (simulation.recorded + simulation.cash) / (simulation.clock + 1)
            rows.append(_policy_row(seed, policy, turn, x, exact, reads.mean_cash * n))
        speeds[policy] = CRAWLS * len(reads.pages) / seconds
    x, weights, rest = np.full(n, 1 / n), weights_of(chain, web.favour), chain.rest
    for turn in range(1, CRAWLS + 1):
        x = one_round(chain, x, weights, rest)
        rows.append(_policy_row(seed, OFFLINE, turn, x, exact, 1.0))
    return rows, speeds


def _simulation(graphs: LabGraphs, web: RandomWeb, chain: Chain, seed: int) -> Simulation:
    return Simulation(chain, seed=seed, favour=web.favour, discovery=graphs.discovery)


def _policy_row(
    seed: int, policy: str, turn: int, x: Floats, exact: Floats, mean_cash: float
) -> PolicyRow:
    top = np.argsort(-exact, kind="stable")[: max(1, len(exact) // 10)]
    errors = error_of(x, exact), error_of(x, exact, top)
    return PolicyRow(seed, policy, turn, *errors, mean_cash, *errors_of(x, exact))


def compare_windows(
    graphs: LabGraphs, seed: int, rate: float
) -> tuple[list[WindowRow], list[MeasureRow]]:
    """Errors of all WINDOWS at one rate, and what they store in the end."""
    web, rng = graphs.web(seed)
    chain, n = web.chain(), graphs.nodes
    exact = exact_importance(chain, error=EXACT)
    simulation = Simulation(chain)
    simulation.greedy(WARM_UP * n)
    rows = list[WindowRow]()
    for crawl in range(1, CRAWLS + 1):
        ends = np.linspace(0, n, PARTS + 1).astype(int)
        for visits in np.diff(ends).tolist():
            if rate:
                web = web.changed(rate / PARTS, rng)
                simulation.replace(web.chain(), simulation.recorded)
            simulation.greedy(visits)
        if rate:
            exact = exact_importance(simulation.chain, error=EXACT, start=exact)
        log = simulation.log()
        estimates = {name: window(log) for name, window in WINDOWS.items()}
        for name, estimate in estimates.items():
            error, measures = error_of(estimate.importance, exact), estimate.measures.mean()
            rows.append(WindowRow(seed, rate, name, crawl, error, float(measures)))
    return rows, [row for name in WINDOWS for row in _stored(seed, name, estimates[name])]


def _stored(seed: int, name: str, estimate: Estimate) -> list[MeasureRow]:
    measures, pages = np.unique(estimate.measures, return_counts=True)
    pairs = zip(measures.tolist(), pages.tolist(), strict=True)
    return [MeasureRow(seed, name, many, count) for many, count in pairs]


BUFFERS = (1, 10, 100, 1000)


class PartitionRow(NamedTuple):
    """The last of a number of sweeps: the error in percent, messages, transfers in them, and links
    that led to another machine."""

    seed: int
    machines: int
    buffer: int
    sweep: int
    error: float
    messages: int
    transfers: int
    crossing: int


def compare_partitions(graphs: LabGraphs, seed: int, machines: int) -> list[PartitionRow]:
    web, _ = graphs.web(seed)
    chain = web.chain()
    exact = exact_importance(chain, error=EXACT)
    rows = list[PartitionRow]()
    for count, buffer in ((1, 1), *((machines, each) for each in BUFFERS if machines > 1)):
        crawl = PartitionedCrawl(chain, owners_of(web.nodes, count, web.hashes), buffer)
        for sweep in range(1, CRAWLS + 1):
            before = crawl.recorded.copy()
            traffic = crawl.sweep()
            window = crawl.recorded - before
            error = error_of(window / window.sum(), exact)
            rows.append(PartitionRow(seed, count, buffer, sweep, error, *traffic))
    return rows


STEP, MOST = 1e-9, 1000
TOP = 0.1  # of all pages
WALK, LAZY, ADJACENCY, UNDIRECTED = "random walk", "(L + I)", "adjacency", "undirected"


class DefinitionRow(NamedTuple):
    """rounds: until it settled. kendall: tau-b of its order and that of the random walk. top:
    percent of the walk's top tenth that are in its own."""

    seed: int
    definition: str
    rounds: int
    kendall: float
    top: float


def compare_definitions(graphs: LabGraphs, seed: int) -> list[DefinitionRow]:
    chain = graphs.web(seed)[0].chain()
    walk, _ = importance(chain, WALK)
    rows = []
    for name in (WALK, LAZY, ADJACENCY, UNDIRECTED):
        x, rounds = importance(chain, name)
        order = kendall(walk, x) if np.ptp(x) else 0.0
        rows.append(DefinitionRow(seed, name, rounds, order, 100 * _shared_top(walk, x)))
    return rows


def importance(chain: Chain, definition: str) -> tuple[Floats, int]:
    """x of sum 1, float64[N], and the rounds that it took."""
    turn = _turns(chain)[definition]
    x: Floats = np.full(chain.nodes, 1 / chain.nodes)
    step, rounds = np.inf, 0
    while step > STEP and rounds < MOST:
        following = turn(x)
        following /= following.sum()
        step, x = float(np.abs(following - x).sum()), following
        rounds += 1
    return x, rounds


def _turns(chain: Chain) -> dict[str, Callable[[Floats], Floats]]:
    """M x of each definition."""
    weights, rest, targets = weights_of(chain, None), chain.rest, chain.targets
    sources = np.repeat(np.arange(chain.nodes), np.diff(chain.offsets))

    def added(x: Floats, to: Targets) -> Floats:
        sums: Floats = np.bincount(to, x, chain.nodes).astype(np.float64)
        return sums

    return {
        WALK: lambda x: one_round(chain, x, weights, rest),
        LAZY: lambda x: one_round(chain, x, weights, rest) + x,
        ADJACENCY: lambda x: added(x[sources], targets) + x,
        UNDIRECTED: lambda x: added(x[sources], targets) + added(x[targets], sources) + x,
    }


def _shared_top(one: Floats, other: Floats) -> float:
    count = max(1, int(TOP * len(one)))
    best, others = (np.argsort(-x, kind="stable")[:count] for x in (one, other))
    return len(np.intersect1d(best, others)) / count


PART, LEAST = 10, 1000  # a tenth of the pages, but at least this number
MEANS = (3.0, 10.0, 30.0, 100.0)
SHORT, LONG = WARM_UP, 10 * WARM_UP


class ReasonRow(NamedTuple):
    """experiment: income by Poisson's law, greedy or random. case: the mean indegree, or the
    visits a page. quantity: a policy, a window, or mean cash; value: percent of error, or cash
    times N."""

    seed: int
    experiment: str
    case: float
    quantity: str
    value: float


def compare_incomes(graphs: LabGraphs, seed: int) -> list[ReasonRow]:
    rows = list[ReasonRow]()
    for mean in MEANS:
        n = _fewer(graphs)
        chain = replace(graphs, nodes=n, poisson=mean, crawl=None).web(seed)[0].chain()
        exact = exact_importance(chain, error=EXACT)
        for policy in ("cycle", "greedy"):
            simulation = Simulation(chain, seed=seed)
            visit = getattr(simulation, policy)
            cash = [visit(n).mean_cash * n for _ in range(CRAWLS)][-1]
            x = (simulation.recorded + simulation.cash) / (simulation.clock + 1)
            rows.append(ReasonRow(seed, "income", mean, policy, error_of(x, exact)))
            rows.append(ReasonRow(seed, "income", mean, f"mean cash, {policy}", cash))
    return rows


def compare_orders(graphs: LabGraphs, seed: int) -> list[ReasonRow]:
    rows = list[ReasonRow]()
    smaller = graphs if graphs.crawl else replace(graphs, nodes=_fewer(graphs))
    chain = smaller.web(seed)[0].chain()
    exact = exact_importance(chain, error=EXACT)
    for policy in ("greedy", "random"):
        simulation = Simulation(chain, seed=seed)
        for visits, more in ((SHORT, SHORT), (LONG, LONG - SHORT)):
            getattr(simulation, policy)(more * chain.nodes)
            log = simulation.log()
            for name, window in WINDOWS.items():
                error = error_of(window(log).importance, exact)
                rows.append(ReasonRow(seed, policy, visits, name, error))
    return rows


def _fewer(graphs: LabGraphs) -> int:
    return max(min(graphs.nodes, LEAST), graphs.nodes // PART)
