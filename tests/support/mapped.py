"""Graphs in mapped files that note what is let go of."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np

from crawlrank.pipeline.data.csr import SOURCES, Csr
from support.graphs import saved


class NotingMap(mmap.mmap):
    """released: begin and length, in bytes of the file, of each part that was let go of."""

    released: list[tuple[int, int]]

    def madvise(self, option: int, *part: int) -> None:
        super().madvise(option, *part)
        if option == mmap.MADV_DONTNEED:
            self.released.append((part[0], part[1]))


def mapped(csr: Csr, folder: Path) -> tuple[Csr, NotingMap]:
    """The graph in files, and the map of its sources."""
    csr = saved(csr, folder)
    with (folder / SOURCES).open("rb") as file:
        held = NotingMap(file.fileno(), 0, access=mmap.ACCESS_READ)
    held.released = []
    offset = len(held) - csr.sources.nbytes
    of_map: Any = type("OfMap", (np.ndarray,), {"_mmap": held})  # named as numpy does
    sources = of_map(len(csr.sources), csr.sources.dtype, held, offset)
    return Csr(csr.offsets, sources, csr.outdegrees), held
