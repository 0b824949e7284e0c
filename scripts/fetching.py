"""Programs of others that scripts run: fetched by Maven from Maven Central, or the mirror that it
is set up with, checked, and kept in a cache of the user's (`CRAWLRANK_CACHE`, default
~/.cache/crawlrank)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

FETCHING = 600  # seconds


class Unavailable(RuntimeError):
    """A program or what it needs cannot be had; the message says what to do."""


def cache() -> Path:
    return Path(os.environ.get("CRAWLRANK_CACHE") or Path.home() / ".cache" / "crawlrank")


def program(name: str) -> str:
    """The path of a program; raises Unavailable."""
    path = shutil.which(name)
    if path is None:
        raise Unavailable(
            f"no {name} on this machine: a JDK of version 17 or later is needed, and Maven "
            "to fetch with (Debian: apt-get install default-jdk-headless maven)"
        )
    return path


def maven(what: str, arguments: Sequence[str], folder: Path) -> None:
    """Run Maven in a folder; raises Unavailable with its last words. what: for the message."""
    command = [program("mvn"), "-B", "-q", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FETCHING)
    if done.returncode:
        raise Unavailable(f"Maven cannot fetch {what}:\n{(done.stdout + done.stderr)[-1000:]}")


def appear(made: Path, home: Path) -> None:
    """By rename: another process may have been faster."""
    try:
        made.rename(home)
    except OSError:
        if not home.is_dir():
            raise
