"""OPIC (Abiteboul, Preda, Cobena 2003), with the virtual page that makes it PageRank.

Equation. N pages hold cash C, 1/N each at the start, and record in H what they give away. A page
that is read gives 0.15 of its cash to the virtual page and 0.85 to its targets in equal parts; the
virtual page gives what it gets to all N pages in equal parts, at once. Over any window of visits,
in any order, from cash C_s to C_t, the balance of the pages reads C_t = C_s - h + 0.85 A h + g:
h is what each recorded, g what it got from the virtual page, the same for all. So
    h - 0.85 A h = g + e with e = C_s - C_t,
which but for scale and e is PageRank's x - 0.85 A x = 0.15. Move the mean of e into g; then, with
x* the exact scores and p* the exact probabilities,
    |h/|h|_1 - p*|_1 <= |e|_1 / (0.15 |h|_1) and |0.15 h_i/g - x*_i| <= eta x*_i, eta = max|e|/g.
The same holds for H + C over the whole history, with e = C_s - 0.85 A C_t.

Under the policy `cycle` the virtual page is read once, before all others, and keeps what it gets
from then on. Then g = 1/N is all the cash of the pages, C_s = 0, e = -C_t, and the window is the
whole history. So no page has to be read again that holds too little to matter for the bounds.

Dangling pages give all of their cash to the virtual page. In `edge` mode, the paper's own, the
virtual page is one more target of every page instead of a taker of 0.15: the fixed point is
another one, and there is no certificate.

Stopping rule: after every N visits, and when no page holds enough to be read, the certificate, the
first bound, is taken (cycle: it falls geometrically; random and greedy: it falls like 1/visits).
Stop when it is at most opic_error, and eta too or no longer falling; or at max_visits. Keep the
best. What rounding can add to e is part of both bounds. Memory: OPIC_BYTES a node beside the graph;
of the edges, which may be mapped, those of PAGES pages at a time.

The loops (jobs/kernel/machine/machine_code.py) make the visits, one edge at a time, and the bounds.
A page that is read records its cash, gives `share` of it along every edge, and to each page of the
graph through the virtual page `dangling` of it if it has no edges, else `kept` of it, or an N-th of
`edges` times `share` where kept is 0. All of that is in the order of the visits, without any
reordering of sums. Visits take offsets and targets of a Graph, share, cash and recorded by
position, and change cash and recorded in place. `held_then` gets the cash of each visit, or is
empty. While they run, cash is kept less what the virtual page had given when the page was read
last, so that its gift to all N pages is one addition. They return that gift, and the caller adds it
to all cash.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import compiled
from crawlrank.jobs.kernel.rank.equation import RECIPE
from crawlrank.pipeline.data.arrays import release
from crawlrank.pipeline.data.graph import Floats, Graph, Positions, Targets
from crawlrank.pipeline.ranking.certificate import SAFETY, UNIT
from crawlrank.pipeline.ranking.options import OpicOptions, Policy, VirtualPage

BLOCK = 1 << 12  # pages whose values are summed by themselves


def visit(
    order: Positions,
    given: float,
    offsets: Positions,
    targets: Targets,
    share: Floats,
    kept: float,
    edges: float,
    dangling: float,
    cash: Floats,
    recorded: Floats,
    held_then: Floats,
) -> float:
    """Read pages in order. given: what the virtual page gave to each and nobody has added yet."""
    equal = edges / len(cash)
    for visited in range(len(order)):
        page = order[visited]
        held = cash[page] + given
        cash[page] = -given
        recorded[page] += held
        if len(held_then):
            held_then[visited] = held
        part = held * share[page]
        for k in range(offsets[page], offsets[page + 1]):
            cash[targets[k]] += part
        if offsets[page] == offsets[page + 1]:
            given += held * dangling
        else:
            given += held * (kept if kept > 0 else equal * share[page])
    return given


def sweep(
    least: float,
    offsets: Positions,
    targets: Targets,
    state: tuple[Floats, Floats, Floats],
    pages: tuple[int, int],
) -> int:
    """Read the pages of a range that hold at least `least`, by position; how many. What a page does
    not give along its edges is the virtual page's. state: share, cash and recorded."""
    visits, (share, cash, recorded) = 0, state
    for page in range(pages[0], pages[1]):
        held = cash[page]
        if held >= least:
            visits, cash[page] = visits + 1, 0.0
            recorded[page] += held
            part = held * share[page]
            for edge in range(offsets[page], offsets[page + 1]):
                cash[targets[edge]] += part
    return visits


