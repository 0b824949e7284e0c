"""The order of a real crawl, replayed by Adaptive OPIC."""

from __future__ import annotations

import numpy as np
from support.graphs import web_like

from crawlrank.pipeline.lab.chain import chain_of, exact_importance
from crawlrank.pipeline.lab.simulation import Simulation, reads_by_time


def test_fetches_by_time_by_hand() -> None:
    """Page 7 is fetched twice, -1 is no page, one fetch has no time, and two have the same."""
    pages = np.array([7, 3, -1, 5, 2, 7, 4])
    times = np.array(
        ["2024-05-02", "2024-05-01", "2024-04-30", "NaT", "2024-05-02", "2024-06-01", "2023-01-01"],
        "datetime64[s]",
    )
    assert reads_by_time(pages, times).tolist() == [4, 3, 7, 2, 7]
    numbers = np.array([2.0, 1.0, 0.0, np.nan, 2.0, 3.0, -1.0])
    assert reads_by_time(pages, numbers).tolist() == [4, 3, 7, 2, 7]


def test_no_fetches() -> None:
    assert len(reads_by_time(np.zeros(0, np.int64), np.zeros(0))) == 0


def test_a_crawl_that_comes_back_at_intervals_of_its_own_finds_the_importance() -> None:
    """Whatever the order, if every page is read again and again. What pages recorded misses the
    balance of the chain by what they began with and hold now, 1 each, and cash takes at most one
    step more than the largest outdegree to the virtual page; dividing by sums doubles that."""
    graph, rng = web_like(60, seed=8), np.random.default_rng(8)
    chain = chain_of(graph.offsets, graph.targets)
    every = rng.uniform(1, 5, graph.nodes)
    fetches = [
        (page, time)
        for page in range(graph.nodes)
        for time in np.arange(every[page], 4000, every[page])
    ]
    pages, times = np.array([page for page, _ in fetches]), np.array([time for _, time in fetches])
    simulation = Simulation(chain)
    simulation.replay(reads_by_time(pages, times))
    history = simulation.recorded / simulation.clock
    steps = int(graph.outdegrees.max()) + 1
    assert steps < simulation.clock / 40
    assert np.abs(history - exact_importance(chain)).sum() <= 2 * 2 * steps / simulation.clock
