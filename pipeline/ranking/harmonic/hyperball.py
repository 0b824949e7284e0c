"""Sums over estimated distances: HyperBall, for graphs on which exact distances take too long.

Each page has 2^log2m registers of HyperLogLog, which count the pages from which at most t links
lead to it. In round t the registers of a page become the largest of its own and of its sources'. A
page at distance t is one that round t adds. Source: Boldi, Vigna: *In-Core Computation of Geometric
Centralities with HyperBall* (2013). Counts are by the estimator of Ertl: *New Cardinality
Estimation Algorithms for HyperLogLog Sketches* (2017), which needs no table of corrections.

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

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.pipeline.data.csr import Csr, Ids, Offsets, Team, team_of
from crawlrank.pipeline.data.graph import Floats, Mask
from crawlrank.pipeline.data.memory import require_memory
from crawlrank.pipeline.ranking.inputs import LEAST_LOG2M
from crawlrank.pipeline.ranking.options import FINAL, Round
from crawlrank.pipeline.ranking.solution import Problem, Solution, State

USUAL_LOG2M = 8
DEVIATION = 1.04
SIGMAS, CONFIDENCE = 3.0, 0.99
ROW_BYTES = 4 * 8 + 2
SHIFT = 48  # registers above it add nothing that counts
Registers = npt.NDArray[np.uint8]


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
    """before, after: uint8[N * m], the registers of the last round and of this one. was, became:
    which pages changed in them. sizes: the counts of the last round. harmonic, total: the sums of 1
    / t and of t over the pages at distance t."""

    def __init__(self, csr: Csr, log2m: int, seed: int) -> None:
        self.log2m = log2m
        m = 1 << log2m
        self._before: Registers = np.zeros(csr.nodes * m, np.uint8)
        begin_all(self._before, log2m, seed)
        self._after = self._before.copy()
        self._was: Mask = np.ones(csr.nodes, np.bool_)
        self._became: Mask = np.zeros(csr.nodes, np.bool_)
        self._sigma = sigmas(m)
        self._alone = size_of(self._before, 0, m, self._sigma)
        self._sizes = np.full(csr.nodes, self._alone)
        self.harmonic, self.total = np.zeros(csr.nodes), np.zeros(csr.nodes)
        self.changed, self.grows = csr.nodes, True

    def grow(self, team: Team, distance: int, begin: int, end: int) -> int:
        """How many pages of a range changed."""
        return grow(
            team.offsets, team.sources, self._before, self._after, self._was, self._became,
            self._sizes, self.harmonic, self.total, self._sigma, float(distance), begin, end,
        )  # fmt: skip

    def turn(self, changed: int) -> None:
        self._before, self._after = self._after, self._before
        self._was, self._became = self._became, self._was
        self.changed, self.grows = changed, changed > 0

    def reach(self) -> Floats:
        reach: Floats = np.maximum(self._sizes - self._alone, 0.0)
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
def begin_all(registers: Registers, log2m: int, seed: int) -> None:
    """Count each page itself: in the register of its lowest bits, the place of the first bit that
    is set above these."""
    m = 1 << log2m
    for node in range(len(registers) // m):
        bits = hash_of(node, seed)
        rest = bits >> np.uint64(log2m)
        rank = 1
        while rank <= SHIFT and not rest & np.uint64(1):
            rest >>= np.uint64(1)
            rank += 1
        registers[node * m + np.int64(bits & np.uint64(m - 1))] = rank


@loop
def size_of(registers: Registers, begin: int, m: int, sigma: Floats) -> float:
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
    before: Registers,
    after: Registers,
    was: Mask,
    became: Mask,
    sizes: Floats,
    harmonic: Floats,
    total: Floats,
    sigma: Floats,
    distance: float,
    begin: int,
    end: int,
) -> int:
    """A round for a range of pages: their registers, whether they changed, and what that adds to
    their sums. Returns how many did."""
    m, changed = len(sigma) - 1, 0
    for node in range(begin, end):
        row = node * m
        if was[node]:
            for at in range(row, row + m):
                after[np.uint64(at)] = before[np.uint64(at)]
        joined = False
        for k in range(offsets[node], offsets[node + 1]):
            source: int = np.int64(sources[k])  # type: ignore[assignment]
            if was[source]:
                joined = True
                join(before, source * m, after, row, m)
        became[node] = joined and differs(before, after, row, m)
        if became[node]:
            size = size_of(after, row, m, sigma)
            harmonic[node] += (size - sizes[node]) / distance
            total[node] += (size - sizes[node]) * distance
            sizes[node] = size
            changed += 1
    return changed


@loop
def join(before: Registers, other: int, after: Registers, row: int, m: int) -> None:
    """The larger of each two registers. Places are unsigned, so that numba does not look whether
    they count from the end, and takes many bytes at once."""
    for at in range(m):
        ours, theirs = after[np.uint64(row + at)], before[np.uint64(other + at)]
        after[np.uint64(row + at)] = theirs if theirs > ours else ours


@loop
def differs(before: Registers, after: Registers, row: int, m: int) -> bool:
    bits = np.uint8(0)
    for at in range(row, row + m):
        bits |= np.uint8(before[np.uint64(at)] ^ after[np.uint64(at)])
    return bool(bits != 0)
