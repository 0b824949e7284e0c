"""One run at a time in a work folder, and what that run says of itself.

The first line of the file `.lock` is the number of the process that has the lock, or had it last.
The second line, if any, is a JSON object: how far the last run is, for `crawlrank status`. It is
written over the one before it in place, as the lock is on this file and goes with it.

Which work folder owns the folder of data at a URL. No other work folder overwrites it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import secrets
import shlex
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage import stores
from crawlrank.pipeline.workfolder.manifest import Manifest

PATIENCE = 1.0  # seconds
PATIENCE_WITH_LOOKS = 60.0  # a process that only looks may be stopped while it does
LOCK = ".lock"


class Lock:
    """A lock that this process holds. last: what the run before said of itself, {} if nothing."""

    def __init__(self, file: IO[str]) -> None:
        self._file, self._writing = file, threading.Lock()  # some progress has a thread of its own
        self.last = _content(file).state
        self.write(self.last)

    def write(self, state: dict[str, Any]) -> None:
        """Say how far this run is."""
        text = f"{os.getpid()}\n" + (f"{json.dumps(state)}\n" if state else "")
        data = text.encode()
        with self._writing:
            os.pwrite(self._file.fileno(), data, 0)
            os.ftruncate(self._file.fileno(), len(data))


class LockContent(NamedTuple):
    """owner: number of the process that holds the lock, or held it last; 0 if not known."""

    owner: int
    state: dict[str, Any]


def _content(file: IO[str]) -> LockContent:
    file.seek(0)
    owner, state, *_ = (*file.read().split("\n"), "", "")
    with contextlib.suppress(ValueError):  # just being written, or cut by a full disk
        kept = json.loads(state or "{}")
        return LockContent(int(owner or 0), kept if isinstance(kept, dict) else {})
    return LockContent(int(owner) if owner.isdecimal() else 0, {})


def looked_at(work: Path) -> tuple[LockContent, bool]:
    """What the lock's file says, and whether a process holds the lock now. It is taken shared for
    a moment, for which `locked` waits."""
    try:
        file = (work / LOCK).open(errors="replace")
    except OSError:
        return LockContent(0, {}), False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            return _content(file), error.errno in (errno.EWOULDBLOCK, errno.EACCES)
        return _content(file), False


@contextlib.contextmanager
def locked(work: Path, patience: float = PATIENCE) -> Iterator[Lock]:
    """Hold the folder's lock; the system drops it with the process, so a kill leaves none behind.
    patience: seconds to wait for another process that holds it.

    Raises BadInput when another process holds it, or when the folder cannot be written.
    """
    try:
        work.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(
            os.open(work / LOCK, os.O_RDWR | os.O_CREAT, 0o666), "r+", errors="replace"
        )
    except OSError as error:
        raise BadInput(
            str(work),
            f"cannot be used as a work folder ({error.strerror})",
            "a folder that can be written",
            "Name another work folder.",
        ) from error
    with file:
        try:
            _take(file, patience)
        except BlockingIOError as error:
            content = _content(file)
            words = shlex.join(["crawlrank", *content.state.get("arguments", ["run"])])
            raise BadInput(
                str(work),
                f"`{words}` is at work in this folder (process {content.owner or 'unknown'})",
                "one run at a time",
                "Wait for it, or use another work folder.",
            ) from error
        yield Lock(file)


def _take(file: IO[str], patience: float) -> None:
    """Take the lock, after a moment if need be: a task that a killed run was about to start holds
    it until it has started, or has ended for want of its parent. Raises BlockingIOError."""
    begun = time.monotonic()
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            seconds = PATIENCE_WITH_LOOKS if _is_only_looked_at(file) else patience
            if time.monotonic() > begun + seconds:
                raise
            time.sleep(patience / 20)


def _is_only_looked_at(file: IO[str]) -> bool:
    """Whether no process works in the folder: those that look take the lock shared."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(file, fcntl.LOCK_UN)
    return True


MARK = "crawlrank.json"


def claim(data: str, manifest: Manifest) -> None:
    """Make the folder the work folder's own. Raises BadInput where it is another's, or holds what
    nobody has claimed."""
    own = manifest.claims.get(data)
    mark = stores.join(data, MARK)
    try:
        claimed = stores.read(mark)
        if own and claimed and json.loads(claimed)["work"] == own:
            return
        if claimed or stores.folders(data):
            whose = "another work folder's" if claimed else "nobody's, and not empty"
            cure = "Name another folder with --data, or remove this one."
            raise BadInput(data, f"is {whose}", "a new folder, or this work folder's own", cure)
        manifest.claims[data] = own = secrets.token_hex(8)
        manifest.save()
        stores.write(mark, json.dumps({"work": own}).encode())
    except OSError as error:
        raise BadInput(
            data, f"cannot be used ({error})", "a folder that can be written",
            "Look at the URL and at what tells where its store is (HADOOP_CONF_DIR, AWS_REGION).",
        ) from error  # fmt: skip
