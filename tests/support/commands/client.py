"""`python -I -S client.py WORD…`: run the command in a process that the server forks.

Of the standard library alone, and little of it: it is started hundreds of times. Signals are passed
on. Without a server, as the variable names none, it becomes `python -m crawlrank` itself.
"""

import json
import os
import signal
import socket
import sys

SERVER = "CRAWLRANK_COMMAND_SERVER"  # the socket of the server
KEEPER = "CRAWLRANK_COMMAND_KEEPER"  # the process with which the server ends
COSTS = "CRAWLRANK_COMMAND_COSTS"  # a file for the CPU seconds of each command
#: a fork of the server cannot follow these
OF_PYTHON = ("PYTHONIOENCODING", "PYTHONUTF8", "PYTHONWARNINGS", "LC_ALL")
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


def main() -> None:
    path = os.environ.get(SERVER)
    if not path or any(map(os.environ.get, OF_PYTHON)):
        os.execv(sys.executable, [sys.executable, "-m", "crawlrank", *sys.argv[1:]])
    streams = [number for number in range(3) if is_open(number)]  # before others get the numbers
    server = connected(path)
    ask(server, streams)
    answers = server.makefile("r")
    pid = int(answers.readline())
    for number in PASSED_ON:
        signal.signal(number, lambda number, frame: os.kill(pid, number))
    status, cpu = json.loads(answers.readline())
    if costs := os.environ.get(COSTS):
        with open(costs, "a") as file:  # noqa: PTH123 (pathlib takes as long as all of this)
            file.write(f"{cpu}\n")
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def connected(path: str) -> socket.socket:
    """A connection to the server, which the first that finds none starts."""
    server = socket.socket(socket.AF_UNIX)
    try:
        server.connect(path)
    except OSError:
        start(path)
        server.connect(path)
    return server


def start(path: str) -> None:
    import fcntl
    import subprocess

    tests = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100,PTH120
    with open(f"{path}.lock", "w") as lock:  # noqa: PTH123
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.exists(path):  # noqa: PTH110
            return
        found = os.pathsep.join((os.path.dirname(tests), tests))  # noqa: PTH120
        command = [sys.executable, "-m", "support.commands.server", path, os.environ[KEEPER]]
        with open(f"{path}.log", "w") as log:  # noqa: PTH123
            server = subprocess.Popen(
                command, env={**os.environ, "PYTHONPATH": found}, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, cwd="/",
            )  # fmt: skip
        assert server.stdout is not None
        if server.stdout.readline() != b"ready\n":
            with open(f"{path}.log") as log:  # noqa: PTH123
                sys.exit(f"the server of commands has not started: {log.read()}")


def ask(server: socket.socket, streams: list[int]) -> None:
    """Send what the command needs, with the streams that are open here."""
    ignored = [n for n in (signal.SIGINT, signal.SIGPIPE) if signal.getsignal(n) == signal.SIG_IGN]
    asked = {
        "words": sys.argv[1:],
        "folder": os.getcwd(),  # noqa: PTH109
        "environment": dict(os.environ),
        "streams": streams,
        "ignored": ignored,
    }
    data = json.dumps(asked).encode("ascii")
    server.sendall(len(data).to_bytes(8, "big"))
    socket.send_fds(server, [data[:1]], streams)
    server.sendall(data[1:])


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
