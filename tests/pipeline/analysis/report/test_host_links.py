"""Links of hosts, counted one by one in Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.analysis.report.host_links import hosts_of, links_among
from crawlrank.pipeline.data.csr import Csr


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[int], set[tuple[int, int]]]:
    """Pages of each host, and links between pages."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    pages = st.integers(0, sum(sizes) - 1)
    edges = draw(st.sets(st.tuples(pages, pages).filter(lambda edge: edge[0] != edge[1])))
    return sizes, edges


@given(graphs())
def test_every_link_counts_once(graph: tuple[list[int], set[tuple[int, int]]]) -> None:
    sizes, edges = graph
    nodes = sum(sizes)
    by_target = sorted((target, source) for source, target in edges)
    indegrees = np.bincount([target for target, _ in by_target], minlength=nodes).astype(np.int64)
    csr = Csr(
        np.concatenate(([0], np.cumsum(indegrees))),
        np.array([source for _, source in by_target], np.uint32),
        np.bincount([source for source, _ in edges], minlength=nodes).astype(np.uint32),
    )
    host = [number for number, size in enumerate(sizes) for _ in range(size)]
    scores = np.arange(1.0, nodes + 1)
    captured = np.arange(nodes) % 2 == 0
    begins = np.array([host.index(number) for number in range(len(sizes))], np.int64)
    hosts = hosts_of(begins, csr, scores, captured)
    pairs = Counter((host[source], host[target]) for source, target in edges)
    for number in range(len(sizes)):
        own = [page for page in range(nodes) if host[page] == number]
        assert hosts.pages[number] == len(own)
        assert hosts.captured[number] == sum(page % 2 == 0 for page in own)
        assert hosts.scores[number] == sum(page + 1 for page in own)
        assert hosts.best[number] == own[-1] + 1
        assert hosts.within[number] == pairs[number, number]
        into = sum(count for (a, b), count in pairs.items() if b == number != a)
        out = sum(count for (a, b), count in pairs.items() if a == number != b)
        assert (hosts.incoming[number], hosts.outgoing[number]) == (into, out)
    chosen = hosts.largest(3)
    assert chosen == sorted(range(len(sizes)), key=lambda n: (-hosts.scores[n], n))[:3]
    assert links_among(begins, csr, chosen) == [[pairs[a, b] for b in chosen] for a in chosen]
