"""The made graph of the benchmarks: what it promises about itself."""

from __future__ import annotations

import made_crawl
import numpy as np
import pytest
from synthetic import web_like

EDGES = 200_000


@pytest.mark.slow
def test_it_is_a_graph_like_a_crawls() -> None:
    nodes, sources, targets = web_like(EDGES, seed=5)
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert all(source != target for source, target in pairs)
    assert max(map(max, pairs)) < nodes
    assert len(pairs) == pytest.approx(EDGES, rel=0.2)
    outdegrees, indegrees = (np.bincount(ends, minlength=nodes) for ends in (sources, targets))
    assert 0.6 <= (outdegrees == 0).mean() <= 0.7
    assert indegrees.max() > 100 * indegrees.mean()  # a heavy tail
    assert np.median(np.abs(sources - targets)) < nodes / 20  # most links stay within a host


def test_a_seed_makes_one_graph() -> None:
    one, same, other = (web_like(EDGES, seed) for seed in (1, 1, 2))
    assert np.array_equal(one[1], same[1])
    assert np.array_equal(one[2], same[2])
    assert not np.array_equal(one[2], other[2])


def test_a_large_crawl_is_several_webs() -> None:
    made = made_crawl.crawled(50_000, seed=1, archives=6, most=20_000)
    archives = [dict(pages) for pages in made]
    assert len(archives) == 6
    for number, pages in enumerate(archives):
        uris = {uri for source, targets in pages.items() for uri in (source, *targets)}
        hosts = {int(uri.partition(b"//")[2].removeprefix(b"www.")[4:11]) for uri in uris}
        assert {host % 3 for host in hosts} == {number // 2}
