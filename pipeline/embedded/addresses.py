"""Room for addresses under `ulimit -v`, which counts what is reserved, be it used or not.

A thread reserves its stack (8 MiB) and an arena of malloc (64 MiB), which stays when it ends, for
others to use. DuckDB starts nine more than it is allowed for queries, and dies by SIGSEGV where one
of them has no room; LLVM, which later steps load and which compiles for them, dies by SIGABRT. So
both are asked for before.
"""

from __future__ import annotations

import sys

from jobs.kernel.shortage import require_addresses

STACK, ARENA = 16 << 20, 64 << 20  # bytes of addresses; a stack and what a thread has beside it
BESIDE = 10  # threads
COMPILER = 256 << 20  # bytes of addresses of LLVM and numba, with what they compile


class Addresses:
    """Those of this process. arenas: how many earlier databases have left to reuse."""

    def __init__(self) -> None:
        self.arenas = 0

    def require(self, threads: int) -> None:
        """Raises Shortage where the limit leaves too few for a database of so many threads."""
        threads += BESIDE
        needed = threads * STACK + max(0, threads - self.arenas) * ARENA
        needed += 0 if "numba" in sys.modules else COMPILER
        require_addresses(needed)
        self.arenas = max(self.arenas, threads)


ADDRESSES = Addresses()
