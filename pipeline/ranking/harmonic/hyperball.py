"""Sums over estimated distances: HyperBall, for graphs on which exact distances take too long.

Each page has 2^log2m registers of HyperLogLog, which count the pages from which at most t links
lead to it: its ball. In round t the registers of a page become the largest of its own and of its
sources'. A page at distance t is one that round t adds. Source: Boldi, Vigna: *In-Core Computation
of Geometric Centralities with HyperBall* (2013). Counts are by the estimator of Ertl: *New
Cardinality Estimation Algorithms for HyperLogLog Sketches* (2017), which needs no table of
corrections.

Two pages in one register count as one, which for a ball of a few pages is more than the error that
is stated. So a ball of up to `few` pages has their numbers in place of registers, and is counted
exactly.

Error. A count has the relative standard deviation DEVIATION / sqrt(2^log2m), from 64 registers on.
With B_t the count of round t, the score is the sum of B_t (1/t - 1/(t+1)) over t from 1 to the last
round T, and B_T / (T+1) - 1. All but the last term add counts with positive factors, so the
deviation of the score and 1, relative to them, is no larger. `eta` is SIGMAS deviations: an error
is larger for one page in a hundred at most. It is no proof, so entries of rounds have the share
CONFIDENCE of pages within it.

A page is looked at if one of its sources, or itself, changed in the round before. Memory: two sets
of registers, and ROW_BYTES a page more. Results do not depend on threads.
"""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop, prefetch
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets, Team, team_of
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.memory import require_memory
from crawlrank.pipeline.ranking.inputs import LEAST_LOG2M
from crawlrank.pipeline.ranking.options import FINAL, Round
from crawlrank.pipeline.ranking.solution import Problem, Solution, State

USUAL_LOG2M = 8
DEVIATION = 1.04
SIGMAS, CONFIDENCE = 3.0, 0.99
ROW_BYTES = 4 * 8 + 2
NUMBER_BYTES = 8  # of a page in a ball
ROWS_AHEAD = 2  # of the row that is read
SHIFT = 48  # registers above it add nothing that counts
BallRows = npt.NDArray[np.uint8]
GrownBalls = npt.NDArray[np.uint8]  # up to few() + 1, which is 129 for MOST_LOG2M


def solve(problem: Problem, log2m: int, seed: int) -> Solution:
    """log2m: 0 for the most that memory allows, up to USUAL_LOG2M. seed: of the hash."""
    csr = problem.csr
    log2m = log2m or affordable(csr.nodes, problem.budget)
    require_memory("page-rank", csr.nodes, (2 << log2m) + ROW_BYTES, problem.budget)
    balls, rounds = _Balls(csr, log2m, seed), list[Round]()
    stop = problem.stop
    began = time.perf_counter()
    with team_of(csr, problem.threads, problem.block) as team:
        while balls.grows and len(rounds) < (stop.iterations or stop.max_rounds):
            grown = len(rounds) + 1
            changed = team.over_nodes(partial(balls.grow, team, grown))
            balls.turn(sum(changed))
            now = time.perf_counter()
            rounds.append(_entry(csr, balls, grown, now - began))
            began = now
            problem.on_round(rounds[-1], rounds, lambda: State(balls.harmonic, 0.0, rounds))
    reach, total = balls.reach(), balls.total
    closeness = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return Solution(balls.harmonic, 0.0, rounds, {"reach": reach, "closeness": closeness})


def affordable(nodes: int, budget: int) -> int:
    each = max(budget / max(nodes, 1) - ROW_BYTES, 1) / 2
    return min(USUAL_LOG2M, max(LEAST_LOG2M, int(math.log2(each))))


def deviation(log2m: int) -> float:
    """The relative standard deviation of a count."""
    return DEVIATION / math.sqrt(1 << log2m)


def _entry(csr: Csr, balls: _Balls, number: int, seconds: float) -> Round:
    """The entry of a round. While balls grow, nothing is known of the error."""
    eta = math.inf if balls.grows else SIGMAS * deviation(balls.log2m)
    entry: Round = {
        "round": number,
        "nodes": csr.nodes,
        "edges": csr.edges,
        "dangling": int(np.count_nonzero(csr.outdegrees == 0)),
        "mass": float(balls.harmonic.sum()),
        **dict.fromkeys(("certificate", "eta", "probability_certificate"), eta),
        "residual_l1": float(balls.changed),
        "residual_max": 0.0,
        "seconds": seconds,
    }
    final = {FINAL: True, "confidence": CONFIDENCE, "log2m": balls.log2m}
    return entry if balls.grows else entry | final


