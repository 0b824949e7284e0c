"""Room for a database: threads, and addresses under `ulimit -v`, which counts all that is reserved.

A thread reserves its stack (8 MiB) and an arena of malloc (64 MiB), which stays when it ends, for
others to use. DuckDB starts eight more than it is allowed for queries, and dies by SIGSEGV where
they, or those of Python beside them, cannot be had; LLVM, which later steps load and which compiles
for them, dies by SIGABRT. So all of it is asked for before.
"""

from __future__ import annotations

import sys
import threading

from crawlrank.jobs.kernel.machine.shortage import require_addresses, shortage_of

STACK, ARENA = 16 << 20, 64 << 20  # bytes of addresses; a stack and what a thread has beside it
BESIDE = 12  # threads: those of DuckDB, one for signals, some that write
COMPILER = 256 << 20  # bytes of addresses of LLVM and numba, with what they compile


class Room:
    """That of this process. arenas: how many earlier databases have left to reuse."""

    def __init__(self) -> None:
        self.arenas = 0

    def require(self, threads: int) -> None:
        """Raises Shortage where the limits leave too little for a database of so many threads."""
        threads += BESIDE
        needed = threads * STACK + max(0, threads - self.arenas) * ARENA
        needed += 0 if "numba" in sys.modules else COMPILER
        require_addresses(needed)
        _try_threads(threads)
        self.arenas = max(self.arenas, threads)


def _try_threads(count: int) -> None:
    """Raises Shortage where so many cannot be had at a time. It takes a millisecond."""
    ended, started = threading.Event(), list[threading.Thread]()
    try:
        for _ in range(count):
            thread = threading.Thread(target=ended.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError as error:
        if shortage := shortage_of(error):
            raise shortage from error
        raise
    finally:
        ended.set()
        for thread in started:
            thread.join()


ROOM = Room()
