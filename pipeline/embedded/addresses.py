"""Room for addresses under `ulimit -v`, which counts what is reserved, be it used or not.

A thread reserves its stack (8 MiB) and an arena of malloc (64 MiB). DuckDB starts nine more than it
is allowed for queries, and dies by SIGSEGV where one of them has no room; so it is asked before.
"""

from __future__ import annotations

import contextlib
import resource
from pathlib import Path

from jobs.kernel.errors import Shortage
from jobs.kernel.shortage import MORE_MEMORY, OUT_OF_MEMORY

THREAD = 80 << 20  # bytes of addresses
BESIDE = 10  # threads


def require_addresses(threads: int) -> None:
    """Raises Shortage where the limit leaves too few for a database of so many threads."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return
    free, needed = limit - _reserved(), (BESIDE + threads) * THREAD
    if free < needed:
        left = f"{max(0, free) >> 20} MiB of addresses left, {needed >> 20} MiB needed to sort"
        raise Shortage("", f"{OUT_OF_MEMORY} ({left})", MORE_MEMORY)


def _reserved() -> int:
    with contextlib.suppress(OSError):  # elsewhere than on Linux
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
        return int(pages) * resource.getpagesize()
    return 0