def greedy(
    count: int,
    winner: Targets,
    offsets: Positions,
    targets: Targets,
    share: Floats,
    kept: float,
    edges: float,
    dangling: float,
    cash: Floats,
    recorded: Floats,
    held_then: Floats,
    pages_then: Targets,
) -> float:
    """Read the page with most cash, count times; of equal ones the first by position.

    The virtual page's gift is the same for all, so it does not change who has most. A tournament
    tree over the pages holds the winner of each pair: a page that gains climbs while it wins, the
    page that was read loses all the way from its leaf to the root. Exact, O(log N) a change.
    winner: room for the tree, twice as long as the power of two that the pages fit into.
    pages_then: gets the pages, where held_then gets their cash.
    """
    n, width = len(cash), len(winner) // 2
    for node in range(width):
        winner[width + node] = min(node, n)  # n: nobody, at the leaves beyond the last page
    for node in range(width - 1, 0, -1):
        left, right = winner[2 * node], winner[2 * node + 1]
        winner[node] = right if right < n and cash[right] > cash[left] else left
    given, equal = 0.0, edges / len(cash)
    for visited in range(count):
        page = winner[1]
        held = cash[page] + given
        cash[page] = -given
        recorded[page] += held
        if len(held_then):
            held_then[visited], pages_then[visited] = held, page
        node = (width + page) // 2
        while node:
            left, right = winner[2 * node], winner[2 * node + 1]
            winner[node] = right if right < n and cash[right] > cash[left] else left
            node //= 2
        part = held * share[page]
        for k in range(offsets[page], offsets[page + 1]):
            target = targets[k]
            cash[target] += part
            node = (width + target) // 2
            while node:
                other = winner[node]
                if cash[target] > cash[other] or (cash[target] == cash[other] and target < other):
                    winner[node] = target
                elif target != other:
                    break
                node //= 2
        if offsets[page] == offsets[page + 1]:
            given += held * dangling
        else:
            given += held * (kept if kept > 0 else equal * share[page])
    return given


def spread(offsets: Positions, targets: Targets, share: Floats, cash: Floats, flow: Floats) -> None:
    """Add to flow what every page would give to its targets, if all gave at once."""
    for page in range(len(cash)):
        part = cash[page] * share[page]
        for k in range(offsets[page], offsets[page + 1]):
            flow[targets[k]] += part


def totals(e: Floats, h: Floats) -> tuple[float, float]:
    """The sums of both, a block at a time, so that rounding grows with the blocks and not with the
    pages."""
    of_e = of_h = 0.0
    for begin in range(0, len(e), BLOCK):
        block_e = block_h = 0.0
        for page in range(begin, min(begin + BLOCK, len(e))):
            block_e += e[page]
            block_h += h[page]
        of_e += block_e
        of_h += block_h
    return of_e, of_h


def deviations(
    e: Floats, mean: float, h: Floats, cash: Floats, g: float, adds: Positions, unit: float
) -> tuple[float, float, float]:
    """Sums of |e - mean| and of the slack unit (adds + 8) (h + cash + g), and the most that the two
    are together at a page."""
    apart = doubt = most = 0.0
    for begin in range(0, len(e), BLOCK):
        block_apart = block_doubt = 0.0
        for page in range(begin, min(begin + BLOCK, len(e))):
            far = abs(e[page] - mean)
            slack = unit * (adds[page] + 8) * (h[page] + cash[page] + g)
            block_apart += far
            block_doubt += slack
            most = max(most, far + slack)
        apart += block_apart
        doubt += block_doubt
    return apart, doubt, most


PAGES = 1 << 18  # visited at once
OPIC_BYTES = 68  # a node, of the policy that takes most: greedy, for its tree
PATIENCE = 4  # checkpoints that eta may take to fall by a tenth


class Checkpoint(NamedTuple):
    """The state after a number of visits: certificate (L1, of probabilities) and eta (per score) of
    the window that ends here, inf in edge mode; the paper's estimate 1/sum(H); seconds of visiting
    so far."""

    visits: int
    certificate: float
    eta: float
    paper: float
    seconds: float


@dataclass(frozen=True, eq=False)
class OpicResult:
    """window: h of the checkpoint `best`, whose certificate is the smallest (in edge mode: of the
    last), float64[N]. total: its sum. scale: what makes it Heritrix's scores.

    reached: the certificate is at most opic_error. history: every checkpoint.
    """

    window: Floats
    total: float
    scale: float
    best: Checkpoint
    reached: bool
    history: tuple[Checkpoint, ...]

    @property
    def importance(self) -> Floats:
        """Probabilities, float64[N], made anew."""
        return self.window / self.total

    @property
    def scores(self) -> Floats:
        """The probabilities on Heritrix's scale, in a new array."""
        return self.window * self.scale


