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
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from crawlrank.pipeline.data.graph import Floats

CHANCE = 1e-6
SEED = 20030520  # of the random vectors
STEPS = 24  # of a cycle, where memory allows
LEAST_STEPS = 4
GAP_STEPS = 400  # then eps is 0.1 %
ENDED = 1e-14  # of theta: what is left is rounding

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
