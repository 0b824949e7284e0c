"""Loops over many pages by all cores: numba's loops release the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

BLOCK = 1 << 17  # pages
Part = TypeVar("Part")


def by_blocks(work: Callable[[slice], Part], pages: int) -> list[Part]:
    """What the work makes of all pages, a block at a time, in the order of the pages."""
    blocks = [slice(begin, begin + BLOCK) for begin in range(0, pages, BLOCK)]
    if len(blocks) < 2:
        return [work(block) for block in blocks]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, blocks))
