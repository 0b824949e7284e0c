"""Rows of numbers, larger than memory, in files by a hash that each has: rows of the same hash are
in the same file, so that what is grouped or joined by it is one file at a time.

The first BITS of the hash name the file. So the files, each in the order of its hashes, are all
rows in that order.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

BITS = 6
PARTS = 1 << BITS
Hashes = npt.NDArray[np.uint64]
Records = npt.NDArray[Any]


class Partitions(ExitStack):
    """Files of rows of one type in a folder, by a name; those of one part are in the order in which
    they were written."""

    def __init__(self, folder: Path, name: str, dtype: npt.DTypeLike) -> None:
        super().__init__()
        self.dtype = np.dtype(dtype)
        self._paths = [folder / f"{name}-{part}" for part in range(PARTS)]
        self._files = [self.enter_context(path.open("wb")) for path in self._paths]

    def write(self, rows: Records, hashes: Hashes) -> None:
        order, ends = by_part(hashes)
        sorted_rows = rows[order]
        for part in range(PARTS):
            self.append(part, sorted_rows[ends[part] : ends[part + 1]])

    def append(self, part: int, rows: Records) -> None:
        if len(rows):
            self._files[part].write(np.ascontiguousarray(rows, self.dtype).view(np.uint8).data)

    def take(self, part: int) -> Records:
        """The rows of a part, whose file is removed."""
        self._files[part].close()
        rows = np.fromfile(self._paths[part], self.dtype)
        self._paths[part].unlink()
        return rows


def by_part(hashes: Hashes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The order of rows by part, int64[N], and where each part begins in it, int64[PARTS + 1]."""
    parts = (hashes >> np.uint64(64 - BITS)).astype(np.uint8)
    order = np.argsort(parts, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(parts, minlength=PARTS))])
    return order, ends
