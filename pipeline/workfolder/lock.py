"""One run at a time in a work folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from jobs.kernel.errors import BadInput

PATIENCE = 1.0  # seconds


@contextlib.contextmanager
def locked(work: Path) -> Iterator[None]:
    """Hold the folder's lock; the system drops it with the process, so a kill leaves none behind.

    Raises BadInput when another process holds it, or when the folder cannot be written.
    """
    try:
        work.mkdir(parents=True, exist_ok=True)
        file = (work / ".lock").open("a+")
    except OSError as error:
        raise BadInput(
            str(work),
            f"cannot be used as a work folder ({error.strerror})",
            "a folder that can be written",
            "Name another one with --work.",
        ) from error
    with file:
        try:
            _take(file)
        except BlockingIOError as error:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise BadInput(
                str(work),
                f"another run is at work in this folder (process {owner})",
                "one run at a time",
                "Wait for it, or use another --work.",
            ) from error
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def _take(file: IO[str]) -> None:
    """Take the lock, after a moment if need be: a task that a killed run was about to start holds
    it until it has started, or has ended for want of its parent. Raises BlockingIOError."""
    last = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > last:
                raise
            time.sleep(PATIENCE / 20)
