"""Tasks done by several processes, one at a time each; a process that dies costs its task only.

Workers are started afresh, not forked: this process may have threads, and clients of S3, that a
fork would break. They leave when it dies, even by kill -9, and are ended when it is interrupted.
Tasks and results are pickled between these processes alone; nothing read from disk is.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType, ModuleType
from typing import Any, Generic, TypeVar

from crawlrank.jobs.kernel.machine.processes import at_a_time
from crawlrank.jobs.kernel.machine.shortage import shortage_of

READ = 1 << 25  # bytes of archives: to read them takes about as long as to start a process
AnyTask = TypeVar("AnyTask")
AnyAnswer = TypeVar("AnyAnswer")
_MAIN = threading.Lock()  # of the name `__main__`
Tell = Callable[[int], None]  # how far a task is, in units of its own


@dataclass(frozen=True)
class Died:
    """What a task has instead of an answer if its process ended before it."""

    how: str


@dataclass
class _Worker:
    """number: of the task that it has."""

    process: BaseProcess
    pipe: Connection[Any, Any]
    number: int | None = None


def worth_starting(processes: int | None, size: int, read: int = READ) -> int:
    """How many processes to use for a number of bytes: as many as are asked for; by default (None)
    one for each core, but no more than one for each `read` bytes."""
    return min(at_a_time(processes), max(1, size // read) if processes is None else processes)


def answers(
    work: Callable[[AnyTask, Tell], AnyAnswer],
    tasks: Sequence[AnyTask],
    processes: int,
    on_progress: Callable[[AnyTask, int], None] = lambda task, far: None,
    *,
    ahead: int | None = None,
    apart: bool = False,
    workers: Workers | None = None,
) -> Iterator[tuple[AnyTask, AnyAnswer | Died]]:
    """Yield each task with its result, in order of completion.

    work: a function at the top of a module, which workers import. tasks: more may be appended while
    answers come. on_progress: called with how far a task is. processes: at most, as
    machine/processes.py bounds them. ahead: no task begins that many after the first that is not
    done. workers: for later calls too. An exception in `work` is raised here and ends all. With one
    process nothing is started, unless tasks are to be apart from it."""
    processes = min(at_a_time(processes), len(tasks))
    if processes <= 1 and not apart:
        for task in tasks:
            yield task, work(task, lambda far, task=task: on_progress(task, far))  # type: ignore[misc]
        return
    todo = _Todo(pickle.dumps(work), tasks, ahead)
    with contextlib.nullcontext(workers) if workers else Workers() as pool:
        started = pool.at_least(processes)
        while busy := todo.hand_out(started[:processes]):
            for pipe in wait([worker.pipe for worker in busy]):
                worker = next(worker for worker in busy if worker.pipe is pipe)
                try:
                    what, value = worker.pipe.recv()
                except (EOFError, OSError):
                    started[started.index(worker)] = _start()
                    yield todo.done(worker), Died(_end_of(worker.process))
                    continue
                if what == "far":
                    on_progress(todo.of(worker), value)
                elif what == "error":
                    raise value
                else:
                    yield todo.done(worker), value


class _Todo(Generic[AnyTask]):
    """Tasks that no worker has yet, and the numbers of those that some have. work: pickled by
    itself, so that a worker imports it where an error can be reported."""

    def __init__(self, work: bytes, tasks: Sequence[AnyTask], ahead: int | None) -> None:
        self._work, self._tasks, self._next, self._undone = work, tasks, 0, set[int]()
        self._ahead = sys.maxsize if ahead is None else ahead

    def hand_out(self, workers: Sequence[_Worker]) -> list[_Worker]:
        """Give the next tasks to workers that have none; the workers that have one then."""
        for worker in workers:
            if worker.number is None and self._may_begin():
                worker.number = self._next
                self._undone.add(self._next)
                # a worker that has just died is found when its answer is waited for
                with contextlib.suppress(OSError):
                    worker.pipe.send((self._work, self._tasks[self._next]))
                self._next += 1
        return [worker for worker in workers if worker.number is not None]

    def _may_begin(self) -> bool:
        first = min(self._undone, default=self._next)
        return self._next < len(self._tasks) and self._next - first < self._ahead

    def of(self, worker: _Worker) -> AnyTask:
        assert worker.number is not None  # only a worker with a task is asked
        return self._tasks[worker.number]

    def done(self, worker: _Worker) -> AnyTask:
        task = self.of(worker)
        self._undone.discard(worker.number or 0)
        worker.number = None
        return task


class Workers(contextlib.AbstractContextManager["Workers"]):
    """Processes that do tasks of several calls of `answers`. They end with the context."""

    def __init__(self) -> None:
        self._workers: list[_Worker] = []

    def at_least(self, count: int) -> list[_Worker]:
        """All workers, of which there are `count` or more from now on."""
        while len(self._workers) < count:
            self._workers.append(_start())
        return self._workers

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.pipe.close()  # those that wait for a task leave
            if worker.number is not None:
                worker.process.terminate()
        for worker in self._workers:
            worker.process.join()


def _start() -> _Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    resource_tracker.ensure_running()  # starting it unblocks the signals that `deaf` blocks
    process = context.Process(target=_serve, args=(there,), daemon=True)
    with deaf(), without_main():
        process.start()
    there.close()
    return _Worker(process, here)


@contextlib.contextmanager
def deaf() -> Iterator[None]:
    """Processes started meanwhile never get the signal of Ctrl-C, not even while they import what
    they need: this process ends them, without tracebacks. It gets the signal a little later."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with _heard_later():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def without_main() -> Iterator[None]:
    """Processes started meanwhile do not import the main file of this one. It may be a script of a
    user, which would begin its work again in each of them."""
    with _MAIN:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main


@contextlib.contextmanager
def _heard_later() -> Iterator[None]:
    """Python's handlers are called afterwards, also if another thread, whose mask is its own, takes
    the signal: a handler in between would leave a process that is started, but has no work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers: dict[signal.Signals, Callable[[int, FrameType | None], Any]] = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            if callable(handler := signal.getsignal(number)):
                handlers[number] = handler
                signal.signal(number, lambda received, _: came.append(received))
        yield
    finally:
        for number, kept in handlers.items():
            signal.signal(number, kept)
        for received in came[:1]:
            handlers[signal.Signals(received)](received, None)


def _end_of(process: BaseProcess) -> str:
    process.join()
    code = process.exitcode or 0
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"


def _serve(pipe: Connection[Any, Any]) -> None:
    """Serve tasks in the worker until there are none."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(EOFError, OSError):
        try:
            threading.Thread(target=leave_with_parent, daemon=True).start()
            while True:
                named, task = pipe.recv()
                work = pickle.loads(named)
                pipe.send(("answer", work(task, lambda far: pipe.send(("far", far)))))
        except Exception as error:  # noqa: BLE001 (raised in the process that started this one)
            pipe.send(("error", shortage_of(error) or error))


def leave_with_parent() -> None:
    """End this process with the one that started it, from a thread, however it ends."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
