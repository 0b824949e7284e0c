"""Which files are opened, and how often, whoever opens them in whatever way; Linux tells it."""

from __future__ import annotations

import ctypes
import os
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OPENED, CLOSED = 0x20, 0x10  # IN_OPEN, IN_CLOSE_NOWRITE: between two openings, which would be one
EVENT = struct.Struct("iIII")


class Openings:
    """files: opened since they were last asked for, by path."""

    def __init__(self, descriptor: int, folders: dict[int, Path]) -> None:
        self._descriptor, self._folders = descriptor, folders

    def files(self) -> Counter[Path]:
        found = Counter[Path]()
        while data := self._events():
            while data:
                watch, what, _, size = EVENT.unpack_from(data)
                name = data[EVENT.size : EVENT.size + size].rstrip(b"\0")
                data = data[EVENT.size + size :]
                path = self._folders[watch] / os.fsdecode(name)
                found[path] += bool(what & OPENED) and path.is_file()
        return +found

    def _events(self) -> bytes:
        try:
            return os.read(self._descriptor, 1 << 16)
        except BlockingIOError:
            return b""


@contextmanager
def openings(root: Path) -> Iterator[Openings]:
    """Openings of files in a folder and in the folders in it."""
    library = ctypes.CDLL(None)
    descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
        add = library.inotify_add_watch
        watches = {add(descriptor, bytes(each), OPENED | CLOSED): each for each in folders}
        yield Openings(descriptor, watches)
    finally:
        os.close(descriptor)
