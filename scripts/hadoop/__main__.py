"""The command: python -m hadoop install|start|stop|status|run|with."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from fetching import Unavailable, program

from hadoop import control, distribution
from hadoop.node import Node, node_in

HOURS = 4.0


def main() -> None:
    options = _parser().parse_args()
    try:
        sys.exit(options.act(node_in(options.folder), options))
    except Unavailable as reason:
        sys.exit(f"hadoop: {reason}")


def install(_node: Node, _options: argparse.Namespace) -> None:
    program("java")
    print(distribution.install())


def start(node: Node, options: argparse.Namespace) -> None:
    print(f"Hadoop in {node.folder}: {control.start(node, options.hours, options.owner)}")


def stop(node: Node, _options: argparse.Namespace) -> None:
    print(f"Hadoop in {node.folder}: {control.stop(node)}")


def status(node: Node, _options: argparse.Namespace) -> int:
    """Exit code 1 unless all servers run."""
    state = node.read_state()
    if state is None or not state.keeper.alive():
        print(f"Hadoop in {node.folder}: does not run")
        return 1
    ends = time.strftime("%H:%M", time.localtime(state.ends))
    print(f"Hadoop in {node.folder}: {'ready' if state.ready else 'not ready'}, until {ends}")
    print(f"{'keeper':18}{state.keeper.pid:>8}")
    alive = {name: server.alive() for name, server in state.servers.items()}
    for name, server in state.servers.items():
        print(f"{name:18}{server.pid:>8}{'' if alive[name] else '  dead'}")
    return int(not (state.ready and all(alive.values())))


def run(node: Node, options: argparse.Namespace) -> None:
    control.run(node, options.command)


def run_with(node: Node, options: argparse.Namespace) -> int:
    """Start, run, stop what was started here; the exit code is the command's."""
    ours = control.start(node, options.hours, os.getpid()) == "started"
    try:
        again = [
            sys.executable,
            "-m",
            "hadoop",
            "--folder",
            str(node.folder),
            "run",
            *options.command,
        ]
        return subprocess.run(again).returncode
    finally:
        if ours:
            control.stop(node)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="hadoop", description=__doc__)
    parser.add_argument(
        "--folder", type=Path, help="of the node, with its data and logs (default: work/hadoop)"
    )
    acts = parser.add_subparsers(required=True, metavar="ACTION")

    def action(name: str, act: object, words: str) -> argparse.ArgumentParser:
        added = acts.add_parser(name, help=words, description=words)
        added.set_defaults(act=act)
        return added

    action("install", install, "fetch the jars of Hadoop and check them")
    starting = action("start", start, "start the node, or those of its servers that have died")
    starting.add_argument("--owner", type=int, help="a process: the node ends with it")
    action("stop", stop, "end the node; its data stay")
    action("status", status, "what runs")
    running = action("run", run, "run a command beside the servers")
    around = action("with", run_with, "start the node, run a command, end the node")
    for added in (starting, around):
        added.add_argument(
            "--hours", type=float, default=HOURS, help="after which it ends: %(default)s"
        )
    for added in (running, around):
        added.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND …")
    return parser


if __name__ == "__main__":
    main()
