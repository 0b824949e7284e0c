"""What the command crawlrank does before it loads its commands."""

from __future__ import annotations

import gc
import os
import resource
import sys


def main() -> None:
    _open_missing()
    if "_distutils_hack" in sys.modules and sys.version_info < (3, 12):
        # mrjob imports distutils; Python's own loads ten times as fast as that of setuptools
        sys.modules["_distutils_hack"].remove_shim()
    _modest()
    gc.set_threshold(5_000, 5, 5)  # most objects are made by loading modules, and stay
    try:
        from crawlrank.pipeline.cli import main as command
    except Exception as error:
        _explain(error)
        raise
    command(prog_name="crawlrank")


def _open_missing() -> None:
    """Open /dev/null for each of stdin, stdout and stderr that is closed, as daemons close them.
    Otherwise a file that is opened later gets the number, and messages would be written into it."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:  # the lowest free number is this one
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            stream = open(number, "w" if number else "r", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _modest() -> None:
    """Let libraries start no threads when they are loaded, here and in tasks and workers: if none
    can start, OpenBLAS sends SIGINT, and jemalloc, which is not used, writes to stderr. Under
    `ulimit -v`, let them reserve fewer addresses. pyarrow allocates with the C library, which gives
    freed memory back on request (pipeline/data/memory.py); mimalloc keeps it."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        # pyarrow's mimalloc would reserve 1 GiB of addresses at once; in KiB
        os.environ.setdefault("MIMALLOC_ARENA_RESERVE", "65536")


def _explain(error: Exception) -> None:
    """Exit with a message if the machine lacks memory or threads to load the libraries."""
    from crawlrank.jobs.kernel.errors import Shortage
    from crawlrank.jobs.kernel.machine.shortage import shortage_of

    shortage = error if isinstance(error, Shortage) else shortage_of(error)
    if shortage:
        sys.stderr.write(f"crawlrank: {shortage}\n")
        sys.exit(shortage.exit_code)


if __name__ == "__main__":
    main()
