"""An interrupt that comes while an object is deleted, where Python ignores what is raised."""

from __future__ import annotations

import subprocess
import sys

from support.paths import ROOT

PROGRAM = """
import os, signal
from crawlrank.pipeline.cli.interruption import Interruption

class Deleted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

try:
    Interruption().begin()
    Deleted()
    while True:  # a signal just before signal.pause() would not end that
        pass
except KeyboardInterrupt:
    print("interrupted")
"""


def test_it_comes_again_without_a_word() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


TWICE = """
import os, signal
from crawlrank.pipeline.cli.interruption import ONE, Interruption

now = 0.0
Interruption(clock=lambda: now).begin()
try:
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        pass
except KeyboardInterrupt:
    now = 0.8 * ONE
    os.kill(os.getpid(), signal.SIGINT)
    now = 1.2 * ONE
    print("cleaned up")
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
    except KeyboardInterrupt:
        print("interrupted again")
"""


def test_one_that_is_passed_on_does_not_break_the_clean_up() -> None:
    """A terminal interrupts a program and the command that it has started, and the program passes
    the signal on. A later one counts."""
    done = subprocess.run(
        [sys.executable, "-c", TWICE], cwd=ROOT, capture_output=True, text=True, timeout=600
    )
    assert (done.stdout, done.stderr) == ("cleaned up\ninterrupted again\n", "")
