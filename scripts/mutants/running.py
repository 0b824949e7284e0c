"""Tests run on a copy that has the fault, and what came of it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from mutants.copies import copied_again, drop_machine_code, environment_of, python_of
from mutants.edit import Edit, NotApplicable, apply

LIMIT = 300.0  # seconds for the tests of an edit
LIMIT_OF_ALL = 3600.0
SHOWN = 120  # characters of a test, whose parameters may be megabytes
LAST = 2000  # characters of the output of tests that did not run
ERROR_CODES = (4, 5)  # of pytest: it was called in a wrong way; there are no tests
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+\.py(?:::.*?)?)(?: - .*)?$", re.MULTILINE)
UNSHRUNK = "--hypothesis-profile=unshrunk"  # the first example that fails is enough
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", UNSHRUNK)


class TestsNotRun(Exception):
    """pytest could not run the tests that edits name."""


class Outcome(NamedTuple):
    """state: found, missed or error. seen_by: the first test that failed, or how it ended.
    last_run: which tests ran last, `functions`, `files` or `all`."""

    name: str
    state: str
    seconds: float
    seen_by: str = ""
    last_run: str = "functions"

    def line(self) -> str:
        state = self.state if self.state == "found" else self.state.upper()
        line = f"{state:7}{self.seconds:6.0f} s  {self.name}  {self.seen_by[:SHOWN]}".rstrip()
        return line if self.last_run == "functions" else f"{line}  (not by the tests named)"


def outcome_of(edit: Edit, first: Path, *, whole: bool = False) -> Outcome:
    """The outcome of the named functions on the edit in a copy of the first copy. Where they miss
    it, the outcome of the named files, and where those miss it and whole is set, of all tests."""
    begun = time.monotonic()
    with copied_again(first) as copy:
        try:
            apply(edit, copy)
        except NotApplicable as error:
            return Outcome(edit.name, "error", 0.0, str(error))
        drop_machine_code(copy, edit.path)
        state, seen_by, last_run = "missed", "", "functions"
        if edit.test_functions:
            state, seen_by = _tested(copy, edit.test_functions, LIMIT)
        if state == "missed":
            last_run = "files"
            state, seen_by = _tested(copy, edit.test_files, LIMIT)
        if whole and state == "missed":
            last_run = "all"
            state, seen_by = _tested(copy, ["--workers", "2"], LIMIT_OF_ALL)
    return Outcome(edit.name, state, round(time.monotonic() - begun, 1), seen_by, last_run)


def function_of(test: str) -> str:
    """The test without its parameters, whose text pytest may not take as it shows it."""
    return test.partition("[")[0]


def fail_anyway(functions: list[str], first: Path, jobs: int) -> set[str]:
    """The tests that fail without any edit, too, and so see nothing. What they compile stays in the
    first copy for those of it. Raises TestsNotRun."""
    if not functions:
        return set()
    words = [*OPTIONS[1:], "--workers", str(jobs), *functions]
    code, text = _run(first, words, LIMIT_OF_ALL)
    if code not in (0, 1):
        raise TestsNotRun(f"pytest ended with {code} without any edit: {text[-LAST:]}")
    return set(map(function_of, _FAILED.findall(text)))


def _tested(copy: Path, words: list[str], limit: float) -> tuple[str, str]:
    code, text = _run(copy, [*OPTIONS, *words], limit)
    if code is None:
        return "found", f"no end within {limit:.0f} s"
    if code == 0:
        return "missed", ""
    if code in ERROR_CODES:
        return "error", " ".join(text.split()[-40:])
    failed = _FAILED.search(text)
    return "found", failed[1] if failed else f"pytest ended with {code}"


def _run(copy: Path, words: list[str], limit: float) -> tuple[int | None, str]:
    """Exit code of pytest, None past the limit, and what it said."""
    command = [python_of(copy), "-m", "pytest", *words]
    with subprocess.Popen(
        command, cwd=copy, env=environment_of(copy), text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            text, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            _end_all(copy)
    return process.returncode, text


def _end_all(copy: Path) -> None:
    """End what runs the copy's Python: a fault may leave processes, some in sessions of their
    own."""
    python = f"{python_of(copy)}\0".encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().startswith(python):
                os.kill(int(path.parent.name), signal.SIGKILL)
