"""Calls of the package `crawlrank` without the start of a process for each."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from support.crawls import FORKED

#: a Python that gets the path of the package's main file before the words of a command
SCRIPT = f'#!/bin/sh\nshift\nexec {shlex.join(FORKED)} "$@"\n'


def fork_calls(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Until the test ends, let each call fork its command from the server of commands. folder: for
    a script."""
    script = folder / "forking-python"
    script.write_text(SCRIPT)
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
