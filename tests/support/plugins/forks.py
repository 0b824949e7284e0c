"""`--workers=N`: tests run in N processes, forked from the one that has collected them.

The workers of pytest-xdist import and collect everything, each for itself, which was a seventh of
the CPU time of `make test`. A fork has it. The parent gives a worker the tests of one file at a
time, and reports what workers send. Of a worker, pytest's plugins know that it is one by
`config.workerinput`, as of xdist's; it ends as a session of its own does. A test whose process dies
has failed, and another worker takes what was left to that one.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections import deque
from collections.abc import Iterator
from itertools import groupby
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest

from support.waiting import awaited

WANTED, REPORT, WARNING, FINISHED, ERROR = "wanted", "report", "warning", "finished", "error"
REPORTERS = ("terminalreporter", "cost-reporter")  # plugins that only the parent has


class Worker:
    """A worker as the parent knows it. given: the numbers of tests that it has not finished."""

    def __init__(self, process: int) -> None:
        self.process = process
        self.given = deque[int]()


class Forks:
    """In the parent: the workers, and the tests of files that none has taken, by number."""

    def __init__(self, count: int) -> None:
        self.count, self.begun = count, 0
        self.workers: dict[Connection, Worker] = {}
        self.files = deque[list[int]]()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the tests. It returns in the parent at last, and in each worker at its end."""
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest says what could not be collected
        self.files = deque(self.files_of(session))
        try:
            is_worker = any(self.fork(session) for _ in range(min(self.count, len(self.files))))
            while self.workers and not is_worker:
                is_worker = any(self.received(session, one) for one in wait([*self.workers]))
        finally:
            for worker in self.workers.values():  # of a run that is ended before its end
                os.kill(worker.process, signal.SIGINT)
        return True

    def files_of(self, session: pytest.Session) -> list[list[int]]:
        """The numbers of the tests of each file, those of the most tests first: so the last ones
        that workers take are short. With an order of their own, in that order."""
        numbered = groupby(range(len(session.items)), key=lambda n: session.items[n].path)
        files = [list(numbers) for _, numbers in numbered]
        in_order = session.config.getoption("--order", None) is not None
        return files if in_order else sorted(files, key=len, reverse=True)

    def fork(self, session: pytest.Session) -> bool:
        """Start a worker. True in its process, at its end."""
        ours, its = Pipe()
        self.begun += 1
        end_threads_of_duckdb()
        if process := os.fork():
            its.close()
            self.workers[ours] = Worker(process)
            return False
        for connection in (ours, *self.workers):
            connection.close()
        self.workers.clear()
        run_tests(session, its, self.begun)
        return True

    def received(self, session: pytest.Session, connection: Any) -> bool:
        """Take a message of a worker. True in the process of one that is started for it."""
        hook, worker = session.config.hook, self.workers[connection]
        try:
            kind, *values = connection.recv()
        except (EOFError, OSError):
            return self.replaced(session, connection)
        if kind == WANTED:
            numbers = self.files.popleft() if self.files else []
            worker.given += numbers
            connection.send(numbers)
        elif kind == REPORT:
            report = hook.pytest_report_from_serializable(config=session.config, data=values[0])
            self.report(session, report)
        elif kind == FINISHED:
            worker.given.popleft()
        elif kind == WARNING:
            about, when, nodeid, location = values
            message = warnings.WarningMessage(*about)
            shown = {"when": when, "nodeid": nodeid, "location": location}
            hook.pytest_warning_recorded.call_historic(kwargs={"warning_message": message, **shown})
        else:
            raise RuntimeError(f"a worker ended with an error:\n{values[0]}")
        return False

    def report(self, session: pytest.Session, report: pytest.TestReport) -> None:
        session.config.hook.pytest_runtest_logreport(report=report)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)

    def replaced(self, session: pytest.Session, connection: Any) -> bool:
        """Take note that a worker has ended; if it was given tests, the first of them has failed.
        True in the process of one that is started for the others."""
        worker = self.workers.pop(connection)
        connection.close()
        status = end_of(worker.process)
        if worker.given:
            test = session.items[worker.given.popleft()]
            text = f"its process ended with {status}"
            failed = pytest.TestReport(test.nodeid, test.location, {}, "failed", text, "call")
            self.report(session, failed)
            if worker.given:
                self.files.appendleft([*worker.given])
            return bool(self.files) and self.fork(session)
        return False


def end_threads_of_duckdb() -> None:
    """End the thread that DuckDB 1, which Python 3.10 has, starts when it is imported. A fork does
    not have it, and waits for it at its exit. DuckDB 2 starts threads with a connection alone."""
    duckdb = sys.modules.get("duckdb")
    if duckdb and duckdb.__version__.startswith("1."):
        duckdb.set_default_connection(duckdb.connect(config={"threads": 1}))


def end_of(process: int, seconds: float = 600.0) -> int:
    """The exit code of a worker that has closed its pipe, negative for a signal. One that does not
    end by itself, as a thread of a test holds it, is ended, and the run fails."""
    try:
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        awaited(lambda: os.waitid(os.P_PID, process, look), seconds=seconds)
    except AssertionError as error:
        os.kill(process, signal.SIGKILL)
        raise RuntimeError(f"worker {process} does not end") from error
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


class Sender:
    """In a worker: sends what the parent is to report."""

    def __init__(self, config: pytest.Config, connection: Any) -> None:
        self.config, self.connection = config, connection
        self.is_new = True  # pytest tells what is registered of the warnings before
        config.pluginmanager.register(self)
        self.is_new = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self.config.hook
        data = hook.pytest_report_to_serializable(config=self.config, report=report)
        self.connection.send((REPORT, data))

    def pytest_runtest_logfinish(self) -> None:
        self.connection.send((FINISHED,))

    def pytest_warning_recorded(
        self,
        warning_message: warnings.WarningMessage,
        when: str,
        nodeid: str,
        location: tuple[str, int, str] | None,
    ) -> None:
        if self.is_new:
            return
        seen = warning_message
        about = (str(seen.message), seen.category, seen.filename, seen.lineno)
        self.connection.send((WARNING, about, when, nodeid, location))


def run_tests(session: pytest.Session, connection: Any, number: int) -> None:
    """In a worker: run the tests that the parent gives."""
    config = session.config
    config.workerinput = {"workerid": f"gw{number}"}  # type: ignore[attr-defined]
    manager = config.pluginmanager
    for name in filter(manager.has_plugin, REPORTERS):
        manager.unregister(name=name)
    capture: Any = manager.get_plugin("capturemanager")
    capture.stop_global_capturing()  # into files that are the parent's
    capture.start_global_capturing()
    Sender(config, connection)
    try:
        tests = given(session, connection)
        test = next(tests, None)
        while test is not None:
            following = next(tests, None)  # known before, as fixtures are kept for it
            config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            test = following
    except Exception:
        connection.send((ERROR, traceback.format_exc()))
        raise


def given(session: pytest.Session, connection: Any) -> Iterator[pytest.Item]:
    """The tests that the parent gives, which is asked when they are used up."""
    while True:
        connection.send((WANTED,))
        if not (numbers := connection.recv()):
            return
        yield from (session.items[number] for number in numbers)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, metavar="N", help="run the tests in N processes")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--workers") and hasattr(os, "fork"):
        config.pluginmanager.register(Forks(config.getoption("--workers")))
