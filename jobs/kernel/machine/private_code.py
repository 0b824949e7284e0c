"""Who may write machine code that is kept in a user's folder of caches.

Code beside a module needs no such question: who may write there may write the module.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_CODE = (".native", ".nbi", ".nbc")  # ours, and numba's two
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def is_private(folder: Path) -> bool:
    """Whether this user alone may write to a folder. One of this user that others may write is
    closed to them, and what code it has is removed: they may have written it."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        status = folder.stat()
        if status.st_uid != os.geteuid():
            return False
        if status.st_mode & _OTHERS:
            folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS)
            for path in folder.iterdir():
                if path.suffix in _CODE:
                    path.unlink()
    except OSError:
        return False
    return True
