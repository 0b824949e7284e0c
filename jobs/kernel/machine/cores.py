"""How many processes or threads work at a time, by the cores of this machine.

More than cores only help while they wait for a store or a disk. Thousands take longer to start than
to work, and bring the machine to a standstill. No pool has more than it has tasks.
"""

from __future__ import annotations

import os

A_CORE = 4  # processes, at most


def cores() -> int:
    return os.cpu_count() or 1


def at_a_time(jobs: int | None = None) -> int:
    """The number of processes for --jobs: at most A_CORE for each core, by default one."""
    return cores() if jobs is None else min(jobs, A_CORE * cores())
