"""The server of commands: `python -m support.commands.server SOCKET PID`.

It imports everything, prints `ready`, and forks a process for each command that clients ask for. It
ends with the process PID, that of the tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any, NoReturn

SECONDS = 1.0  # after which it looks whether the tests are still there


def main(path: str, keeper: int) -> None:
    preload()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{path}.new")
        listener.listen(64)
        Path(f"{path}.new").rename(path)
        os.write(1, b"ready\n")
        os.dup2(0, 1)
        while is_there(keeper):
            if select.select([listener], [], [], SECONDS)[0]:
                connection, _ = listener.accept()
                if not os.fork():
                    listener.close()
                    attend(connection)
                connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def preload() -> None:
    """Import what commands import, with the settings that they make before they do."""
    from crawlrank.pipeline.__main__ import _modest

    _modest()
    del sys.modules["crawlrank.pipeline.__main__"]  # which commands run anew
    from crawlrank.pipeline.cli.commands import COMMANDS, loaded

    for name in COMMANDS:
        loaded(name)
    from support.commands import preloaded  # noqa: F401


def attend(connection: socket.socket) -> NoReturn:
    """In a process of its own: begin the command, and tell the client how it ended. It is killed if
    the client goes before it."""
    streams, asked = received(connection)
    command = os.fork()
    if not command:
        connection.close()
        become(asked, streams)
    for stream in streams:
        os.close(stream)
    connection.sendall(b"%d\n" % command)
    ended = os.pidfd_open(command)
    if ended not in select.select([ended, connection], [], [])[0]:
        os.kill(command, signal.SIGKILL)
    _, status, usage = os.wait4(command, 0)
    cpu = usage.ru_utime + usage.ru_stime
    with contextlib.suppress(OSError):
        connection.sendall(json.dumps([os.waitstatus_to_exitcode(status), cpu]).encode() + b"\n")
    os._exit(0)


def received(connection: socket.socket) -> tuple[list[int], dict[str, Any]]:
    with connection.makefile("rb", buffering=0) as reader:
        size = int.from_bytes(exactly(reader, 8), "big")
        first, streams, _, _ = socket.recv_fds(connection, 1, 3)
        return list(streams), json.loads(first + exactly(reader, size - 1))


def exactly(reader: Any, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = reader.read(size - len(data))
        if not more:
            os._exit(1)
        data += more
    return data


def become(asked: dict[str, Any], streams: list[int]) -> NoReturn:
    """Run the command in this process, as `python -m crawlrank` would."""
    code = 1
    try:
        set_streams(dict(zip(asked["streams"], streams, strict=True)))
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        for number in signal.SIGINT, signal.SIGPIPE:
            ignored = number in asked["ignored"] or number == signal.SIGPIPE
            default = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            signal.signal(number, signal.SIG_IGN if ignored else default)
        sys.argv = ["crawlrank", *asked["words"]]
        sys.path[0] = asked["folder"]
        runpy.run_module("crawlrank", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        if isinstance(end.code, int | None):
            code = end.code or 0
        else:
            sys.stderr.write(f"{end.code}\n")
    except BaseException:  # noqa: BLE001 (Python shows what its programs let through)
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError, AttributeError):
                code = code or 120  # as Python
        os._exit(code)


def set_streams(given: dict[int, int]) -> None:
    """Make these the standard streams; what the client had closed is closed here."""
    kept = {number: os.dup(stream) for number, stream in given.items()}
    for number in range(3):
        if number in kept:
            os.dup2(kept[number], number)
        else:
            os.close(number)
    for stream in (*kept.values(), *given.values()):
        if stream > 2:
            os.close(stream)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream: Any = None
        if number in given:
            unbuffered = number == 2
            errors = "backslashreplace" if unbuffered else None
            stream = open(  # noqa: SIM115
                number, "w" if number else "r", closefd=False, errors=errors,
                buffering=1 if unbuffered or os.isatty(number) else -1,
            )  # fmt: skip
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
