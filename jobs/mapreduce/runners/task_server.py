"""Forks the tasks of jobs on this machine from a server, a process that has mrjob and the jobs
imported.

A task that starts as a program imports for a third of a second, which is more than a small task
works. The server imports the job of a task once, forks a supervisor for each task, and ends with
its driver. It has one thread, so that a fork is safe.

The driver sends the server one end of a connection and the files of the task. Over the connection
it sends the task, a line of JSON. The supervisor forks the task, waits for it and answers with its
exit code and the peak of its memory. Where the driver closes its side, because it stops the task or
was killed, the supervisor ends the task.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import IO, Any, NamedTuple, NoReturn

_START = f"import sys; sys.path[:] = sys.argv[2:]; from {__name__} import serve; serve(sys.argv[1])"
_STREAMS = 3  # stdin, stdout, stderr


class Task(NamedTuple):
    """module, name: the class of the job. args: its command line."""

    module: str
    name: str
    args: list[str]
    folder: str
    env: dict[str, str]


def is_importable(job_class: type) -> bool:
    """Whether the server can import the class by its name."""
    module = sys.modules.get(job_class.__module__)
    known = getattr(module, job_class.__name__, None) is job_class
    return known and job_class.__module__ != "__main__"


# in the driver


class ForkedTask:
    """A task at work, with the methods of subprocess.Popen."""

    def __init__(self, task: Task, *streams: IO[bytes]) -> None:
        """Start the task. streams: stdin, stdout, stderr. Raises OSError."""
        self._connection, there = socket.socketpair()
        with there:
            files = [there.fileno(), *(stream.fileno() for stream in streams)]
            socket.send_fds(_SERVER.channel(), [b"x"], files)
        self._connection.sendall(json.dumps(task).encode() + b"\n")

    def terminate(self) -> None:
        with contextlib.suppress(OSError):  # it has ended
            self._connection.shutdown(socket.SHUT_WR)

    def wait(self) -> int:
        """Its exit code, or the negative number of the signal that ended it. Raises OSError where
        it could not be forked, or its supervisor was killed."""
        with self._connection, self._connection.makefile("rb") as answer:
            line = answer.readline()
        if not line:
            raise ChildProcessError(errno.ECHILD, "a process that starts tasks was killed")
        code, peak, error = map(int, line.split())
        if error:
            raise OSError(error, os.strerror(error))
        _SERVER.peak = max(_SERVER.peak, peak)
        return code


class _Server:
    """The server of this process, which starts with the first task. peak: kB of memory that a task
    had at most."""

    def __init__(self) -> None:
        self.peak = 0
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def channel(self) -> socket.socket:
        """The socket of a server that lives."""
        with self._lock:
            if not self._process or not self._channel or self._process.poll() is not None:
                self._channel, there = socket.socketpair()
                with there:
                    self._process = _start(there)
            return self._channel

    def end(self) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait()


def _start(channel: socket.socket) -> subprocess.Popen[bytes]:
    none, number = subprocess.DEVNULL, channel.fileno()
    return subprocess.Popen(
        [sys.executable, "-c", _START, str(number), *sys.path],
        stdin=none, stdout=none, stderr=none, pass_fds=[number],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # numpy's library would start threads
    )  # fmt: skip


_SERVER = _Server()
atexit.register(_SERVER.end)


def peak_of_tasks() -> int:
    """kB of memory that a forked task of this process had at most so far."""
    return _SERVER.peak


# in the server


def serve(channel: str) -> None:
    """Fork tasks until the driver ends. channel: number of the socket."""
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN) is signal.SIG_IGN  # as with nohup
    with socket.socket(fileno=int(channel)) as orders:
        while files := socket.recv_fds(orders, 1, 1 + _STREAMS)[1]:
            with socket.socket(fileno=files[0]) as connection:
                task = Task(*json.loads(connection.makefile("rb").readline()))
                with contextlib.suppress(Exception):  # the task will say why
                    _job_class(task)([])  # so that it defines its options once
                if _forked(connection) == 0:
                    orders.close()
                    _supervise(task, connection, files[1:], ignored)
            _close(files[1:])
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _job_class(task: Task) -> Any:
    return getattr(import_module(task.module), task.name)


def _forked(connection: socket.socket) -> int | None:
    """As os.fork. Where that fails, the driver gets the number of the error; returns None."""
    try:
        return os.fork()
    except OSError as error:
        _answer(connection, error=error.errno or errno.EAGAIN)
        return None


def _answer(connection: socket.socket, code: int = 0, peak: int = 0, error: int = 0) -> None:
    with contextlib.suppress(OSError):  # the driver was killed
        connection.sendall(b"%d %d %d\n" % (code, peak, error))


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)


def _supervise(
    task: Task, connection: socket.socket, files: Sequence[int], ignored: bool
) -> NoReturn:
    at_work, held_by_task = os.pipe()
    child = _forked(connection)
    if child == 0:
        connection.close()
        os.close(at_work)
        if not ignored:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        _run(task, files)
    _close([held_by_task, *files])
    if child:
        _watch(child, connection, at_work)
    os._exit(0)


def _watch(child: int, connection: socket.socket, at_work: int) -> None:
    """Wait for the task, which holds the other end of the pipe `at_work`; answer the driver."""
    watched: list[Any] = [connection, at_work]
    if at_work not in select.select(watched, [], [])[0]:
        os.kill(child, signal.SIGTERM)
    _, status, usage = os.wait4(child, 0)
    _answer(connection, os.waitstatus_to_exitcode(status), usage.ru_maxrss)


def _run(task: Task, files: Sequence[int]) -> NoReturn:
    """Do what the program of the job does."""
    code = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
        _close(files)
        os.chdir(task.folder)
        os.environ.clear()
        os.environ.update(task.env)
        sys.argv = [task.name, *task.args]
        _job_class(task).run()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 (as a program ends)
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(code)
