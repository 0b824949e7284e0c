"""Who gets how much of `--memory`, so that all processes together keep to it.

A step that keeps columns of all nodes needs bytes for each of them, whatever it may sort on disk.
It says so with `require_memory` before it begins, so that a run that will not fit ends with the
figure and not with a machine out of memory. The bytes a node are measured by
scripts/bench/bench_node_memory.py.

Freed memory is returned to the system. glibc keeps what was freed for the next request, so that a
step would begin beside all that the one before it no longer uses, and two steps that each keep to
`--memory` would not, together. pyarrow allocates by the C library too (pipeline/__main__.py).
Elsewhere than on glibc nothing happens.

A database needs threads, and addresses under `ulimit -v`, which counts all that is reserved. A
thread reserves its stack (8 MiB) and an arena of malloc (64 MiB), which stays when it ends, for
others to use. DuckDB starts eight more than it is allowed for queries, and dies by SIGSEGV where
they, or those of Python beside them, cannot be had; LLVM, which later steps load and which compiles
for them, dies by SIGABRT. So all of it is asked for before.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import sys
import threading
from dataclasses import dataclass

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.shortage import require_addresses, shortage_of
from crawlrank.jobs.mapreduce.runners.task_server import peak_of_tasks

MB = 10**6
OWN = 210 * MB  # of this process with everything imported, before it does anything
EXTRACTING = 336 * MB  # of a process that reads archives; see docs/benchmarks.md
LOOPS = 68 * MB  # of this process once it has loaded numba and compiled loops
LEAST = 500 * MB  # the driver takes less than OWN while archives are read
_UNITS = " KMGT"
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)(i?)B?", re.IGNORECASE)


@dataclass(frozen=True)
class Memory:
    """total: bytes for all processes of a run together, at least LEAST."""

    total: int

    def extracting(self, processes: int) -> int:
        """How many of the processes may read archives at a time."""
        return max(1, min(processes, (self.total - OWN) // EXTRACTING))

    @property
    def budget(self) -> int:
        """Bytes for what a step holds and sorts."""
        return self.total - OWN


#: an edge and a node of a graph that is read from text to be validated
TEXT_BYTES = 24, 200


def require_memory_for_text(step: str, edges: int, nodes: int, cure: str) -> None:
    """Raise BadInput where a graph of text is too large for this machine. cure: what helps beside
    another machine."""
    an_edge, a_node = TEXT_BYTES
    needed, room = an_edge * edges + a_node * nodes, half_of_machine().budget
    if needed > room:
        raise BadInput(
            step,
            f"{nodes:,} nodes and {edges:,} edges need {_megabytes(needed)}",
            f"at most {_megabytes(room)}, half of the memory of this machine",
            f"Use {cure}, or a machine with more memory.",
        )


def require_memory(
    step: str, nodes: int, node_bytes: int, budget: int, *, fixed: int = 0, cure: str = ""
) -> None:
    """Raise BadInput where a step that holds these bytes for each node, and `fixed` ones, cannot
    keep within the budget, in bytes, or what --memory gives at least. cure: what else helps than
    more memory."""
    needed = fixed + nodes * node_bytes
    if needed > max(budget, LEAST - OWN):
        asked = _megabytes(needed + OWN)
        raise BadInput(
            step,
            f"--memory is {_megabytes(budget + OWN)}, and {nodes:,} nodes need {asked}",
            "memory for the columns of all nodes",
            f"Give --memory {asked} or more{cure and f', or {cure}'}.",
        )


def _megabytes(size: int) -> str:
    """A size as `parse_size` reads it, rounded up, so that what is asked for is enough."""
    return f"{-(-size // MB)}MB"


def parse_size(text: str) -> int:
    """Bytes of `4GB`, `512 MiB` or a plain number. Units are powers of 1000, those with an `i`
    powers of 1024. Raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no size such as 4GB, 512MB or a number of bytes")
    power = _UNITS.index(match[2].upper() or " ")
    return int(min(float(match[1]) * (1024 if match[3] else 1000) ** power, 2.0**62))


def half_of_machine() -> Memory:
    """Half of the memory of this machine, or of the control group that bounds this process."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(name, encoding="ascii") as file:  # noqa: PTH123 (no path of a user)
                total = min(total, int(file.read()))
        except (OSError, ValueError):  # no such group, or `max`
            continue
    return Memory(max(LEAST, total // 2))


def peak_memory() -> int:
    """Bytes that this process, or its largest child, had at most so far."""
    everyone = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    peaks = (resource.getrusage(who).ru_maxrss for who in everyone)
    unit = 1 if sys.platform == "darwin" else 1024
    return max(*peaks, peak_of_tasks()) * unit


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


STACK, ARENA = 16 << 20, 64 << 20  # bytes of addresses; a stack and what a thread has beside it
BESIDE = 12  # threads: those of DuckDB, one for signals, some that write
COMPILER = 256 << 20  # bytes of addresses of LLVM and numba, with what they compile


class Room:
    """The addresses that this process may still reserve. arenas: how many earlier databases have
    left to reuse."""

    def __init__(self) -> None:
        self.arenas = 0

    def require(self, threads: int) -> None:
        """Raises Shortage where the limits leave too little for a database of these threads."""
        threads += BESIDE
        needed = threads * STACK + max(0, threads - self.arenas) * ARENA
        needed += 0 if "numba" in sys.modules else COMPILER
        require_addresses(needed)
        _try_threads(threads)
        self.arenas = max(self.arenas, threads)


def _try_threads(count: int) -> None:
    """Raises Shortage if this number cannot be had at a time. It takes a millisecond."""
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
