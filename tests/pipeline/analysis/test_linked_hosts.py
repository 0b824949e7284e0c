"""Hosts as ranges of keys, and their links, counted one by one in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.made_uris import made_uris
from support.inputs.samples import HOSTILE

from crawlrank.jobs.kernel.keys.keys import key_function
from crawlrank.pipeline.analysis.linked_hosts import (
    class_counts,
    host_ranges,
    hosts_of,
    links_among,
)
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.site_names import host_name


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


def batches(keys: list[str], size: int) -> Iterator[pa.RecordBatch]:
    for at in range(0, len(keys), size):
        yield pa.record_batch({"key": pa.array(keys[at : at + size], pa.string())})


@given(
    st.lists(st.sampled_from(["a)", "a)/b)", "b,a)/", "b,a:8)/", "c", "é,c)/x"])), st.integers(1, 4)
)
def test_hosts_are_ranges_of_keys(keys: list[str], size: int) -> None:
    keys = sorted(keys, key=str.encode)
    found = list(host_ranges(batches(keys, size)))
    grouped = [(host, len(list(same))) for host, same in groupby(k.split(")")[0] for k in keys)]
    assert [(host.key, host.end - host.begin) for host in found] == grouped
    assert [host.begin for host in found] == [0, *(host.end for host in found)][: len(found)]


@pytest.mark.slow
def test_the_keys_of_a_host_follow_each_other() -> None:
    made = {key_function(False)(uri) for uri in made_uris(5_000, 1, HOSTILE)}
    keys = sorted(key.decode() for key in made if key and key.isascii())
    hosts = [host.key for host in host_ranges(batches(keys, 100))]
    assert len(hosts) == len(set(hosts)) > 100


@pytest.mark.parametrize(
    ("uri", "host"),
    [
        (b"http://www.archive.org/a)b", "archive.org"),
        (b"http://web.archive.org:8080/", "web.archive.org:8080"),
        (b"http://127.0.0.1:18081/x", "127.0.0.1:18081"),
        (b"http://127.0.0.1/", "127.0.0.1"),
        (b"http://localhost/", "localhost"),
    ],
)
def test_names_of_hosts(uri: bytes, host: str) -> None:
    key = key_function(False)(uri)
    assert key is not None
    (found,) = host_ranges(batches([key.decode()], 1))
    assert host_name(found.key) == host


def test_class_counts() -> None:
    classes = np.array([1, 3, 3, 2, 1, 1])
    assert class_counts(classes, 1, 5, 4).tolist() == [1, 1, 2, 0]
