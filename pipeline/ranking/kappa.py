"""Cohen's kappa: how far two classifications agree beyond chance, and how sure that is.

Of n things let p_ij be the part in class i of the one and j of the other, p_i. and p_.j the sums of
rows and columns, and w_ij from 0 to 1 what a pair of classes counts (Cohen 1960, 1968):

    P_o = sum w_ij p_ij    P_e = sum w_ij p_i. p_.j    kappa = (P_o - P_e) / (1 - P_e)

With w_i. = sum over j of w_ij p_.j and w_.j = sum over i of w_ij p_i. its asymptotic variance is
(Fleiss, Cohen, Everitt 1969, Large sample standard errors of kappa and weighted kappa)

    (sum p_ij (w_ij - (w_i. + w_.j)(1 - kappa))^2 - (kappa - P_e (1 - kappa))^2) / (n (1 - P_e)^2)

The interval of 95 % is kappa -+ 1.96 standard errors, cut to [-1, 1]. It holds for large n: with a
few dozen things it is a rough guide.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.pipeline.data.graph import Floats

NORMAL = 1.959963984540054  # 0.975 quantile of the normal distribution


class Kappa(NamedTuple):
    """low, high: the interval of 95 %."""

    value: float
    standard_error: float
    low: float
    high: float


def quadratic_weights(classes: int) -> Floats:
    """float64[k, k], 1 - (i - j)^2 / (k - 1)^2: near classes agree in part. classes: at least 2."""
    numbers = np.arange(classes)
    weights: Floats = 1 - ((numbers[:, None] - numbers) / (classes - 1)) ** 2
    return weights


def kappa(confusion: npt.NDArray[np.int64], weights: Floats | None = None) -> Kappa | None:
    """Of counts[k, k] by the two classes; None where chance alone agrees fully, so that kappa is
    0 / 0, as when all are in one class.

    weights: float64[k, k], 1 on the diagonal; by default 0 elsewhere.
    """
    total = int(confusion.sum())
    if not total:
        return None
    weights = np.eye(len(confusion)) if weights is None else weights
    parts = confusion / total
    rows, columns = parts.sum(axis=1), parts.sum(axis=0)
    observed, expected = float((weights * parts).sum()), float(rows @ weights @ columns)
    chance = 1 - expected
    if not _can_disagree(confusion, weights):
        return None
    value = (observed - expected) / chance
    of_rows, of_columns = weights @ columns, rows @ weights
    spread = weights - (of_rows[:, None] + of_columns) * (1 - value)
    variance = float((parts * spread**2).sum()) - (value - expected * (1 - value)) ** 2
    error = math.sqrt(max(variance, 0.0) / total) / chance
    low, high = max(value - NORMAL * error, -1.0), min(value + NORMAL * error, 1.0)
    return Kappa(value, error, low, high)


def _can_disagree(confusion: npt.NDArray[np.int64], weights: Floats) -> bool:
    """Whether a class of the one and a class of the other, both in use, count less than 1."""
    rows, columns = confusion.any(axis=1), confusion.any(axis=0)
    return bool((weights[np.ix_(rows, columns)] < 1).any())
