"""Distinct pairs in order: any numbers, any budget, any number of streams and threads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.crawls import environment
from support.drawing import examples

from crawlrank.pipeline.data.pairs import Pairs, distinct_pairs

BOUNDS = [1, 2, 3, 1000, 2**31, 2**32, 2**32 + 1, 2**33, 2**40, 2**63]


def streams_of(given: list[tuple[int, int]], streams: int, step: int) -> list[Iterator[Pairs]]:
    """The pairs dealt to streams, in arrays of `step`."""

    def stream(mine: list[tuple[int, int]]) -> Iterator[Pairs]:
        for at in range(0, len(mine), step):
            some = np.array(mine[at : at + step], np.uint64)
            yield some[:, 0], some[:, 1]

    return [stream(given[number::streams]) for number in range(streams)]


def sorted_by_parts(
    given: list[tuple[int, int]], bound: int, folder: Path, least: int
) -> list[tuple[int, int]]:
    found = distinct_pairs(streams_of(given, 3, 5), bound, 0, folder, least=least)
    return [pair for both in found for pair in zip(*(n.tolist() for n in both), strict=True)]


@settings(max_examples=examples(200))
@given(data=st.data(), bound=st.sampled_from(BOUNDS), least=st.sampled_from([1, 3, 7, 1 << 10]))
def test_pairs_are_those_of_a_sorted_set(
    data: st.DataObject, bound: int, least: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    number = st.integers(0, bound - 1) | st.integers(max(0, bound - 3), bound - 1)
    number |= st.integers(0, min(3, bound - 1))
    made = data.draw(st.lists(st.tuples(number, number), max_size=60))
    folder = tmp_path_factory.mktemp("runs")
    assert sorted_by_parts(made, bound, folder, least) == sorted(set(made))


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("least", [30, 100, 100_000])
def test_one_target_of_everybody_takes_several_ranges(
    least: int, threads: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(5)
    made = [(7, int(source)) for source in rng.integers(0, 2000, 3000)]
    made += [(int(a), int(b)) for a, b in rng.integers(0, 2000, (500, 2))]
    found = list(distinct_pairs(streams_of(made, 4, 50), 2000, 0, tmp_path, threads, least))
    whole = [pair for t, s in found for pair in zip(t.tolist(), s.tolist(), strict=True)]
    assert whole == sorted(set(made))
    assert any(tmp_path.iterdir()) == (least < 3500)  # nothing is written where all fits
    assert max(len(targets) for targets, _ in found) <= 1.25 * least


def test_a_stream_that_fails_ends_the_sort(tmp_path: Path) -> None:
    """At once, though the other stream has no end."""

    def broken() -> Iterator[Pairs]:
        yield np.zeros(1, np.uint32), np.zeros(1, np.uint32)
        raise OSError("no disk")

    def endless() -> Iterator[Pairs]:
        while True:
            yield np.zeros(1, np.uint32), np.zeros(1, np.uint32)

    with pytest.raises(OSError, match="no disk"):
        list(distinct_pairs([endless(), broken()], 5, 0, tmp_path, 2))


MEASURED = """
import sys, tempfile
from pathlib import Path
import numpy as np
from crawlrank.pipeline.engines.embedded.gen_graph import write_graph

nodes, pieces = 200_000, 80

def stream(seed):
    rng = np.random.default_rng(seed)
    for _ in range(pieces // 2):
        yield rng.integers(0, nodes, 100_000), rng.integers(0, nodes, 100_000)

def peak():
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) << 10

for budget in map(int, sys.argv[1:]):
    Path("/proc/self/clear_refs").write_text("5")  # the peak is that from now on
    before = peak()
    with tempfile.TemporaryDirectory() as folder:
        out, tmp = Path(folder, "graph"), Path(folder)
        given = dict(budget=budget, tmp=tmp, threads=2)
        counts = write_graph([stream(1), stream(2)], nodes, out, **given)
    print(counts.links, counts.canonical_links, peak() - before)
"""


FIXED = 64 << 20  # bytes: mapped edges, which are no memory of its own, and what threads keep


@pytest.mark.slow
def test_the_budget_is_kept() -> None:
    """Eight million pairs take more where the budget is larger than they need."""
    budget = 64_000_000
    child = [sys.executable, "-c", MEASURED, str(budget), str(1 << 33)]
    done = subprocess.run(child, env=environment(), capture_output=True, check=True, text=True)
    near, roomy = ([int(word) for word in line.split()] for line in done.stdout.splitlines())
    assert near[2] < budget + FIXED
    assert roomy[:2] == near[:2] and roomy[0] == 8_000_000
    assert roomy[2] > budget + FIXED
