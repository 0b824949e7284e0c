"""Addresses of this process under `ulimit -v`, which counts what is reserved, be it used or not."""

from __future__ import annotations

import contextlib
import math
import resource
from pathlib import Path


def addresses_left() -> float:
    """Bytes that may be reserved yet; infinite without a limit."""
    return _limit() - _status("VmSize:")


def least_left() -> float:
    """Bytes that were left when the most were reserved; infinite without a limit."""
    return _limit() - _status("VmPeak:")


def _limit() -> float:
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return math.inf if limit == resource.RLIM_INFINITY else limit


def _status(name: str) -> int:
    """Bytes; 0 elsewhere than on Linux."""
    with contextlib.suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition(name)[2].split()[0]) << 10
    return 0
