"""Which bytes of archives are sampled: windows spread evenly over all archives.

The archives count as one row of bytes. It is divided into as many strata as there are windows, and
a window begins somewhere in each, so that every byte has about the same chance. Each archive that
is shorter than a window comes whole or nearly so; a long one has several windows.

Windows come in an order in which those before any of them are spread evenly too: sampling may stop
after any of them.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from crawlrank.jobs.kernel.storage.opening import PathOrUrl

SHARE = 0.05  # of all bytes
SMALL, MOST = 1 << 23, 1 << 28  # bytes of a crawl that is taken as a whole, and of a sample
SHORTEST, WINDOWS = 1 << 14, 96  # bytes of a window, and how many there are at most
GOLDEN = 0.6180339887498949  # multiples of it spread evenly, however many
SEED = 1


class Window(NamedTuple):
    """Bytes of an archive, from begin to end. size: of the archive. turn: how many windows of the
    archive come before it in the order of reading."""

    archive: PathOrUrl
    begin: int
    end: int
    size: int
    turn: int = 0

    @property
    def length(self) -> int:
        return self.end - self.begin

    @property
    def whole(self) -> bool:
        return self.length == self.size


Windows = list[tuple[Window, ...]]  # each of one archive, or across the end of some


def windows_of(
    sizes: Sequence[tuple[PathOrUrl, int]], share: float = SHARE, small: int = SMALL
) -> Windows:
    """The windows, in the order to read them. sizes: of the archives. share: of their bytes, MOST
    of them at most. small: bytes of a crawl that is taken as a whole."""
    total = sum(size for _, size in sizes)
    wanted = min(MOST, round(share * total))
    if total <= small:
        return [(Window(archive, 0, size, size),) for archive, size in sizes if size]
    count = max(1, min(WINDOWS, wanted // SHORTEST))
    length, stratum = wanted // count, total / count
    draw = random.Random(SEED)
    begins = [round((n + draw.random() * (1 - length / stratum)) * stratum) for n in range(count)]
    ends = list(accumulate(size for _, size in sizes))
    order = sorted(range(count), key=lambda number: (number + 1) * GOLDEN % 1)
    across = [_across(sizes, ends, begins[n], min(total, begins[n] + length)) for n in order]
    turns: Counter[PathOrUrl] = Counter()
    return [tuple(_in_turn(window, turns) for window in windows) for windows in across]


def _in_turn(window: Window, turns: Counter[PathOrUrl]) -> Window:
    turns[window.archive] += 1
    return window._replace(turn=turns[window.archive] - 1)


def _across(
    sizes: Sequence[tuple[PathOrUrl, int]], ends: Sequence[int], begin: int, end: int
) -> tuple[Window, ...]:
    """The bytes between two places of the row, by archive."""
    windows, number = [], bisect_right(ends, begin)
    while begin < end:
        (archive, size), before = sizes[number], ends[number] - sizes[number][1]
        if size:
            upto = min(end, ends[number])
            windows.append(Window(archive, begin - before, upto - before, size))
            begin = upto
        number += 1
    return tuple(windows)
