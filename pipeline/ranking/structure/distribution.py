"""The complementary cumulative distribution of values: P(value >= x), at some of the values.

The points are the values of nodes whose ranks are evenly spread over the logarithm, so that the few
largest values are shown as finely as the many small ones. Memory: one copy of the values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.pipeline.data.graph import Floats


class Distribution(NamedTuple):
    """shares[i] is the part of the nodes with a value of values[i] or more; values ascend."""

    values: npt.NDArray[Any]
    shares: Floats


def distribution(values: npt.NDArray[Any], points: int) -> Distribution:
    """At most so many points, the least and the largest value among them. values: numbers [N], in
    any order."""
    return distribution_of_sorted(np.sort(values), points)


def distribution_of_sorted(ascending: npt.NDArray[Any], points: int) -> Distribution:
    """The same of values that ascend, without a copy."""
    count = len(ascending)
    if not count:
        return Distribution(ascending, np.empty(0))
    ranks = np.unique(np.geomspace(1, count, points).round().astype(np.int64))
    values = np.unique(ascending[count - ranks])
    at_least = count - np.searchsorted(ascending, values, side="left")
    return Distribution(values, at_least / count)
