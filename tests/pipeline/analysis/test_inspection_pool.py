"""A process that is killed costs the archive that it read, and no other."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from support.crawls import COMMAND, environment
from support.paths import LOOPBACK

from jobs.kernel.captures.extraction_options import ExtractionOptions
from pipeline.analysis.inspect.inspection_pool import KILLED, inspect_archives


def long_archive(path: Path) -> Path:
    """A file that takes hours to read, and no room: zeros, as tapes are padded with."""
    path.touch()
    os.truncate(path, 2**42)
    return path


def is_read(path: Path) -> bool:
    """Whether some process has it open."""
    for open_file in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):  # closed since
            if open_file.readlink() == path:
                return True
    return False


def wait_for_reader(path: Path) -> None:
    while not is_read(path):
        time.sleep(0.01)


def kill_readers(path: Path, times: int) -> None:
    """Kill the processes of the pool, as often as one of them reads the archive."""
    for _ in range(times):
        wait_for_reader(path)
        for child in multiprocessing.active_children():
            child.kill()
            child.join()


def test_a_killed_process_costs_one_archive(tmp_path: Path) -> None:
    archive = long_archive(tmp_path / "a.warc")
    killer = threading.Thread(target=kill_readers, args=(archive, 2), daemon=True)
    killer.start()
    killed, good = inspect_archives([archive, LOOPBACK], ExtractionOptions(bodies=False), 2)
    killer.join()
    assert killed.error == KILLED
    assert good.error is None
    assert good.counters["captures"] == 64


@pytest.mark.parametrize(
    "number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]
)
def test_no_process_outlives_the_command(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """All of them hold the other end of its standard error, which ends when the last has ended."""
    archives = [long_archive(tmp_path / name) for name in ("a.warc", "b.warc")]
    command = [*COMMAND, "inspect", "--jobs", "2", *map(str, archives)]
    with subprocess.Popen(
        command, env=environment(), stderr=subprocess.PIPE, start_new_session=True
    ) as running:
        for archive in archives:
            wait_for_reader(archive)
        if number == signal.SIGINT:
            os.killpg(running.pid, number)  # as a terminal does
        else:
            running.send_signal(number)
        said = running.communicate(timeout=60)[1].decode()
    assert running.returncode == code
    assert "Traceback" not in said
    assert ("interrupted" in said) == (code == 130)
