"""Projections by hand: fixed parts and rates, rows, bytes, and the bounds of memory."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.estimate.projection import (
    GROWTH,
    Bracket,
    RowTimes,
    cluster_needs,
    disk,
    divided,
    embedded_memory,
    exactly,
    growth,
    row_times,
    seconds_of_steps,
    standard_error,
    total_of,
)
from crawlrank.pipeline.estimate.sample import SampleRun

TIMES = RowTimes(links=exactly(100), uris=exactly(20))
ROWS = {"links": 1000, "captures": 50, "uris": 600, "graph": 500}


def a_run(times: float = 1, **steps: float) -> SampleRun:
    rows = {name: round(count * times) for name, count in ROWS.items()}
    named = {name.replace("_", "-"): took for name, took in steps.items()}
    return SampleRun(rows=rows, steps=named, seconds=sum(steps.values()) + 0.5)


def test_a_fixed_part_and_a_rate() -> None:
    """0.3 s and 0.1 ms a link; canonicalize 0.2 s and 1 ms a URI."""
    ran = a_run(gen_graph=0.4, canonicalize=0.8)
    few = a_run(0.25, gen_graph=0.325, canonicalize=0.35)
    seconds, working = seconds_of_steps(few, ran, TIMES)
    assert seconds["gen-graph"].value == pytest.approx(0.3 + 100_000 * 1e-4)
    assert seconds["canonicalize"].value == pytest.approx(0.2 + 12_000 * 1e-3)
    assert working["gen-graph"].value == pytest.approx(10)
    assert seconds["gen-graph"].low < seconds["gen-graph"].value


@pytest.mark.parametrize(
    ("took", "rows", "part_took", "part_rows", "expected"),
    [
        (0.4, 1000, 0.325, 250, (0.3, 0.1)),
        (0.4, 1000, 0.0, 0, (0.0, 0.4)),  # no run of a part
        (0.3, 1000, 20.0, 250, (0.3, 0.0)),  # the first run has compiled something
        (0.4, 0, 0.4, 0, (0.4, 0.0)),  # nothing to do
    ],
)
def test_how_seconds_are_divided(
    took: float, rows: int, part_took: float, part_rows: int, expected: tuple[float, float]
) -> None:
    assert divided(took, rows, part_took, part_rows) == pytest.approx(expected)


def test_errors_of_steps_do_not_add_up() -> None:
    total = total_of({name: Bracket(7, 10, 14) for name in "abcd"})
    assert total.value == 40
    assert total.low == pytest.approx(40 * 0.8 - 6)
    assert total.high == pytest.approx(40 * 1.2 + 8)


def test_uris_grow_with_the_power_between_the_runs() -> None:
    """Four times the links have twice the URIs: the exponent is a half."""
    few, ran = SampleRun(rows={"links": 250, "uris": 300}), a_run()
    assert growth(few, ran) == pytest.approx(0.5)
    times = row_times(0.01, 0.0, few, ran)
    assert times.links.value == pytest.approx(100)
    assert times.uris.value == pytest.approx(100 ** (0.5 + GROWTH[1]))
    assert times.uris.low < times.uris.value < times.uris.high


@given(st.floats(0.001, 1), st.floats(0, 2), st.integers(0, 2000), st.integers(0, 2000))
def test_no_more_uris_than_links_allow(share: float, error: float, links: int, uris: int) -> None:
    few = SampleRun(rows={"links": links, "uris": uris})
    times = row_times(share, error, few, a_run())
    for low, value, high in (times.links, times.uris):
        assert 1 <= low <= value <= high
    assert times.uris.value <= times.links.value


def test_the_spread_of_pieces() -> None:
    """The spread is the standard error of a mean, of pieces of the same length."""
    rows = [4, 6, 9, 1]
    expected = np.std(rows, ddof=1) / sqrt(len(rows)) / np.mean(rows)
    assert standard_error(rows, [10] * 4, 0.0) == pytest.approx(expected)
    assert standard_error([4, 8], [10, 20], 0.0) == 0
    assert standard_error(rows, [10] * 4, 1.0) == 0
    assert standard_error([4], [10], 0.1) == standard_error([0, 0], [10, 10], 0.1) == 0.5


def test_bytes_of_datasets() -> None:
    ran = a_run()
    ran.disk = {"links": 10, "graph": 7, "captures": 5, "precedence.txt": 3, "manifest.json": 2}
    ran.most = 30
    end, most = disk(ran, TIMES, 1, validated=False)
    assert end.value == pytest.approx(10 * (100 * 20) ** 0.5 + 7 * 100 + 5 * 100 + 3 * 20 + 2)
    assert most.value == pytest.approx(end.value + 3 * 100)
    _, turned = disk(ran, TIMES, 1, validated=True)
    assert turned.value == pytest.approx(end.value + 700)


def test_files_of_archives_do_not_grow_with_rows() -> None:
    """Two pieces have files of 4,096 bytes without rows each, and so have 30 archives."""
    ran = a_run()
    ran.disk, ran.archives = {"captures": 10_000}, [{}, {}]
    end, _ = disk(ran, TIMES, 30, validated=False)
    assert end.value == (10_000 - 8192) * 100 + 30 * 4096


def test_memory_keeps_to_its_limit() -> None:
    ran = a_run()
    ran.memory = 300 << 20
    assert embedded_memory(ran, TIMES, 1 << 40).value == 300 << 20
    large = RowTimes(exactly(1e6), exactly(1e5))
    assert embedded_memory(ran, large, 1 << 40).value > 20e9
    assert embedded_memory(ran, large, 4 << 30).value == 4 << 30


def test_node_hours_by_hand() -> None:
    """An hour of a core, twice of it on Hadoop, over 16 vCPUs of 0.6 cores."""
    needs = cluster_needs(exactly(3600), None)
    assert needs.node_hours.value == pytest.approx(2 / 9.6)
    assert needs.jobs == 54
    assert cluster_needs(exactly(3600), 10).starting == pytest.approx(26 * 0.025)
