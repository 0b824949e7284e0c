"""Windows against sequences computed by hand, and against the paper's definitions read directly."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from support.graphs import web_like

from crawlrank.pipeline.lab import simulation as windows
from crawlrank.pipeline.lab.chain import chain_of
from crawlrank.pipeline.lab.simulation import ReadLog, Reads, Simulation


def log_of(*reads: tuple[int, float], pages: int = 3) -> ReadLog:
    numbers = np.array([page for page, _ in reads], np.int32)
    cash = np.array([held for _, held in reads])
    clock = np.cumsum(cash)
    prior = np.full(pages, 1 / pages)
    return ReadLog(Reads(numbers, cash, clock), float(clock[-1]), np.full(pages, -1.0), prior)


#: the clock after each: 0.5, 1.5, 3, 3.25, 5; page 2 is never read
BY_HAND = log_of((0, 0.5), (1, 1.0), (0, 1.5), (1, 0.25), (0, 1.75))


def test_all_history_by_hand() -> None:
    estimate = windows.whole(BY_HAND, np.array([0.5, 0.25, 0.25]))
    assert estimate.importance.tolist() == pytest.approx([4.25 / 6, 1.5 / 6, 0.25 / 6])
    assert estimate.measures.tolist() == [1, 1, 1]


def test_a_fixed_window_by_hand() -> None:
    """The last 2 of the clock begin after 3."""
    estimate = windows.fixed(BY_HAND, 2)
    assert estimate.importance.tolist() == pytest.approx([1.75 / 2, 0.25 / 2, 0])
    assert estimate.measures.tolist() == [1, 1, 0]


def test_a_fixed_window_longer_than_history_goes_back_to_its_begin() -> None:
    """Which is one unit before the clock starts."""
    estimate = windows.fixed(BY_HAND, 100)
    assert estimate.importance.tolist() == pytest.approx([3.75 / 6, 1.25 / 6, 0])
    assert estimate.measures.tolist() == [3, 2, 0]


def test_an_improved_window_by_hand() -> None:
    """Page 0 has two reads in the last 2.5, page 1 one; of both the last 2 are kept."""
    estimate = windows.improved(BY_HAND, 2.5, least=2)
    assert estimate.importance.tolist() == pytest.approx([3.25 / 2.5, 1.25 / 4.25, 1 / 3])
    assert estimate.measures.tolist() == [2, 2, 0]


def test_a_variable_window_by_hand() -> None:
    """Page 0: 1.5 + 1.75 between 0.5 and 5. Page 1: all it has, from -1 to 3.25."""
    estimate = windows.variable(BY_HAND, 2)
    assert estimate.importance.tolist() == pytest.approx([3.25 / 4.5, 1.25 / 4.25, 1 / 3])
    assert estimate.measures.tolist() == [2, 2, 0]


def test_interpolation_by_hand() -> None:
    """T = 2. Page 0: H = 2/3 at -1; 0.5: 2/3 (2 - 1.5)/2 + 0.5 = 2/3; 3: 1.5 * 2/2.5 = 1.2; 5:
    1.75 * 2/2 = 1.75. Page 1: 1.5: 1 * 2/2.5 = 0.8; 3.25: 0.8 (2 - 1.75)/2 + 0.25 = 0.35."""
    estimate = windows.interpolated(BY_HAND, 2)
    assert estimate.importance.tolist() == pytest.approx([1.75 / 2, 0.35 / 2, 1 / 3])
    assert estimate.measures.tolist() == [1, 1, 1]


@pytest.mark.parametrize("policy", ["random", "greedy", "cycle"])
@pytest.mark.parametrize("size", [1, 3, 8.5])
def test_windows_are_those_of_the_paper(policy: str, size: float) -> None:
    """Each page's measures in a list, in a graph that grew."""
    before, after = web_like(40, seed=1), web_like(55, seed=2)
    simulation = Simulation(chain_of(before.offsets, before.targets), seed=4)
    getattr(simulation, policy)(300)
    simulation.replace(chain_of(after.offsets, after.targets), np.arange(40.0))
    getattr(simulation, policy)(300)
    log, visits = simulation.log(), int(size)
    measures = defaultdict[int, list[tuple[float, float]]](list)
    for page, cash, clock in zip(*(column.tolist() for column in log.reads), strict=True):
        measures[page].append((cash, clock))
    results = {
        "fixed": windows.fixed(log, size),
        "improved": windows.improved(log, size),
        "variable": windows.variable(log, visits),
        "interpolated": windows.interpolated(log, size),
    }
    for page in range(55):
        born, prior = float(log.born[page]), float(log.prior[page])
        own = measures[page]
        recent = [cash for cash, clock in own if clock > log.now - size]
        fixed = sum(recent) / min(size, log.now - born)
        last = {k: last_visits(own, k, born, prior) for k in (3, visits)}
        history, then = prior * size, born
        for cash, clock in own:
            passed = clock - then
            kept = history * (size - passed) / size + cash
            history, then = kept if passed < size else cash * size / passed, clock
        expected = {
            "fixed": (fixed, len(recent)),
            "improved": (fixed, len(recent)) if len(recent) >= 3 else (last[3], min(3, len(own))),
            "variable": (last[visits], min(visits, len(own))),
            "interpolated": (history / size, 1),
        }
        for name, estimate in results.items():
            pair = estimate.importance[page], estimate.measures[page]
            assert pair == pytest.approx(expected[name], rel=1e-9, abs=1e-12), (name, page)


def last_visits(own: list[tuple[float, float]], k: int, born: float, prior: float) -> float:
    if not own:
        return prior
    begin = own[-k - 1][1] if len(own) > k else born
    return sum(cash for cash, _ in own[-k:]) / (own[-1][1] - begin)


def test_windows_of_no_reads_give_what_pages_began_with() -> None:
    graph = web_like(20, seed=1)
    start = np.linspace(1, 3, 20)
    log = Simulation(chain_of(graph.offsets, graph.targets), cash=start).log()
    for estimate in (windows.variable(log, 4), windows.interpolated(log, 3)):
        assert np.allclose(estimate.importance, start / start.sum())
    assert windows.fixed(log, 4).measures.sum() == 0
