"""The numbers that plots show: a few thousand bins or shares, for any number of nodes.

Rank against indegree: nodes counted in bins whose edges grow by a factor; up to about 10 a bin is
one whole number, so that every bin holds a number. Shares: how many nodes of a host are in each
class. Order: nodes by position. Memory: blocks of BLOCK nodes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.pipeline.data.graph import Floats, Positions, Targets

BINS = 60
BLOCK = 1 << 20


class Histogram(NamedTuple):
    """counts[i, j]: nodes with indegree in [indegrees[i], indegrees[i + 1]) and rank in [ranks[j],
    ranks[j + 1]); the edges are int64 and ascend. medians: of the ranks, for each i the middle
    of the bin that holds it, NaN where there is no node."""

    indegrees: Positions
    ranks: Positions
    counts: Positions
    medians: Floats


def edges(largest: int, bins: int = BINS) -> Positions:
    """Edges of bins for whole numbers from 1 to `largest`: whole, distinct, growing by a factor."""
    return np.unique(np.geomspace(1, largest + 1, bins + 1).round().astype(np.int64))


def rank_against_indegree(
    ranks: Positions, indegrees: Targets, bins: int = BINS, block: int = BLOCK
) -> Histogram:
    """Nodes by indegree and rank. ranks: int64[N], from 1. indegrees: int64[N], from 0, which has
    a bin of its own. block: nodes that are counted at a time."""
    columns = np.append(0, edges(max(1, int(indegrees.max())), bins))
    rows = edges(len(ranks), bins)
    shape = len(columns) - 1, len(rows) - 1
    counts = np.zeros(shape[0] * shape[1], np.int64)
    for begin in range(0, len(ranks), block):
        column = np.searchsorted(columns, indegrees[begin : begin + block], side="right") - 1
        row = np.searchsorted(rows, ranks[begin : begin + block], side="right") - 1
        counts += np.bincount(column * shape[1] + row, minlength=len(counts))
    table = counts.reshape(shape)
    return Histogram(columns, rows, table, _medians(table, rows))


def _medians(counts: Positions, rows: Positions) -> Floats:
    below = np.cumsum(counts, axis=1)
    total = below[:, -1:]
    bins = np.argmax(2 * below >= np.maximum(total, 1), axis=1)
    middles = np.sqrt(rows[:-1] * (rows[1:] - 1.0))
    return np.where(total[:, 0] > 0, middles[bins], np.nan)


def class_counts(
    classes: npt.NDArray[np.integer[Any]],
    mask: npt.NDArray[np.bool_] | None,
    begin: int,
    end: int,
    bins: int,
) -> Positions:
    """How many of the nodes begin to end - 1 are in each class from 1 to bins: int64[bins]. mask:
    only these count."""
    chosen = classes[begin:end]
    if mask is not None:
        chosen = chosen[mask[begin:end]]
    return np.bincount(chosen, minlength=bins + 1)[1:]
