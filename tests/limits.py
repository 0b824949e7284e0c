"""Commands under limits of the machine: addresses, and processes and threads of a user."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable

import pytest
from crawls import COMMAND, Said, checked, environment, process

#: a user that has no other processes, which may read what root may
USER = ("--reuid", "54321", "--clear-groups")
READING = "-all,+dac_override,+dac_read_search"


def addresses(size: int) -> Callable[[], None]:
    """For a process that may reserve so many bytes, as under `ulimit -v`."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def within_addresses(size: int, *args: object) -> Said:
    """The command under `ulimit -v`."""
    return process(*args, preexec_fn=addresses(size))


def within_threads(most: int, *args: object) -> Said:
    """The command under `ulimit -u`, which root knows nothing of; skips where nobody else can be
    had."""
    if os.geteuid() or not (setpriv := shutil.which("setpriv")):
        pytest.skip("cannot run as another user here")
    kept = [f"--{which}={READING}" for which in ("inh-caps", "ambient-caps", "bounding-set")]
    limits = [sys.executable, "-c", BEGIN, str(most)]
    done = subprocess.run(
        [setpriv, *USER, *kept, *limits, *COMMAND, *map(str, args)],
        env=environment(), capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    return checked(Said(done.returncode, done.stdout.decode(), done.stderr.decode()))


BEGIN = """
import os, resource, sys
most = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
os.execv(sys.argv[2], sys.argv[2:])
"""
