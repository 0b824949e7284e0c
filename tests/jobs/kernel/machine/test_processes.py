"""Commands that die with their driver, by real processes."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from support.paths import ROOT

from crawlrank.jobs.kernel.machine.processes import tied

DRIVER = """
import subprocess
from crawlrank.jobs.kernel.machine.processes import tied
with subprocess.Popen(tied(["sh", "-c", "echo started; exec sleep 600"])) as client:
    pass
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="there is no such tie elsewhere")


@linux
def test_a_client_dies_with_a_driver_that_is_killed() -> None:
    """Its output ends when it does: it alone holds the pipe then."""
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout
        assert driver.stdout.readline() == "started\n"
        driver.send_signal(signal.SIGKILL)
        assert driver.stdout.read() == ""


@linux
def test_a_client_whose_driver_died_before_does_not_start() -> None:
    command = tied(["echo", "started"])
    command[command.index("echo") - 1] = "1"  # a driver that is not its parent
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")


def test_the_command_is_as_it_was_but_for_that() -> None:
    done = subprocess.run(tied(["sh", "-c", "echo $0 $1; exit 7", "a b", "#"]), capture_output=True)
    assert (done.returncode, done.stdout) == (7, b"a b #\n")


def test_a_command_that_is_not_there_fails_as_usual() -> None:
    with pytest.raises(FileNotFoundError, match="no-such-command"):
        subprocess.run(tied(["no-such-command"]))
