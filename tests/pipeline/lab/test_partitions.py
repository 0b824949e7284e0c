"""A crawl by several machines: its fixed point against linear algebra, its messages by hand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.graphs import graphs, web_like

from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.lab.chain import Chain, chain_of
from crawlrank.pipeline.lab.partitions import PartitionedCrawl, owners_of

Floats = npt.NDArray[np.float64]


def matrix_of(chain: Chain) -> Floats:
    """Column j is where the cash of page j goes, the virtual page's part of it included."""
    n = chain.nodes
    matrix = np.zeros((n, n))
    for page in range(n):
        targets = chain.targets[chain.offsets[page] : chain.offsets[page + 1]]
        matrix[targets, page] = 1 / (len(targets) + 1)
        matrix[:, page] += (1 / (len(targets) + 1) if len(targets) else 1) / n
    return matrix


@settings(max_examples=examples(60), deadline=None)
@given(graphs(), st.integers(1, 5), st.integers(1, 9), st.integers(1, 4))
@pytest.mark.slow
def test_no_cash_is_lost(graph: Graph, machines: int, buffer: int, sweeps: int) -> None:
    """What pages recorded obeys the balance h - A h = cash before - cash after."""
    chain = chain_of(graph.offsets, graph.targets)
    crawl = PartitionedCrawl(chain, owners_of(graph.nodes, machines), buffer)
    before = crawl.cash.copy()
    for _ in range(sweeps):
        crawl.sweep()
    assert crawl.cash.sum() == pytest.approx(1)
    assert crawl.cash.min() >= -1e-15
    balance = crawl.recorded - matrix_of(chain) @ crawl.recorded
    assert np.allclose(balance, before - crawl.cash, atol=1e-12)


@pytest.mark.parametrize(("machines", "buffer"), [(1, 1), (2, 1), (4, 8), (7, 1000)])
def test_the_fixed_point_is_that_of_linear_algebra(machines: int, buffer: int) -> None:
    graph = web_like(120, seed=4)
    chain = chain_of(graph.offsets, graph.targets)
    system = np.vstack((matrix_of(chain) - np.eye(120), np.ones(120)))
    expected = np.linalg.lstsq(system, np.append(np.zeros(120), 1.0), rcond=None)[0]
    crawl = PartitionedCrawl(chain, owners_of(120, machines), buffer)
    for _ in range(400):
        last = crawl.recorded.copy()
        crawl.sweep()
    window = crawl.recorded - last
    assert np.allclose(window / window.sum(), expected, rtol=1e-9)


#: pages 0 and 1 are on machine 0, pages 2 and 3 on machine 1. Links that cross: 0 -> 2, 0 -> 3,
#: 1 -> 2 and 3 -> 1. 0 -> 1 and 2 -> 3 do not.
SQUARE = chain_of(np.array([0, 3, 4, 5, 6]), np.array([1, 2, 3, 2, 3, 1], np.int32))
OWNERS = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("buffer", "messages", "transfers"),
    [
        # Every transfer by itself. The gifts of a read go with its first transfer, and those of
        # page 2, whose link does not cross, with that of page 3. None is left for the end.
        (1, 4, 4),
        # 0 -> 2 and 0 -> 3 fill a buffer. 1 -> 2 and 3 -> 1 wait for the end.
        (2, 3, 4),
        # 0 -> 2 and 1 -> 2 are added up: transfers to 2, 3 and 1, in 2 messages.
        (3, 2, 3),
    ],
)
def test_messages_by_hand(buffer: int, messages: int, transfers: int) -> None:
    crawl = PartitionedCrawl(SQUARE, OWNERS, buffer)
    assert crawl.sweep() == (messages, transfers, 4)


def test_cash_by_hand() -> None:
    """One sweep of 0, 2, 1, 3 with buffers that are sent at its end.

    0 has 1/4 and gives 1/16 to 1, 2, 3 and the virtual page. 2 gives half of its 1/4 to 3. 1 has
    1/4 + 1/16 + 1/64, the last by the virtual page on its machine, and gives half to 2. 3 has
    1/4 + 1/8 + 1/32.
    """
    crawl = PartitionedCrawl(SQUARE, OWNERS, 100)
    crawl.sweep()
    assert crawl.recorded.tolist() == [16 / 64, 21 / 64, 16 / 64, 26 / 64]


def test_one_machine_sends_nothing() -> None:
    graph = web_like(50, seed=1)
    crawl = PartitionedCrawl(chain_of(graph.offsets, graph.targets), owners_of(50, 1), 1)
    traffic = crawl.sweep()
    assert (traffic.messages, traffic.crossing) == (0, 0)


def test_a_hash_spreads_pages_evenly() -> None:
    counts = np.bincount(owners_of(64_000, 16), minlength=16)
    assert len(counts) == 16
    assert owners_of(4, 3, np.array([7, 0, 5, 9])).tolist() == [1, 0, 2, 0]
    assert np.all(np.abs(counts / 4000 - 1) < 0.1)
