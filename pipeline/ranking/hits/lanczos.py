"""The largest singular value of the links with its hub vector, and how far it is from the others.

**The vector**: Lanczos' method on C = M M^T, with all vectors of a cycle kept and orthogonal; the
next cycle begins with the best combination of this one (Golub, Van Loan, *Matrix Computations*,
chapter 10). With theta = u^T C u and rho = |C u - theta u|, the true vector u* is at an angle to u
whose sine is at most rho / (theta - lambda_2) (Davis, Kahan 1970).

**The gap**: lambda_2, the second eigenvalue of C, is at most the largest one of P C P, with
P = I - u u^T, whatever u is (Courant, Fischer). After k steps of Lanczos' method from a random
vector, its estimate xi of that is such that lambda > xi / (1 - eps) has at most the probability
1.648 sqrt(n) exp(-sqrt(eps) (2 k - 1)) (Kuczynski, Wozniakowski: *Estimating the Largest Eigenvalue
by the Power and Lanczos Algorithms with a Random Start*, 1992). That probability is CHANCE here.

The matrix of links is M = (L + eps) R^(1/2), with L_ij = 1 for an edge i->j, R the relevance.

A hub vector has a number for each row. Rows are the nodes with edges out; all nodes where eps adds
something to each. Memory: 16 bytes a row for each thread, and, where they fit, 4 bytes an edge for
the rows of sources; otherwise sources are read where they lie, and all nodes are rows.

The loops over edges, compiled by numba when first used, compute

    t_j = e + sum over edges i->j of u_i,  h_i = sum over edges i->j of r_j t_j,

with e what a perturbed matrix adds. Every loop takes a range of nodes. relevance has the number of
every node, or one for all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from crawlrank.jobs.kernel.machine.machine_code import loop
from crawlrank.jobs.kernel.rank.array_types import two_sum
from crawlrank.jobs.kernel.rank.plain_round import UNIT
from crawlrank.pipeline.data.csr import Ids, Offsets, Team, id_type, read_only
from crawlrank.pipeline.data.graph import Floats, Mask, Targets
from crawlrank.pipeline.ranking.exact_sums import CHUNKS, Chunks, add, rounded_sum
from crawlrank.pipeline.ranking.structure.components import flatten, join_one, root_of


@loop
def there_and_back(
    offsets: Offsets,
    rows: Ids,
    relevance: Floats,
    pairs: Floats,
    extra: float,
    begin: int,
    end: int,
) -> float:
    """Add to pairs[i, 1] what a range gives back to hubs, h_i, of their numbers u_i in pairs[i, 0].

    rows: of the source of each edge. Both numbers lie side by side, as each edge needs both.
    Returns the sum of r_j t_j.
    """
    each, total = len(relevance) > 1, 0.0
    for j in range(begin, end):
        r = relevance[j if each else 0]
        if r == 0.0:
            continue
        flow = extra
        for k in range(offsets[j], offsets[j + 1]):
            flow += pairs[rows[k], 0]
        given = r * flow
        for k in range(offsets[j], offsets[j + 1]):
            pairs[rows[k], 1] += given
        total += given
    return total


@loop
def join_hubs(
    offsets: Offsets, rows: Ids, relevance: Floats, roots: Targets, begin: int, end: int
) -> None:
    """Join the hubs of each node of a range that counts. roots: of rows, as in components.py."""
    each = len(relevance) > 1
    for j in range(begin, end):
        if relevance[j if each else 0] == 0.0 or offsets[j] == offsets[j + 1]:
            continue
        root = root_of(roots, np.int64(rows[offsets[j]]))
        for k in range(offsets[j] + 1, offsets[j + 1]):
            root = join_one(roots, root, np.int64(rows[k]))


@loop
def carefully(
    offsets: Offsets,
    rows: Ids,
    relevance: Floats,
    pairs: Floats,
    extra: float,
    begin: int,
    end: int,
) -> float:
    """What `there_and_back` does, with sums over the edges to a node in two parts: a node may have
    millions."""
    each, total = len(relevance) > 1, 0.0
    for j in range(begin, end):
        r = relevance[j if each else 0]
        if r == 0.0:
            continue
        high, low = extra, 0.0
        for k in range(offsets[j], offsets[j + 1]):
            value = pairs[rows[k], 0]
            high, error = two_sum(high, value)
            low += error
        given = r * (high + low)
        for k in range(offsets[j], offsets[j + 1]):
            pairs[rows[k], 1] += given
        total += given
    return total


@loop
def gather(offsets: Offsets, rows: Ids, values: Floats, sums: Floats, begin: int, end: int) -> None:
    """The sum over the edges to each node of a range."""
    for i in range(begin, end):
        total = 0.0
        for k in range(offsets[i], offsets[i + 1]):
            total += values[rows[k]]
        sums[i] = total


@loop
def gather_exactly(
    offsets: Offsets, sources: Ids, values: Floats, sums: Floats, begin: int, end: int
) -> None:
    """The correctly rounded sum over the edges to each node of a range."""
    chunks = np.zeros(CHUNKS, np.int64)
    for i in range(begin, end):
        sums[i] = rounded_sum(sources, values, offsets[i], offsets[i + 1], chunks)


@loop
def square_sum(values: Floats, begin: int, end: int) -> Chunks:
    """The exact sum of squares, each rounded."""
    chunks = np.zeros(CHUNKS, np.int64)
    for i in range(begin, end):
        add(chunks, values[i] * values[i])
    return chunks


@loop
def turn(offsets: Offsets, sources: Ids, ends: Offsets, targets: Ids) -> None:
    """The targets of each node, ascending, from the sources of each. ends: where the targets of
    each node begin; where they end, afterwards."""
    for j in range(len(offsets) - 1):
        for k in range(offsets[j], offsets[j + 1]):
            i = sources[k]
            targets[ends[i]] = j
            ends[i] += 1


CHANCE = 1e-6
SEED = 20030520  # of the random vectors
STEPS = 24  # of a cycle, where memory allows
LEAST_STEPS = 4
GAP_STEPS = 400  # then eps is 0.1 %
ENDED = 1e-14  # of theta: what is left is rounding
CANCELLED = 0.1  # of a vector that is left; then what is left is made orthogonal again

Apply = Callable[[Floats], Floats]


class Pair(NamedTuple):
    """An eigenvalue of C, its vector of length 1, and |C u - theta u|."""

    theta: float
    u: Floats
    residual: float


def random_start(rows: int) -> Floats:
    """A vector whose direction is uniform on the sphere."""
    return np.random.default_rng(SEED).standard_normal(rows)


def cycle(apply: Apply, start: Floats, steps: int, enough: float) -> Floats:
    """The best vector after at most `steps` steps; fewer where the residual is `enough` times theta
    by then. Of length 1, and its entries are at least 0, as the best of all has none below."""
    basis = np.empty((min(steps, len(start)), len(start)))
    diagonal, beside = list[float](), list[float]()
    v = start / np.linalg.norm(start)
    for k in range(len(basis)):
        basis[k] = v
        w = apply(v)
        diagonal.append(float(w @ v))
        before = float(np.linalg.norm(w))
        w -= basis[: k + 1].T @ (basis[: k + 1] @ w)
        length = float(np.linalg.norm(w))
        if length < CANCELLED * before:  # twice is enough (Parlett, 6.9)
            w -= basis[: k + 1].T @ (basis[: k + 1] @ w)
            length = float(np.linalg.norm(w))
        theta, vector = _best(diagonal, beside)
        if length * abs(vector[-1]) <= enough * theta or length <= ENDED * theta:
            break
        beside.append(length)
        v = w / length
    best: Floats = np.abs(vector @ basis[: len(vector)])
    best /= np.linalg.norm(best)
    return best


def measured(apply: Apply, u: Floats) -> Pair:
    """u: of length 1."""
    image = apply(u)
    theta = float(image @ u)
    return Pair(theta, u, float(np.linalg.norm(image - theta * u)))


def second(apply: Apply, pair: Pair, wanted: float) -> tuple[float, float]:
    """(lower, upper) bounds of the largest eigenvalue of P C P, which lambda_2 is not above; the
    lower one is certain, the upper one but for CHANCE. Ends when the upper one is at most `wanted`,
    or after GAP_STEPS."""
    u, rows = pair.u, len(pair.u)
    if rows == 1:
        return 0.0, 0.0

    def orthogonal(vector: Floats) -> Floats:
        vector -= (u @ vector) * u
        return vector

    v = orthogonal(random_start(rows))
    v /= np.linalg.norm(v)
    before: Floats = np.zeros(rows)
    diagonal, beside = list[float](), list[float]()
    low, high = 0.0, math.inf
    for k in range(1, min(GAP_STEPS, rows - 1) + 1):
        w = orthogonal(apply(v))
        diagonal.append(float(w @ v))
        w -= diagonal[-1] * v
        if beside:
            w -= beside[-1] * before
        low = max(_best(diagonal, beside)[0], 0.0)
        root = math.log(1.648 * math.sqrt(rows) / CHANCE) / (2 * k - 1)
        high = low / (1 - root**2) if root < 1 else math.inf
        length = float(np.linalg.norm(orthogonal(w)))
        if high <= wanted:
            break
        if k == rows - 1 or length <= ENDED * pair.theta:
            high = (
                low + rows * ENDED * pair.theta
            )  # v has a part of all eigenvectors, and ended here
            break
        beside.append(length)
        before, v = v, w / length
    return low, high


def _best(diagonal: list[float], beside: list[float]) -> tuple[float, Floats]:
    """The largest eigenvalue of a symmetric tridiagonal matrix, and its vector."""
    matrix = np.diag(diagonal) + np.diag(beside[: len(diagonal) - 1], 1)
    values, vectors = np.linalg.eigh(matrix + np.triu(matrix, 1).T)
    return float(values[-1]), vectors[:, -1]


class Links:
    """relevance: float64[1] or float64[N]. perturb: eps. budget: bytes for the rows of sources.
    wanted: what sums may be wrong by, relative."""

    def __init__(
        self, team: Team, relevance: Floats, perturb: float, *, budget: int, wanted: float
    ) -> None:
        self.team, self.relevance, self.perturb = team, relevance, perturb
        compact = not perturb and 4 * team.edges + 4 * team.nodes <= budget
        self.nodes = np.flatnonzero(team.outdegrees) if compact else np.arange(team.nodes)
        self._rows: Ids = self._placed() if compact else team.sources
        self._compact = compact
        ends = np.linspace(0, team.edges, team.threads + 1)[1:-1]
        self._cuts = [0, *np.searchsorted(team.offsets, ends).tolist(), team.nodes]
        self._pairs = [np.zeros((len(self.nodes), 2)) for _ in range(team.threads)]
        terms, most = int(np.diff(team.offsets).max()), int(team.outdegrees.max())
        many = UNIT * terms > wanted  # then sums over the edges to a node are taken in two parts
        self._loop = carefully if many else there_and_back
        self.doubt = UNIT * ((0 if many else terms) + most + 2 * team.threads + 16)

    def _placed(self) -> Ids:
        kind = id_type(len(self.nodes))
        row_of: Any = np.zeros(self.team.nodes, kind)
        row_of[self.nodes] = np.arange(len(self.nodes), dtype=kind)
        rows: Any = np.empty(self.team.edges, kind)

        def of_range(begin: int, end: int) -> None:
            edges = slice(self.team.offsets[begin], self.team.offsets[end])
            np.take(row_of, self.team.sources[edges], out=rows[edges], mode="clip")

        self.team.over_nodes(of_range)
        placed: Ids = read_only(rows)
        return placed

    def squared(self, u: Floats) -> Floats:
        """M M^T u; each number is wrong by at most `doubt` of what |M| |M^T| |u| has there."""
        extra = self.perturb * float(u.sum()) if self.perturb else 0.0
        totals = self.team.each(lambda t: self._pass(t, u, extra))
        out: Floats = self._pairs[0][:, 1].copy()
        for others in self._pairs[1:]:
            out += others[:, 1]
        if self.perturb:
            out += self.perturb * sum(totals)
        return out

    def _pass(self, thread: int, u: Floats, extra: float) -> float:
        team, pairs, total = self.team, self._pairs[thread], 0.0
        pairs[:, 0], pairs[:, 1] = u, 0
        for block in team.blocks(self._cuts[thread], self._cuts[thread + 1]):
            total += self._loop(team.offsets, self._rows, self.relevance, pairs, extra, *block)
            if not self._compact:
                team.release(*block)
        return total

    def community(self, row: int) -> Mask:
        """The rows that a row shares authorities with, or that share some with these, and so on:
        where the only hubs and authorities above 0 are, if the row is one of them."""
        if self.perturb:
            return np.ones(len(self.nodes), np.bool_)
        roots: Targets = np.arange(len(self.nodes), dtype=np.int64)
        for block in self.team.blocks(0, self.team.nodes):
            join_hubs(self.team.offsets, self._rows, self.relevance, roots, *block)
            if not self._compact:
                self.team.release(*block)
        flatten(roots, np.zeros_like(roots))
        mask: Mask = roots == roots[row]
        return mask

    def authorities(self, u: Floats) -> Floats:
        """(L + eps)^T u of all nodes, float64[N]."""
        sums = np.empty(self.team.nodes)

        def of_range(begin: int, end: int) -> None:
            gather(self.team.offsets, self._rows, u, sums, begin, end)

        self.team.over_nodes(of_range)
        sums += self.perturb * float(u.sum())
        return sums
