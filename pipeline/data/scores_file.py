"""Scores by id, and that of dummy, in mapped files of the dataset ranks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.data.arrays import PIECE, open_array, refuse
from crawlrank.pipeline.data.graph import Floats

SCORES, DUMMY, WEIGHTS = "scores.npy", "dummy.npy", "weights.npy"
HUBS = "hubs.npy"  # of methods that tell how good a hub each page is
HOSTS, OUTWEIGHTS = "hosts.npy", "outweights.npy"  # of a ranking with weights of links
CURE = "Run page-rank to make the scores anew."


def open_scores(path: Path, nodes: int) -> Floats:
    """The scores of so many nodes, mapped. Raises BadInput for what is no number, infinite
    or below 0."""
    scores: Floats = open_array(path, (np.float64,), CURE)
    if len(scores) != nodes:
        raise BadInput(
            str(path), count_of(len(scores), "score"), f"one for each of {nodes:,} nodes", CURE
        )
    for begin in range(0, nodes, PIECE):
        some = scores[begin : begin + PIECE]
        wrong = ~((some >= 0) & (some < np.inf))  # NaN is neither
        if wrong.any():
            at = int(np.argmax(wrong))
            refuse(path, begin + at, some[at], "a number of at least 0", CURE)
    return scores


def read_dummy(path: Path) -> float:
    """The score of dummy. Raises BadInput."""
    return float(open_scores(path, 1)[0])