class _Window(NamedTuple):
    """Visits up to here, sum(H), then of the window: h, g, e, and how often a page may have been
    added to at most."""

    visits: int
    total: float
    h: Floats
    g: float
    e: Floats
    adds: Positions | int


def opic(graph: Graph, options: OpicOptions | None = None) -> OpicResult:
    """Run OPIC until its certificate is small enough or the visits are used up."""
    options = options or OpicOptions()
    bank, edge_mode = _Bank(graph, options.virtual_page), options.virtual_page == "edge"
    _compile(bank, options.policy)
    windows = _sweeps if options.policy == "cycle" else _histories
    history: list[Checkpoint] = []
    begin, best, kept = time.perf_counter(), None, np.empty(graph.nodes)
    for window in windows(bank, options):
        bounds = (math.inf, math.inf) if edge_mode else _bounds(window, bank.cash)
        seconds = time.perf_counter() - begin
        now = Checkpoint(window.visits, *bounds, 1 / window.total, seconds)
        history.append(now)
        if best is None or edge_mode or now.certificate < best.certificate:
            best, total = now, window.h.sum()
            kept[:] = window.h
            scale = RECIPE.base / (window.g + window.e.mean())
        del window  # before the next one is made
        if best.certificate <= options.opic_error and _settled(history, options.opic_error):
            break
    assert best is not None  # every policy makes a visit
    reached = best.certificate <= options.opic_error
    return OpicResult(kept, total, scale, best, reached, tuple(history))


def _compile(bank: _Bank, policy: Policy) -> None:
    """Compile the loops, outside the clock, by doing nothing."""
    if policy == "cycle":
        bank.sweep(math.inf)
    else:
        bank.visit(0 if policy == "greedy" else np.arange(0))
    one = np.ones(1)
    _bounds(_Window(0, 0.0, one, 1.0, one, np.ones(1, np.int64)), one)


def _bounds(window: _Window, cash: Floats) -> tuple[float, float]:
    """The certificate and eta of the equations above, with what rounding may have done to e.

    Each addition to a page is wrong by at most UNIT of what the page then held, which is no more
    than what it recorded, holds now and got from the virtual page.
    """
    n, adds = len(cash), np.broadcast_to(window.adds, len(cash))
    total_e, total_h = compiled(totals)(window.e, window.h)
    mean = total_e / n
    window_of = (window.e, mean, window.h, cash, window.g, adds, UNIT)
    apart, doubt, most = compiled(deviations)(*window_of)
    certificate = (apart + 2 * doubt) / (RECIPE.base * total_h)
    eta = (most + doubt / n) / (window.g + mean)
    return certificate * SAFETY, eta * SAFETY


def _settled(history: list[Checkpoint], error: float) -> bool:
    """Is eta small enough, or has it all but stopped falling? Hubs keep it far above the
    certificate, and the more so the larger the graph; rounding may keep it above the error."""
    last = history[-1].eta
    return last <= error or (len(history) > PATIENCE and last > 0.9 * history[-1 - PATIENCE].eta)


def _sweeps(bank: _Bank, options: OpicOptions) -> Iterator[_Window]:
    """Cycle: pages by position, over and over, but those that hold less than `least`; the window
    is the whole history. Sums of a page that is passed by stay below `least`, and up to an indegree
    is added to them in a sweep: what rounding does to that is counted in `adds`, too."""
    n, visits, sweeps = bank.graph.nodes, 0, 0
    gift, indegrees = 1 / n, bank.graph.indegrees
    allowed = min(options.opic_error, 1.0) / 2 if bank.kept else 0.0
    least = allowed * gift
    while visits < n * max(1, math.floor(options.max_visits)):
        made, end = n, visits + n
        while made and visits < end:
            made = bank.sweep(least)
            visits, sweeps = visits + made, sweeps + 1
        adds = np.multiply(indegrees, math.ceil(max(1.0, sweeps * allowed)), dtype=np.int64)
        adds += sweeps
        total, e = float(bank.recorded.sum()), np.negative(bank.cash)
        yield _Window(visits, total, bank.recorded, gift, e, adds)
        least = least if made else least / 10  # the bounds need less than was thought


