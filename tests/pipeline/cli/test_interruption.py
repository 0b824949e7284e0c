"""An interrupt that comes while an object is deleted, where Python ignores what is raised."""

from __future__ import annotations

import subprocess
import sys

from support.paths import ROOT

PROGRAM = """
import os, signal, time
from pipeline.cli.interruption import Interruption

class Deleted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

try:
    Interruption().begin()
    Deleted()
    time.sleep(20)
    print("went on")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_it_comes_again_without_a_word() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
