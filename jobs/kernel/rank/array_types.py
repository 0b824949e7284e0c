"""Types of arrays that several modules of ranking share, and the addition of sums in two parts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]  # of nodes, edges or bytes in an array


@loop
def two_sum(high: float, value: float) -> tuple[float, float]:
    """The rounded sum of two doubles, and what the rounding took away: both together are exact
    (Knuth, The Art of Computer Programming 2, 4.2.2). Sums in two parts add up both."""
    total = high + value
    added = total - high
    return total, (high - (total - added)) + (value - added)