def _histories(bank: _Bank, options: OpicOptions) -> Iterator[_Window]:
    """Random and greedy: the window is the whole history, its importance H + C."""
    n, g, visits = bank.graph.nodes, 0.0, 0
    rng = np.random.default_rng(options.seed)
    allowed = max(1, round(options.max_visits * n))
    while visits < allowed:
        count = min(n, allowed - visits)
        if options.policy == "greedy":
            g += bank.visit(count)
        else:
            pieces = (min(PAGES, count - at) for at in range(0, count, PAGES))
            g += bank.visit_in(rng.integers(n, size=piece) for piece in pieces)
        visits += count
        total = float(bank.recorded.sum())
        yield _Window(visits, total, bank.recorded + bank.cash, g, bank.not_given(), 2 * visits)


def shares_of(offsets: Positions, edges: float | None) -> Floats:
    """The part of its cash that a page gives to each target, float64[N], 0 where it has none.

    edges: how many edges to the virtual page every page has besides, not only whole ones; None:
    the virtual page gets 0.15 of the cash instead.
    """
    share = np.zeros(len(offsets) - 1)
    for at in range(0, len(share), PAGES):
        degrees = np.diff(offsets[at : at + PAGES + 1])
        most = np.maximum(degrees, 1)
        equal = RECIPE.damping / most if edges is None else 1 / (most + edges)
        share[at : at + PAGES] = np.where(degrees > 0, equal, 0.0)
    return share


class _Bank:
    """Cash and records of all pages, settled between calls, and the parts that pages give away.

    share: see shares_of. kept: part that each page of the graph gets through the virtual page from
    one with targets, or as much as a target where it is 0; dangling: from one without."""

    def __init__(self, graph: Graph, virtual_page: VirtualPage) -> None:
        n, edge_mode = graph.nodes, virtual_page == "edge"
        self.graph, self.cash, self.recorded = graph, np.full(n, 1 / n), np.zeros(n)
        self.share = shares_of(graph.offsets, 1.0 if edge_mode else None)
        self.kept, self.dangling = 0.0 if edge_mode else RECIPE.base / n, 1 / n

    def visit(self, order: Positions | int) -> float:
        """Read the pages in this order, or this number of times the page with most cash. Returns
        what the virtual page gave to each page."""
        if not isinstance(order, int):
            return self.visit_in([order])
        winner = np.empty(2 * width_of(len(self.cash)), self.graph.targets.dtype)
        given = float(compiled(greedy)(order, winner, *self._state(), winner[:0]))
        release(self.graph.targets, 0, self.graph.edges)
        self.cash += given
        return given

    def sweep(self, least: float) -> int:
        """Read the pages that hold at least so much; how many. The virtual page keeps its cash."""
        targets = np.asarray(self.graph.targets)  # unsigned, a loop need not check their signs
        offsets, state = self.graph.offsets, (self.share, self.cash, self.recorded)
        edges, visits = (offsets, targets.view(f"u{targets.itemsize}")), 0
        for begin in range(0, self.graph.nodes, PAGES):
            end = min(begin + PAGES, self.graph.nodes)
            visits += int(compiled(sweep)(least, *edges, state, (begin, end)))
            release(self.graph.targets, int(offsets[begin]), int(offsets[end]))
        return visits

    def visit_in(self, orders: Iterable[Positions]) -> float:
        """Read the pages in these orders, one after the other, as if it were one."""
        step, given, state = compiled(visit), 0.0, self._state()
        offsets, targets = self.graph.offsets, self.graph.targets
        for order in orders:
            given = float(step(order, given, *state))
            if len(order):
                first, last = int(order.min()), int(order.max())
                release(targets, int(offsets[first]), int(offsets[last + 1]))
        self.cash += given
        return given

    def _state(self) -> tuple[Any, ...]:
        edges = self.graph.offsets, np.asarray(self.graph.targets)
        constants = self.share, self.kept, 1.0, self.dangling
        return *edges, *constants, self.cash, self.recorded, self.cash[:0]

    def not_given(self) -> Floats:
        """C_s - 0.85 A C: what a page began with, less what it would get if every page gave its
        cash now."""
        flow = np.zeros(self.graph.nodes)
        edges = self.graph.offsets, np.asarray(self.graph.targets)
        compiled(spread)(*edges, self.share, self.cash, flow)
        release(self.graph.targets, 0, self.graph.edges)
        return np.subtract(1 / len(flow), flow, out=flow)


def width_of(pages: int) -> int:
    """Leaves of a tournament: the first power of two that is enough."""
    return 1 << max(0, pages - 1).bit_length()
