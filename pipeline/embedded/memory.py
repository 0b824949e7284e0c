"""Who gets how much of `--memory`, so that all processes together keep to it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

MIB = 1 << 20
OWN = 200 * MIB  # of this process with everything imported, before it does anything
EXTRACTING = 300 * MIB  # of a process that reads archives; see docs/benchmarks.md
LEAST = OWN + EXTRACTING
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGT]?)(?:i?B)?", re.IGNORECASE)


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


def parse_size(text: str) -> int:
    """Bytes of `4GB`, `512 MiB` or a plain number; units are powers of 1024. Raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no size such as 4GB, 512MB or a number of bytes")
    return int(float(match[1]) * _UNITS[match[2].upper()])


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