class _Balls:
    """before, after: uint8[N * m], the rows of the last round and of this one. A row has the
    registers of a ball, or the numbers of its pages where these are few. had, has: how many pages
    the balls have. was, became: 0 for a ball that did not change, else how many pages it has, at
    most one more than few(). harmonic, total: the sums of 1 / t and of t over the pages at distance
    t."""

    def __init__(self, csr: Csr, log2m: int, seed: int) -> None:
        self.log2m, self._seed = log2m, seed
        self._before: BallRows = np.zeros(csr.nodes << log2m, np.uint8)
        begin_all(self._before, log2m)
        self._after = self._before.copy()
        self._had, self._has = np.ones(csr.nodes), np.ones(csr.nodes)
        self._was: GrownBalls = np.ones(csr.nodes, np.uint8)
        self._became: GrownBalls = np.zeros(csr.nodes, np.uint8)
        self._sigma = sigmas(1 << log2m)
        self.harmonic, self.total = np.zeros(csr.nodes), np.zeros(csr.nodes)
        self.changed, self.grows = csr.nodes, True

    def grow(self, team: Team, distance: int, begin: int, end: int) -> int:
        """How many pages of a range changed."""
        return grow(
            team.offsets, team.sources, self._before, self._after, self._was, self._became,
            self._had, self._has, self.harmonic, self.total, self._sigma, self.log2m, self._seed,
            float(distance), begin, end,
        )  # fmt: skip

    def turn(self, changed: int) -> None:
        self._before, self._after = self._after, self._before
        self._had, self._has = self._has, self._had
        self._was, self._became = self._became, self._was
        self.changed, self.grows = changed, changed > 0

    def reach(self) -> Floats:
        reach: Floats = self._had - 1
        return reach


def sigmas(m: int) -> Floats:
    """m * sigma(c / m) of Ertl's estimator, for c registers of m that are 0; infinite for all."""
    x = np.arange(m + 1) / m
    sigma, power, weight = x.copy(), x, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(64):
            power = power * power
            sigma = sigma + power * weight
            weight += weight
    sigma[-1] = math.inf
    sigma[:] *= m
    return sigma


@loop
def hash_of(number: int, seed: int) -> np.uint64:
    """64 bits: the finalizer of SplitMix64 (Steele, Lea, Flood, 2014), twice."""
    bits = np.uint64(number) + np.uint64(seed) * np.uint64(0xD1B54A32D192ED03)
    for _ in range(2):
        bits += np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        bits = bits ^ (bits >> np.uint64(31))
    return bits


@loop
def few(log2m: int) -> int:
    """Up to how many pages a ball is counted exactly: the square root of the registers, above which
    less than one ball in a hundred has an error that is not as stated."""
    return 1 << (log2m + 1) // 2


@loop
def begin_all(rows: BallRows, log2m: int) -> None:
    """The ball of each page has itself."""
    for node in range(len(rows) >> log2m):
        put_number(rows, node << log2m, node)


@loop
def number_at(rows: BallRows, at: int) -> int:
    number = np.uint64(0)
    for byte in range(NUMBER_BYTES):
        number |= np.uint64(rows[np.uint64(at + byte)]) << np.uint64(8 * byte)
    return int(number)


@loop
def put_number(rows: BallRows, at: int, number: int) -> None:
    for byte in range(NUMBER_BYTES):
        rows[np.uint64(at + byte)] = np.uint8((number >> (8 * byte)) & 255)


@loop
def register(rows: BallRows, row: int, log2m: int, node: int, seed: int) -> None:
    """Count a page in the register of its lowest bits, by the place of the first bit that is set
    above these."""
    bits = hash_of(node, seed)
    rest = bits >> np.uint64(log2m)
    rank = 1
    while rank <= SHIFT and not rest & np.uint64(1):
        rest >>= np.uint64(1)
        rank += 1
    at = np.uint64(row) + (bits & np.uint64((1 << log2m) - 1))
    rows[at] = max(rows[at], rank)


@loop
def size_of(registers: BallRows, begin: int, m: int, sigma: Floats) -> float:
    """The count by m registers."""
    zeros = 0
    total = np.uint64(0)
    for at in range(begin, begin + m):
        value = registers[np.uint64(at)]
        zeros += value == 0
        total += np.uint64(1) << np.uint64(SHIFT - min(value, SHIFT))
    rest = total - (np.uint64(zeros) << np.uint64(SHIFT))
    scale = np.float64(np.uint64(1) << np.uint64(SHIFT))
    weight = np.float64(rest) / scale + sigma[zeros]
    size: float = 0.7213475204444817 * m * m / weight  # 1 / (2 ln 2)
    return size


