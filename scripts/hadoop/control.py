"""Start, stop and look at a node, and run commands in its namespace."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fetching import Unavailable, program

from hadoop.configuration import environment
from hadoop.distribution import install
from hadoop.namespace import entering, inside, unsharing
from hadoop.node import Node, State
from hadoop.processes import end, marked, wait

SCRIPTS = Path(__file__).resolve().parents[1]


def start(node: Node, hours: float, owner: int | None = None) -> str:
    """Start what does not run of a node, wait until it is ready, and say what was done.

    hours: after which it ends by itself. owner: id of the process with whose end it ends.
    Raises Unavailable.
    """
    node.folder.mkdir(parents=True, exist_ok=True)
    with _alone(node):
        state = _kept(node)
        if state is None:
            clean(node)
            _launch(node, hours, owner)
            return "started"
        if all(server.alive() for server in state.servers.values()):
            return "runs already"
        node.write_state(State(state.keeper, state.servers, state.ends))
        state.keeper.send(signal.SIGHUP)
        _await_ready(node, lambda: _kept(node) is None)
        return "servers that had died run again"


def stop(node: Node) -> str:
    """End a node, and what a killed one has left; say what was done."""
    if not node.folder.is_dir():
        return "does not run"
    with _alone(node):
        state = _kept(node)
        if state:
            state.keeper.send(signal.SIGTERM)
            wait([state.keeper], 30)
        return "stopped" if clean(node) or state else "does not run"


def clean(node: Node) -> bool:
    """End what is left of a node, keeper and all; whether there was anything."""
    left = marked(node.MARK, str(node.folder))
    state = _kept(node)
    end([*left, *([state.keeper] if state else [])], 5)
    node.forget_state()
    return bool(left)


def running(node: Node) -> State:
    """Raises Unavailable unless the node has been started and is ready."""
    state = _kept(node)
    if state is None or not state.ready:
        raise Unavailable(f"no Hadoop runs in {node.folder}: start it first")
    return state


def run(node: Node, command: Sequence[str]) -> None:
    """Become the command, in the namespace and with the environment of a node."""
    state, variables = running(node), environment(node)
    prefix = [] if inside(state.keeper.pid) else entering(state.keeper.pid)
    whole = [*prefix, *command]
    try:
        os.execvpe(whole[0], whole, variables)
    except OSError as error:
        raise Unavailable(f"{whole[0]}: {error.strerror}") from error


def _kept(node: Node) -> State | None:
    state = node.read_state()
    return state if state and state.keeper.alive() else None


def _launch(node: Node, hours: float, owner: int | None) -> None:
    program("java")
    install()
    command = [*unsharing(), sys.executable, "-m", "hadoop.keeper", str(node.folder)]
    command += ["--seconds", str(hours * 3600), *(["--owner", str(owner)] if owner else [])]
    node.logs.mkdir(exist_ok=True)
    with (node.logs / "keeper.log").open("wb") as log:
        keeper = subprocess.Popen(
            command,
            cwd=node.folder,
            env={**os.environ, "PYTHONPATH": str(SCRIPTS)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    _await_ready(node, lambda: keeper.poll() is not None)


def _await_ready(node: Node, gone: Callable[[], bool]) -> None:
    while True:
        ended = gone()
        state = node.read_state()
        if state and state.ready:
            return
        if ended:
            raise Unavailable(f"Hadoop does not start: {node.last_words('keeper', 12)}")
        time.sleep(0.1)


@contextmanager
def _alone(node: Node) -> Iterator[None]:
    """Two that start or stop at once: one after the other."""
    with (node.folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
