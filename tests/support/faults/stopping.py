"""Runs that stop themselves, by SIGSTOP, when they have said of themselves that a step is so far:
what is looked at or struck then does not go on meanwhile, however fast or slow the machine is.

They write at once what they else write now and then: all archives but the last are in the manifest.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.progress import running
from pipeline.workfolder import manifest
from pipeline.workfolder.lock import Lock
from support.crawls import environment
from support.paths import ROOT

SECONDS = 300
PROGRAM = """
{before}
from support.faults.stopping import stop_at
stop_at({step!r}, {count})
from pipeline.__main__ import main
main()
"""


@contextlib.contextmanager
def stopped(
    step: str, count: int, *words: object, before: str = ""
) -> Iterator[subprocess.Popen[str]]:
    """A command that has stopped, since so many archives or rounds of the step are done, in a
    session of its own. It ends with the block. before: Python to run before it."""
    program = PROGRAM.format(before=before, step=step, count=count)
    env = environment(PYTHONPATH=os.pathsep.join(map(str, (ROOT, ROOT / "tests"))))
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", program, *map(str, words)]
    with subprocess.Popen(command, env=env, start_new_session=True, **pipes) as run:
        try:
            _await_stop(run)
            yield run
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)


def interrupt(run: subprocess.Popen[str]) -> None:
    """As a terminal does: all processes of the run. What had stopped goes on."""
    for sent in (signal.SIGINT, signal.SIGCONT):
        os.killpg(run.pid, sent)


def _await_stop(run: subprocess.Popen[str]) -> None:
    last, which = time.monotonic() + SECONDS, os.WSTOPPED | os.WEXITED | os.WNOWAIT | os.WNOHANG
    while (state := os.waitid(os.P_PID, run.pid, which)) is None:
        assert time.monotonic() < last, "the run has not stopped itself"
        time.sleep(0.01)
    assert state.si_code == os.CLD_STOPPED, f"the run ended: {run.communicate()}"


def stop_at(step: str, count: int) -> None:
    """Stop this process once, when the step is so far."""
    write, done = Lock.write, []

    def and_stop(lock: Lock, state: dict[str, Any]) -> None:
        write(lock, state)
        if not done and _is_so_far(state, step, count):
            done.append(count)
            os.kill(os.getpid(), signal.SIGSTOP)

    Lock.write = and_stop
    running.EVERY = manifest.SAVING = 0.0


def _is_so_far(state: Mapping[str, Any], step: str, count: int) -> bool:
    now = state.get("step", {})
    archives = state.get("archives", [0])[0]
    rounds = now["done"] if now.get("unit") == "rounds" else 0
    return bool(now.get("name") == step and max(archives, rounds) >= count)
