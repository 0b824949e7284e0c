"""What the C library keeps of freed memory, given back to the system.

glibc keeps what was freed for the next request, so that a step would begin beside all that the
one before it no longer uses, and two steps that each keep to `--memory` would not, together.
pyarrow allocates by the C library too (pipeline/__main__.py). Elsewhere than on glibc nothing
happens.
"""

from __future__ import annotations

import ctypes

#: bytes from which on what is freed goes back at once; each time costs the system some work
AT_ONCE = 4 << 20
_MMAP_THRESHOLD = -3  # glibc's malloc.h, M_MMAP_THRESHOLD


def give_back_at_once() -> None:
    """Return arrays when they are freed, from now on; glibc would raise the size from which on it
    does with each that is freed, up to 32 MiB."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, AT_ONCE)


def give_back() -> None:
    """Return all freed pages of this process."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
