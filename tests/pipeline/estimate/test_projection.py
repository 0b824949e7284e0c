"""Projections by hand: fixed parts and rates, bytes, and the bounds of memory."""

from __future__ import annotations

import pytest

from crawlrank.pipeline.estimate.clusters import cluster_needs
from crawlrank.pipeline.estimate.growth import Bracket, exactly
from crawlrank.pipeline.estimate.projection import (
    RowTimes,
    Steps,
    disk,
    memory,
    seconds_of_steps,
)
from crawlrank.pipeline.estimate.sample_run import SampleRun
from crawlrank.pipeline.ranking.stop import Stop

COUNTS = RowTimes(links=exactly(100), captures=exactly(100), uris=exactly(20))
ROWS = {"links": 1000, "captures": 50, "uris": 600, "graph": 500}


def a_run(times: int = 1, **steps: float) -> SampleRun:
    rows = {name: count * times for name, count in ROWS.items()}
    named = {name.replace("_", "-"): took for name, took in steps.items()}
    return SampleRun(rows=rows, steps=named, seconds=sum(steps.values()) + 0.5)


def test_a_fixed_part_and_a_rate() -> None:
    """0.3 s and 0.1 ms a link; canonicalize 0.2 s and 1 ms a URI."""
    sample = a_run(gen_graph=0.4, canonicalize=0.8)
    more = a_run(10, gen_graph=1.3, canonicalize=6.2)
    steps = seconds_of_steps(sample, more, COUNTS, Stop(iterations=10))
    assert steps.seconds["gen-graph"].value == pytest.approx(0.3 + 100_000 * 1e-4)
    assert steps.seconds["canonicalize"].value == pytest.approx(0.2 + 12_000 * 1e-3)
    assert steps.working["gen-graph"].value == pytest.approx(10)
    assert steps.seconds["gen-graph"].low < steps.seconds["gen-graph"].value


def test_what_the_first_run_compiled_does_not_count() -> None:
    steps = seconds_of_steps(
        a_run(page_rank=20.0), a_run(10, page_rank=0.3), COUNTS, Stop(iterations=10)
    )
    assert steps.seconds["page-rank"].value == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("stop", "times"),
    [
        (Stop(iterations=10), 1.0),
        (Stop(tolerance=1e-9), 27 / 9),
        (Stop(tolerance=1e-3), 1.0),
        (Stop(tolerance=1e-18), 54 / 9),
        (Stop(tolerance=1e-18, max_rounds=36), 36 / 9),
    ],
)
def test_whole_crawls_take_more_rounds(stop: Stop, times: float) -> None:
    sample, more = a_run(page_rank=0.3), a_run(11, page_rank=0.4)
    more.rounds = 9
    steps = seconds_of_steps(sample, more, COUNTS, stop)
    assert steps.working["page-rank"].value == pytest.approx(100_000 * 1e-5 * times)


def test_errors_of_steps_do_not_add_up() -> None:
    steps = Steps({name: Bracket(7, 10, 14) for name in "abcd"})
    assert steps.total.value == 40
    assert steps.total.low == pytest.approx(40 * 0.85 - 6)
    assert steps.total.high == pytest.approx(40 * 1.15 + 8)


def test_bytes_of_datasets() -> None:
    sample = a_run()
    sample.disk = {"links": 10, "graph": 7, "captures": 5, "precedence.txt": 3, "manifest.json": 2}
    sample.most = 30
    end, most = disk(sample, COUNTS, validated=False)
    assert end.value == pytest.approx(10 * (100 * 20) ** 0.5 + 7 * 100 + 5 * 100 + 3 * 20 + 2)
    assert most.value == pytest.approx(end.value + 3 * 100)
    _, turned = disk(sample, COUNTS, validated=True)
    assert turned.value == pytest.approx(end.value + 700)


def test_memory_keeps_to_its_limit() -> None:
    sample = a_run()
    sample.memory = 300 << 20
    assert memory(sample, COUNTS, 1 << 40).value == 300 << 20
    large = RowTimes(exactly(1e6), exactly(1e6), exactly(1e5))
    assert memory(sample, large, 1 << 40).value > 20e9
    assert memory(sample, large, 4 << 30).value == 4 << 30


def test_node_hours_by_hand() -> None:
    """An hour of a core, twice of it on Hadoop, over 16 vCPUs of 0.6 cores."""
    needs = cluster_needs(exactly(3600), None)
    assert needs.node_hours.value == pytest.approx(2 / 9.6)
    assert needs.jobs == 50
    assert cluster_needs(exactly(3600), 10).starting == pytest.approx(22 * 0.025)
