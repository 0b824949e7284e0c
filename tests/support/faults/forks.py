"""Processes that are forked from a server which has everything imported, each for one fault.

A process of the tests has one server, which starts with the first fault and ends with it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from multiprocessing.reduction import DupFd
from typing import IO, Any

from support.commands import client

SERVER = multiprocessing.get_context("forkserver")


def forked(target: Callable[..., object], *args: Any) -> ForkServerProcess:
    """A process that has started to call the function."""
    _serve()
    process = SERVER.Process(target=_target, args=(target, *args))
    process.start()
    return process


def _serve() -> None:
    """Start the server, which imports by the path that it finds in its environment."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        SERVER.set_forkserver_preload(["support.faults.preloaded"])
        forkserver.ensure_running()
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


def _target(target: Callable[..., object], *args: Any) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        target(*args)
    finally:
        if costs := os.environ.get(client.COSTS):
            with open(costs, "a") as file:  # noqa: PTH123
                file.write(f"{sum(os.times()[:4])}\n")


def inherited(*streams: IO[Any]) -> list[Any]:
    """For a process that is started next: its own numbers of these files, by `detach()`."""
    return [DupFd(stream.fileno()) for stream in streams]
