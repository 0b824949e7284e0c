"""What the plots show, counted again by hand."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.analysis.plots.plot_bins import (
    BINS,
    class_counts,
    edges,
    rank_against_indegree,
)


@given(st.integers(1, 10**12))
def test_edges_are_whole_and_hold_all(largest: int) -> None:
    found = edges(largest)
    assert (found[0], found[-1]) == (1, largest + 1)
    assert (np.diff(found) > 0).all() and len(found) <= BINS + 1


PAGES = st.lists(st.integers(0, 3) | st.integers(0, 10**6), min_size=1, max_size=200)


@given(PAGES, st.randoms(use_true_random=False), st.integers(1, 30))
def test_the_histogram_has_every_page_in_its_bin(
    indegrees: list[int], shuffler: Random, bins: int
) -> None:
    ranks = list(range(1, len(indegrees) + 1))
    shuffler.shuffle(ranks)
    found = rank_against_indegree(np.array(ranks), np.array(indegrees), bins)
    columns, rows = found.indegrees.tolist(), found.ranks.tolist()
    counted = Counter(
        (bisect_right(columns, degree) - 1, bisect_right(rows, rank) - 1)
        for degree, rank in zip(indegrees, ranks, strict=True)
    )
    shown = {place: int(found.counts[place]) for place in zip(*found.counts.nonzero(), strict=True)}
    assert shown == counted and columns[:2] == [0, 1]
    for number, median in enumerate(found.medians):
        inside = sorted(
            rank
            for degree, rank in zip(indegrees, ranks, strict=True)
            if columns[number] <= degree < columns[number + 1]
        )
        if not inside:
            assert np.isnan(median)
        else:  # the lower median is in the bin that the middle is in
            lower = bisect_right(rows, inside[(len(inside) - 1) // 2])
            assert rows[lower - 1] <= median < rows[lower]


def test_pages_are_counted_over_blocks() -> None:
    ranks, indegrees = np.arange(1, 101), np.arange(100) % 7
    whole = rank_against_indegree(ranks, indegrees)
    parts = rank_against_indegree(ranks, indegrees, block=9)
    assert np.array_equal(whole.counts, parts.counts) and parts.counts.sum() == 100


def test_class_counts() -> None:
    classes = np.array([1, 3, 3, 2, 1, 1])
    mask = np.array([True, True, False, False, True, True])
    assert class_counts(classes, None, 1, 5, 4).tolist() == [1, 1, 2, 0]
    assert class_counts(classes, mask, 1, 5, 4).tolist() == [1, 0, 1, 0]
