"""Processes: how many work at a time on this machine, and a command that dies with its driver.

More than cores only help while they wait for a store or a disk. Thousands take longer to start than
to work, and bring the machine to a standstill. No pool has more than it has tasks.

`tied` starts a command that dies with its driver, even where SIGKILL ends the driver. A client of a
cluster that outlives its driver might submit its job after the next driver has looked for jobs that
were left. A Java of Heritrix would keep the store of a job locked.

    python processes.py DRIVER COMMAND …

DRIVER: the process id of the driver. Only Linux has such a tie (prctl's PR_SET_PDEATHSIG, which
execve keeps); elsewhere the command is started without it. A process of its own sets the tie, as
Python code between fork and exec may wait for ever for a lock of another thread of the driver.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
from collections.abc import Sequence

A_CORE = 4  # processes, at most
PR_SET_PDEATHSIG = 1


def cores() -> int:
    return os.cpu_count() or 1


def at_a_time(jobs: int | None = None) -> int:
    """The number of processes for --jobs: at most A_CORE for each core, by default one."""
    return cores() if jobs is None else min(jobs, A_CORE * cores())


def tied(command: Sequence[str]) -> list[str]:
    """The command line that starts `command` tied to this process. A command that is not there is
    returned as it is, and fails as usual."""
    if sys.platform != "linux" or shutil.which(command[0]) is None:
        return list(command)
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def main(driver: str, *command: str) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(driver):  # the driver died before there was a tie
        sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
