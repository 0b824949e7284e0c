"""Where a sample is taken: as much as asked for, all over, and from no byte twice."""

from __future__ import annotations

from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.estimate.windows import MOST, SMALL, Window, Windows, windows_of

Sizes = list[tuple[Path, int]]


def of_sizes(*sizes: int) -> Sizes:
    return [(Path(f"{n}.warc.gz"), size) for n, size in enumerate(sizes)]


def in_row(sizes: Sizes, windows: Windows) -> list[tuple[int, int]]:
    """Begin and end of each window in the row of all bytes, ascending."""
    begins = dict(
        zip(dict(sizes), accumulate((size for _, size in sizes), initial=0), strict=False)
    )
    places = [
        (begins[Path(window.archive)] + window.begin, begins[Path(window.archive)] + window.end)
        for several in windows
        for window in several
    ]
    return sorted(places)


@given(st.lists(st.integers(0, 3_000_000), min_size=1, max_size=30), st.floats(0.01, 0.5))
def test_as_much_as_asked_for_and_nothing_twice(given_sizes: list[int], share: float) -> None:
    sizes = of_sizes(*given_sizes)
    total = sum(given_sizes)
    windows = windows_of(sizes, share, small=1 << 18)
    places = in_row(sizes, windows)
    taken = sum(end - begin for begin, end in places)
    assert all(before[1] <= after[0] for before, after in pairwise(places))
    assert all(0 <= w.begin <= w.end <= w.size for several in windows for w in several)
    if total <= 1 << 18:
        assert taken == total
    else:
        assert taken == pytest.approx(share * total, abs=200)


def test_a_small_crawl_is_taken_as_a_whole() -> None:
    windows = windows_of(of_sizes(100, 0, SMALL - 100))
    assert [window for several in windows for window in several] == [
        Window(Path("0.warc.gz"), 0, 100, 100),
        Window(Path("2.warc.gz"), 0, SMALL - 100, SMALL - 100),
    ]
    assert all(window.whole for several in windows for window in several)


def test_a_sample_of_a_terabyte_is_bounded() -> None:
    sizes = of_sizes(*[10**9] * 1000)
    places = in_row(sizes, windows_of(sizes))
    assert sum(end - begin for begin, end in places) == pytest.approx(MOST, rel=0.001)


def test_the_first_windows_are_spread_evenly() -> None:
    """So that any first ones are a sample. Of n strata, those of the first k windows leave no gap
    of more than some times n / k (three distances: Steinhaus)."""
    sizes = of_sizes(10**9)
    windows = windows_of(sizes)
    for count in (4, 12, 24, 48):
        begins = sorted(window.begin for (window, *_) in windows[:count])
        gaps = [after - before for before, after in pairwise([0, *begins, 10**9])]
        assert max(gaps) < 3.2 * 10**9 / count


def test_windows_of_an_archive_are_counted() -> None:
    windows = windows_of(of_sizes(10**8))
    assert [window.turn for (window,) in windows] == list(range(len(windows)))


@pytest.mark.slow
def test_a_window_goes_on_in_the_next_archive() -> None:
    windows = windows_of(of_sizes(*[1000] * 100_000), small=0)
    assert max(len(several) for several in windows) > 10
