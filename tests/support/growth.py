"""Time and memory that grow with the input as they should: figures of no machine, but of two runs
on one."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

TRIES = 3  # as a busy machine makes one slow
TIMES = 8
MOST = 24  # times as long for TIMES as much; a square would take 64 times
DOUBT = 0.25  # seconds: what a busy machine adds


def assert_linear(read: Callable[[int], object], size: int) -> None:
    """read: takes a number of bytes. The CPU time of one of TRIES grows as the number does."""
    for _ in range(TRIES):
        few, many = _seconds(read, size // TIMES), _seconds(read, size)
        if many < MOST * few + DOUBT:
            return
    raise AssertionError(f"{size // TIMES:,}: {few:.3f} s, {size:,}: {many:.3f} s")


def assert_in_proportion(seconds: dict[str, float], sizes: dict[str, int]) -> None:
    """No input takes many times its share of the time of all, by their sizes."""
    total, size = sum(seconds.values()), sum(sizes.values())
    for name, took in seconds.items():
        assert took < (MOST * sizes[name] / size + 1 / 10) * total, name


def _seconds(read: Callable[[int], object], size: int) -> float:
    began = time.process_time()
    read(size)
    return time.process_time() - began


def peak(read: Callable[[int], object], size: int) -> int:
    """Bytes that Python's objects take at most while so much is read, beside those there before."""
    tracemalloc.start()
    try:
        read(size)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_bounded(read: Callable[[int], object], size: int, most: float) -> None:
    """read: takes a number of things. most: bytes of memory for each, of TIMES as many."""
    read(1)  # imports and tables
    few, many = peak(read, size // TIMES), peak(read, size)
    assert many - few < most * (size - size // TIMES)
