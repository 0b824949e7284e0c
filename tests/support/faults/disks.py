"""File systems so small that they are full in no time."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def tiny_disk(place: Path, size: str, *options: str) -> Iterator[Path]:
    """A file system of that size; skips where none can be mounted."""
    place.mkdir()
    options = ("size=" + size, *options)
    mount = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("cannot mount a file system here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def grow(disk: Path, size: str) -> None:
    """Make room on it."""
    subprocess.run(["mount", "-o", f"remount,size={size}", str(disk)], check=True)
