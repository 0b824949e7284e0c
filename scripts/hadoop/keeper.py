"""The process that keeps a node's servers: it starts them as its children, inside the namespace,
and ends them when it is told to, when its owner is gone, or when its time is over.

A server that dies stays dead until the keeper gets SIGHUP (`start` again). Where the keeper itself
is killed, the system ends its children; the containers that are left then, `stop` finds by mark.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from hadoop.configuration import environment, write_configuration
from hadoop.namespace import loopback_up
from hadoop.node import Node, State
from hadoop.processes import Process, end, marked
from hadoop.servers import SERVERS, command, formatted, formatting, ready

STARTING = 180  # seconds, for a slow machine
PATIENCE = 8  # seconds, for servers to end
TRIES = 3  # of a server that dies as it starts
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Keeper:
    """owner: with its end this ends."""

    def __init__(self, node: Node, owner: Process | None, seconds: float) -> None:
        self.node, self.owner = node, owner
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        myself = Process.with_id(os.getpid())
        assert myself
        self.state = State(myself, {}, time.time() + seconds)
        self.told_to_end = self.told_to_revive = False

    def keep(self) -> None:
        """Until the end. SystemExit, with a message, when the servers do not come up."""
        signal.signal(signal.SIGTERM, self._told)
        signal.signal(signal.SIGINT, self._told)
        signal.signal(signal.SIGHUP, self._told)
        self.node.write_state(self.state)
        try:
            self._prepare()
            self._start_servers()
            while not self._over():
                if self.told_to_revive:
                    self.told_to_revive = False
                    self._start_servers()
                time.sleep(0.2)
        finally:
            end(marked(self.node.MARK, str(self.node.folder)), PATIENCE)
            self.node.forget_state()

    def _prepare(self) -> None:
        for folder in (self.node.var / "tmp", self.node.logs):
            folder.mkdir(parents=True, exist_ok=True)
        write_configuration(self.node)
        if not formatted(self.node):
            self._run("format", formatting(self.node)).wait(STARTING)
            if not formatted(self.node):
                sys.exit(f"HDFS cannot be made:\n{self.node.last_words('format')}")

    def _start_servers(self) -> None:
        limit, started = time.monotonic() + STARTING, Counter[str]()
        while self._start_dead(started) or not ready():
            if time.monotonic() > limit:
                sys.exit(f"Hadoop is not ready after {STARTING} s: see {self.node.logs}")
            if self._over():
                sys.exit("told to end before Hadoop was ready")
            time.sleep(0.2)
        self._note(replace(self.state, ready=True))

    def _start_dead(self, started: Counter[str]) -> bool:
        """Start the servers that do not run, and note them; whether there were any. SystemExit when
        one has died TRIES times. The history server dies where HDFS is not there soon enough."""
        dead = [name for name in SERVERS if not self._runs(name)]
        for name in dead:
            if started[name] >= TRIES:
                code, words = self.children[name].returncode, self.node.last_words(name)
                sys.exit(f"{name}: exit code {code} as it started\n{words}")
            self.children[name] = self._run(name, command(self.node, name))
        started.update(dead)
        if dead:
            pairs = ((name, Process.with_id(child.pid)) for name, child in self.children.items())
            servers = {name: process for name, process in pairs if process}
            self._note(replace(self.state, servers=servers, ready=False))
        return bool(dead)

    def _runs(self, name: str) -> bool:
        """A killed one is dead at once, but can be waited for only when all its threads are."""
        child = self.children.get(name)
        if child is None:
            return False
        if Process.with_id(child.pid):
            return True
        child.wait(PATIENCE)
        return False

    def _over(self) -> bool:
        gone = self.owner is not None and not self.owner.alive()
        return self.told_to_end or gone or time.time() > self.state.ends

    def _run(self, name: str, arguments: list[str]) -> subprocess.Popen[bytes]:
        with (self.node.logs / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                arguments,
                cwd=self.node.var,
                env={**environment(self.node), self.node.MARK: str(self.node.folder)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )

    def _note(self, state: State) -> None:
        self.state = state
        self.node.write_state(state)

    def _told(self, number: int, _frame: object) -> None:
        if number == signal.SIGHUP:
            self.told_to_revive = True
        else:
            self.told_to_end = True


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def main() -> None:
    parser = argparse.ArgumentParser(prog="keeper")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--owner", type=int)
    parser.add_argument("--seconds", type=float, required=True)
    options = parser.parse_args()
    owner = Process.with_id(options.owner) if options.owner else None
    if options.owner and owner is None:
        sys.exit(f"no process {options.owner}, which should own the node")
    loopback_up()
    Keeper(Node(options.folder), owner, options.seconds).keep()


if __name__ == "__main__":
    main()
