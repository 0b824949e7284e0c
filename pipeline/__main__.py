"""The command crawlrank, by that name or as `python -m pipeline`.

Until its command is loaded there is nothing yet to end well; and the processes of pools, which
import this file, do without it.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` imports enum first
import os
import resource
import sys


def main() -> None:
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)
    if "_distutils_hack" in sys.modules and sys.version_info < (3, 12):
        # mrjob imports distutils, and Python's own loads in a tenth of the time of setuptools'
        sys.modules["_distutils_hack"].remove_shim()
    _modest()
    try:
        from pipeline.cli import main as command
    except Exception as error:
        _explain(error)
        raise
    command(prog_name="crawlrank")


def _modest() -> None:
    """Libraries start no threads when they are loaded, in tasks and workers neither: where none can
    be started, OpenBLAS sends SIGINT, and jemalloc, which is not used, writes to stderr. Under
    `ulimit -v` they reserve fewer addresses. pyarrow allocates by the C library, which can be told
    to give back what was freed (pipeline/data/allocators.py); mimalloc keeps it for itself."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        # pyarrow's mimalloc would reserve 1 GiB of addresses at once; in KiB
        os.environ.setdefault("MIMALLOC_ARENA_RESERVE", "65536")


def _explain(error: Exception) -> None:
    """End with the message for what the machine has too little of to load the libraries."""
    from jobs.kernel.errors import Shortage
    from jobs.kernel.machine.shortage import shortage_of

    shortage = error if isinstance(error, Shortage) else shortage_of(error)
    if shortage:
        sys.stderr.write(f"crawlrank: {shortage}\n")
        sys.exit(shortage.exit_code)


def _leave(*_: object) -> None:
    """At once: an exception would pass through half-made modules, and some take it for theirs."""
    os.write(2, b"crawlrank: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
