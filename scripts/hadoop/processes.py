"""Processes as Linux shows them in /proc: by id and start, as ids are used again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


class Process(NamedTuple):
    """began: in ticks since the machine started."""

    pid: int
    began: int

    @classmethod
    def with_id(cls, pid: int) -> Process | None:
        """The process that has the id now; None: none, or a dead one that nobody has waited for."""
        try:
            text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
        except OSError:
            return None
        fields = text.rpartition(")")[2].split()  # the name before may hold anything
        return None if fields[0] in "ZX" else cls(pid, int(fields[19]))

    def alive(self) -> bool:
        return Process.with_id(self.pid) == self

    def send(self, number: signal.Signals) -> None:
        if self.alive():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


def marked(name: str, value: str) -> list[Process]:
    """Processes of this user that started with an environment variable of this value."""
    entry = f"{name}={value}".encode()
    with_it, without_any = [], []
    for pid in [int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdigit()]:
        variables = _variables(pid)
        if entry in variables:
            with_it.append(pid)
        elif not any(variables):
            without_any.append(pid)
    # A program that begins has no variables for a moment; kernel threads never have any.
    time.sleep(0.1)
    with_it += [pid for pid in without_any if entry in _variables(pid)]
    processes = [Process.with_id(pid) for pid in with_it if pid != os.getpid()]
    return [process for process in processes if process]


def _variables(pid: int) -> list[bytes]:
    """None of a process of another user, or of one that has ended."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def end(processes: Iterable[Process], patience: float) -> None:
    """Ask them to end; kill what has not after `patience` seconds."""
    left = [process for process in processes if process.alive()]
    for process in left:
        process.send(signal.SIGTERM)
    left = wait(left, patience)
    for process in left:
        process.send(signal.SIGKILL)
    wait(left, 5)


def wait(processes: Iterable[Process], seconds: float) -> list[Process]:
    """The processes still alive after at most these seconds."""
    limit, left = time.monotonic() + seconds, list(processes)
    while left := [process for process in left if process.alive()]:
        if time.monotonic() > limit:
            break
        time.sleep(0.05)
    return left
