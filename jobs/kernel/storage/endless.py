"""What is named like a file and has no end: devices, pipes and sockets are refused, not read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from jobs.kernel.errors import BadInput

_KINDS = {stat.S_IFCHR: "a device", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
CURE = "Write what it gives to a file, and name that."


def require_file(path: str | os.PathLike[str], expected: str = "a file") -> None:
    """Raise BadInput for what may never end, or waits for a writer when it is opened.

    A path that is not there or is a folder is left to who opens it; so are disks, which end, and
    /dev/null, which is empty.
    """
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return
    kind = _KINDS.get(stat.S_IFMT(status.st_mode))
    if kind and not (kind == "a device" and Path(os.devnull).stat().st_rdev == status.st_rdev):
        raise BadInput(str(path), kind, expected, CURE)
