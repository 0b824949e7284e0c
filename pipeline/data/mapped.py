"""Arrays in mapped files, let go of once they were read.

What was read of a mapped file counts as memory of the process until the system takes it back. A
pass over the edges lets go of each piece behind it, and so holds a piece at a time.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt


def release(array: npt.NDArray[Any], begin: int, end: int) -> None:
    """Let go of the numbers from begin to end; nothing happens to an array that is in no file."""
    mapped = getattr(array, "_mmap", None)
    if mapped is None or end <= begin or not hasattr(mmap, "MADV_DONTNEED"):
        return
    start = array.ctypes.data - np.frombuffer(mapped, "u1").ctypes.data
    first = start + begin * array.itemsize
    first -= first % mmap.PAGESIZE
    last = start + end * array.itemsize
    mapped.madvise(mmap.MADV_DONTNEED, first, last - first)
