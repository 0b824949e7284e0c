"""Commands under limits of the machine: addresses, and processes and threads of a user."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.crawls import COMMAND, Said, checked, environment, process

USER = 54321
READING = "-all,+dac_override,+dac_read_search"


@contextlib.contextmanager
def folder_of_user() -> Iterator[Path]:
    """A folder that the user of `within_threads` may use, as all programs see it; skips where
    nobody can be another user."""
    if os.geteuid() or not shutil.which("setpriv"):
        pytest.skip("cannot run as another user here")
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, USER, -1)
        yield Path(name)


def addresses(size: int) -> Callable[[], None]:
    """Limit what this process may reserve, in bytes, as `ulimit -v` does."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def within_addresses(size: int, *args: object) -> Said:
    """The command under `ulimit -v`."""
    return process(*args, command=COMMAND, preexec_fn=addresses(size))


def within_threads(most: int, *args: object) -> Said:
    """The command under `ulimit -u`, as another user, since root is not bound by it."""
    kept = [f"--{which}={READING}" for which in ("inh-caps", "ambient-caps", "bounding-set")]
    limits = [sys.executable, "-c", BEGIN, str(most)]
    done = subprocess.run(
        ["setpriv", f"--reuid={USER}", "--clear-groups", *kept, *limits, *COMMAND, *map(str, args)],
        env=environment(), capture_output=True, timeout=900, check=False,
    )  # fmt: skip
    return checked(Said(done.returncode, done.stdout.decode(), done.stderr.decode()))


BEGIN = """
import os, resource, sys
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
os.execv(sys.argv[2], sys.argv[2:])
"""
