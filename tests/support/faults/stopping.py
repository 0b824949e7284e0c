"""Commands that stop themselves, by SIGSTOP, when they have said of themselves how many archives
are read: what is looked at then does not go on meanwhile, however fast or slow the machine is.
They write at once what they else write now and then: all archives but the last are in the manifest.

    python -m support.faults.stopping COUNT run ARCHIVES --work DIR
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

from pipeline.cli import main
from pipeline.progress import running
from pipeline.workfolder import manifest
from pipeline.workfolder.lock import Lock

SECONDS = 300


def await_stop(process: subprocess.Popen[bytes]) -> None:
    """Until the process has stopped itself; it fails if it ends before."""
    last, which = time.monotonic() + SECONDS, os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG
    while (state := os.waitid(os.P_PID, process.pid, which)) is None:
        assert time.monotonic() < last, "the process has not stopped itself"
        time.sleep(0.01)
    assert state.si_code == os.CLD_STOPPED, f"the process ended: {state}"


def _stop_at(count: int) -> None:
    write, stopped = Lock.write, []

    def and_stop(lock: Lock, state: dict[str, Any]) -> None:
        write(lock, state)
        if not stopped and (state.get("archives") or [0])[0] >= count:
            stopped.append(count)
            os.kill(os.getpid(), signal.SIGSTOP)

    Lock.write = and_stop
    running.EVERY = manifest.SAVING = 0.0


if __name__ == "__main__":
    _stop_at(int(sys.argv.pop(1)))
    main()
