"""What tests cost, and a short report of them.

`--costs=FILE` writes a JSON line for each test: its file, its name, the seconds from the beginning
of its setup to the end of its teardown, the CPU seconds of its process, of the processes that ended
meanwhile and of commands that the server forked, and how many processes it started itself. A
fixture that several tests share counts for the test that sets it up.

`--brief` leaves out what pytest shows of tests that pass, and ends with the slowest and the sum.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest

from support.commands import client

STARTS = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn")
COSTS = "costs"
SLOWEST = 10


class Cost(NamedTuple):
    """file: of the test. wall, cpu: seconds. started: processes."""

    file: str
    test: str
    wall: float
    cpu: float
    started: int


class Meter:
    """In the process that runs tests: what the test under way has cost so far."""

    def __init__(self) -> None:
        self.process = 0

    def _begin(self) -> None:
        """Take note of what happens in this process, which may be a fork."""
        self.process = os.getpid()
        self.started = 0
        self.begun = (0.0, 0.0, 0)
        self.forked = tempfile.NamedTemporaryFile("r")  # noqa: SIM115 (it ends with the process)
        self.forked_seconds = 0.0
        os.environ[client.COSTS] = self.forked.name
        sys.addaudithook(self._count)

    def _count(self, event: str, args: object) -> None:
        if event in STARTS:
            self.started += 1

    def _now(self) -> tuple[float, float, int]:
        self.forked_seconds += sum(map(float, self.forked.read().split()))
        return time.monotonic(), sum(os.times()[:4]) + self.forked_seconds, self.started

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        if self.process != os.getpid():
            self._begin()
        self.begun = self._now()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            spent = [now - begun for now, begun in zip(self._now(), self.begun, strict=True)]
            report.user_properties.append((COSTS, spent))
        return report


class Reporter:
    """In the process that reports: costs of all tests."""

    def __init__(self, path: Path | None, *, brief: bool) -> None:
        self.file = path.open("w", buffering=1) if path else None
        self.brief = brief
        self.costs: list[Cost] = []
        self.terminal: pytest.TerminalReporter | None = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if self.brief:
            self.terminal = session.config.pluginmanager.get_plugin("terminalreporter")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self.terminal:  # at once: a run may be ended before its summary
            self.terminal.ensure_newline()
            self.terminal.write_line(f"failed: {report.nodeid}")
        for name, spent in report.user_properties:
            if name == COSTS and report.when == "teardown":
                file, _, test = report.nodeid.partition("::")
                cost = Cost(file, test, *spent)
                self.costs.append(cost)
                if self.file:
                    self.file.write(json.dumps(cost._asdict()) + "\n")

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        if self.brief and report.passed:
            return "passed" if report.when == "call" else "", "", ""
        return None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.brief and len(self.costs) > SLOWEST:
            terminalreporter.write_line("the slowest tests, in CPU seconds:")
            for cost in sorted(self.costs, key=lambda cost: -cost.cpu)[:SLOWEST]:
                terminalreporter.write_line(f"{cost.cpu:6.1f}  {cost.file}::{cost.test}")
            total = sum(cost.cpu for cost in self.costs)
            terminalreporter.write_line(f"{total:6.0f}  all {len(self.costs):,} tests")

    def pytest_unconfigure(self) -> None:
        if self.file:
            self.file.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", type=Path, metavar="FILE", help="write what each test costs")
    parser.addoption("--brief", action="store_true", help="show failures, the slowest and the sum")


def pytest_configure(config: pytest.Config) -> None:
    path, brief = config.getoption("--costs"), config.getoption("--brief")
    if not path and not brief:
        return
    config.pluginmanager.register(Meter(), "cost-meter")
    config.pluginmanager.register(Reporter(path, brief=brief), "cost-reporter")