@loop
def grow(
    offsets: Offsets,
    sources: Ids,
    before: BallRows,
    after: BallRows,
    was: GrownBalls,
    became: GrownBalls,
    had: Floats,
    has: Floats,
    harmonic: Floats,
    total: Floats,
    sigma: Floats,
    log2m: int,
    seed: int,
    distance: float,
    begin: int,
    end: int,
) -> int:
    """A round for a range of pages. Returns how many balls changed."""
    m, most, changed = 1 << log2m, few(log2m), 0
    for node in range(begin, end):
        row, last = node << log2m, offsets[node + 1]
        copy_row(before, after, row, m if was[node] else 0)
        first = first_changed(sources, offsets[node], last, was)
        size, grown = had[node], False
        if first < last and size <= most:
            size = listed(sources, first, last, before, after, was, node, int(size), log2m)
            grown = size > had[node]
        if first < last and size > most:
            if had[node] <= most:
                begin_registers(before, after, row, int(had[node]), log2m, seed)
            counted(sources, first, last, before, after, was, row, log2m, seed)
            grown = grown or differs(before, after, row, m)
            size = max(size_of(after, row, m, sigma), most + 1)
        became[node], has[node] = min(size, most + 1) if grown else 0, size
        if grown:
            harmonic[node] += (size - had[node]) / distance
            total[node] += (size - had[node]) * distance
            changed += 1
    return changed


@loop
def copy_row(before: BallRows, after: BallRows, row: int, m: int) -> None:
    for at in range(row, row + m):
        after[np.uint64(at)] = before[np.uint64(at)]


@loop
def first_changed(sources: Ids, first: int, last: int, was: GrownBalls) -> int:
    """The first of the sources that changed; `last` where none did."""
    while first < last and not was[np.uint64(sources[np.uint64(first)])]:
        first += 1
    return first


@loop
def listed(
    sources: Ids,
    first: int,
    last: int,
    before: BallRows,
    after: BallRows,
    was: GrownBalls,
    node: int,
    pages: int,
    log2m: int,
) -> float:
    """Add the balls of the sources that changed to a ball of few pages. Returns how many it has
    then, whose numbers are in `after`; one more than few(), if more."""
    row, most = node << log2m, few(log2m)
    for k in range(first, last):
        source: int = np.int64(sources[np.uint64(k)])  # type: ignore[assignment]
        if was[source] > most:
            return np.float64(most + 1)
        for at in range(np.int64(was[source])):
            number = number_at(before, (source << log2m) + at * NUMBER_BYTES)
            if holds(after, row, pages, number):
                continue
            if pages == most:
                return np.float64(most + 1)
            put_number(after, row + pages * NUMBER_BYTES, number)
            pages += 1
    return np.float64(pages)


@loop
def holds(rows: BallRows, row: int, pages: int, number: int) -> bool:
    at = 0
    while at < pages and number_at(rows, row + at * NUMBER_BYTES) != number:
        at += 1
    return at < pages


@loop
def begin_registers(
    before: BallRows, after: BallRows, row: int, pages: int, log2m: int, seed: int
) -> None:
    """Registers for a ball that had few pages."""
    for at in range(row, row + (1 << log2m)):
        after[np.uint64(at)] = 0
    pour(before, row, pages, after, row, log2m, seed)


@loop
def counted(
    sources: Ids,
    first: int,
    last: int,
    before: BallRows,
    after: BallRows,
    was: GrownBalls,
    row: int,
    log2m: int,
    seed: int,
) -> None:
    """Add the balls of the sources that changed to the registers of a row."""
    m, most = 1 << log2m, few(log2m)
    for k in range(first, last):
        ahead = np.uint64(sources[np.uint64(min(k + ROWS_AHEAD, last - 1))])
        prefetch(before, ahead << np.uint64(log2m))
        source: int = np.int64(sources[np.uint64(k)])  # type: ignore[assignment]
        pages: int = was[source]
        if pages > most:
            join(before, source << log2m, after, row, m)
        elif pages:
            pour(before, source << log2m, pages, after, row, log2m, seed)


@loop
def pour(
    before: BallRows, begin: int, pages: int, after: BallRows, row: int, log2m: int, seed: int
) -> None:
    """Count the pages of a ball of few in the registers of a row."""
    for at in range(np.int64(pages)):
        register(after, row, log2m, number_at(before, begin + at * NUMBER_BYTES), seed)


@loop
def join(before: BallRows, other: int, after: BallRows, row: int, m: int) -> None:
    """The larger of each two registers. Places are unsigned, so that numba does not look whether
    they count from the end, and takes many bytes at once."""
    for at in range(m):
        ours, theirs = after[np.uint64(row + at)], before[np.uint64(other + at)]
        after[np.uint64(row + at)] = theirs if theirs > ours else ours


@loop
def differs(before: BallRows, after: BallRows, row: int, m: int) -> bool:
    bits = np.uint8(0)
    for at in range(row, row + m):
        bits |= np.uint8(before[np.uint64(at)] ^ after[np.uint64(at)])
    return bool(bits != 0)
