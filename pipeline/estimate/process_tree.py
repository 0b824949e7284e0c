"""Memory of a process with all that it started, and bytes of a folder, as Linux tells them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

KIB = 1024


def tree(pid: int) -> list[int]:
    """A process and all that it and its children started and that are there."""
    members = [pid]
    for parent in members:
        for path in Path(f"/proc/{parent}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                members += map(int, path.read_text().split())
    return members


def memory_of(pid: int) -> Iterator[tuple[str, int]]:
    """Names and bytes of a process's memory; nothing of one that is gone."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, size, *_ = line.split()
            yield name.rstrip(":"), int(size) * KIB


def shared_memory(pid: int) -> int:
    """Bytes of the whole tree, where a page that several processes have counts as one (Pss); 0
    where the system does not tell."""
    return sum(size for each in tree(pid) for name, size in memory_of(each) if name == "Pss")


def size_of_tree(folder: Path) -> int:
    """Bytes on disk of the files in a folder."""
    total = 0
    for above, _, names in os.walk(folder):  # passes over what is gone meanwhile
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(above, name).lstat().st_blocks * 512
    return total
