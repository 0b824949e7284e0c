"""Room for addresses under `ulimit -v`, which counts what is reserved, be it used or not.

A thread reserves its stack (8 MiB) and an arena of malloc (64 MiB), which stays when it ends, for
others to use. DuckDB starts nine more than it is allowed for queries, and dies by SIGSEGV where one
of them has no room; so it is asked before.
"""

from __future__ import annotations

import contextlib
import resource
from pathlib import Path

from jobs.kernel.errors import Shortage
from jobs.kernel.shortage import MORE_MEMORY, OUT_OF_MEMORY

STACK, ARENA = 16 << 20, 64 << 20  # bytes of addresses; a stack and what a thread has beside it
BESIDE = 10  # threads


class Addresses:
    """Those of this process. arenas: how many earlier databases have left to reuse."""

    def __init__(self) -> None:
        self.arenas = 0

    def require(self, threads: int) -> None:
        """Raises Shortage where the limit leaves too few for a database of so many threads."""
        threads += BESIDE
        needed = threads * STACK + max(0, threads - self.arenas) * ARENA
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY and (free := limit - _reserved()) < needed:
            left = f"{max(0, free) >> 20} MiB of addresses left, {needed >> 20} MiB needed to sort"
            raise Shortage("", f"{OUT_OF_MEMORY} ({left})", MORE_MEMORY)
        self.arenas = max(self.arenas, threads)


def _reserved() -> int:
    with contextlib.suppress(OSError):  # elsewhere than on Linux
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
        return int(pages) * resource.getpagesize()
    return 0


ADDRESSES = Addresses()
