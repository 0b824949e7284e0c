"""Tests wait for what happens: for a pipe, an event or the end of a process, and where another
process gives no signal with `awaited` of support.waiting, which is the only one that sleeps. What
shall run until it is killed waits for ever (`signal.pause()`), or for the end of its input.

TASKS are files of which a task on a cluster has nothing but themselves; they may sleep. A file that
sleeps no more fails the test, too.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import pytest
from support.sources import TESTS, programs

HELPER = "support/waiting.py"
OWN = "house/test_sleeps.py"

TASKS = {"support/faults/faulty.py"}


def sleeps(tree: ast.Module) -> bool:
    """Whether a program sleeps, or takes a function along that does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "sleep":
            return True
        if isinstance(node, ast.ImportFrom) and "sleep" in {each.name for each in node.names}:
            return True
    return False


def sleeping(sources: Mapping[str, str]) -> set[str]:
    suspects = {file: source for file, source in sources.items() if "sleep" in source}
    return {file for file, source in suspects.items() if any(map(sleeps, programs(source)))}


def test_no_test_sleeps() -> None:
    found = sleeping({file: TESTS[file] for file in TESTS.keys() - {HELPER, OWN}})
    assert sorted(found - TASKS) == [], "see the docstring"
    assert sorted(TASKS - found) == [], "sleeps no more: take it out of TASKS"


@pytest.mark.parametrize(
    "code",
    [
        "import time\ntime.sleep(1)",
        "import time as clock\ndef f():\n    clock.sleep(0.01)",
        "from time import monotonic, sleep as wait",
        "wait = __import__('time').sleep",
        "import asyncio\nasync def f():\n    await asyncio.sleep(1)",
        "CODE = '''\nimport time\ntime.sleep(1)\n'''",
        "CODE = f'import time; time.sleep({x})'",
    ],
)
def test_sleeps_are_seen(code: str) -> None:
    assert sleeping({"a.py": code}) == {"a.py"}


@pytest.mark.parametrize(
    "code", ["subprocess.run(['sleep', '1'])", "sleep = 1", "'''time.sleep is none'''"]
)
def test_nothing_else_sleeps(code: str) -> None:
    assert sleeping({"a.py": code}) == set()
