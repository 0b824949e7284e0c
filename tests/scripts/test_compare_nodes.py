"""The script that compares the rules for nodes counts pairs as its words say."""

from __future__ import annotations

from itertools import combinations

import compare_nodes
import pytest
from hypothesis import given
from hypothesis import strategies as st

PAGES = st.lists(st.tuples(st.sampled_from([0.15, 0.2, 3.0]), st.integers(1, 4)), min_size=2)


@pytest.mark.slow
@given(PAGES)
def test_pairs_by_score_and_by_key(pages: list[tuple[float, int]]) -> None:
    pairs = list(combinations(pages, 2))
    apart = [(a, b) for a, b in pairs if a[1] != b[1]]
    by_key = sum(a[0] == b[0] for a, b in apart)
    assert compare_nodes.ordered(pages) == (len(pairs), len(apart) - by_key, by_key)
