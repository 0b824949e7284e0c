"""A process that is killed costs the archive that it read, and no other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from crawls import COMMAND, LOOPBACK, environment

from jobs.kernel.extraction import Options
from pipeline.inspection_pool import KILLED, inspect_archives


def kill_readers(fifo: Path, times: int) -> None:
    """Kill the processes of the pool, as often as one of them waits for the FIFO's content."""
    while times:
        try:
            end = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads
            time.sleep(0.01)
            continue
        for child in multiprocessing.active_children():
            child.kill()
            child.join()
        os.close(end)
        times -= 1


def test_a_killed_process_costs_one_archive(tmp_path: Path) -> None:
    fifo = tmp_path / "a.warc"
    os.mkfifo(fifo)
    killer = threading.Thread(target=kill_readers, args=(fifo, 2), daemon=True)
    killer.start()
    killed, good = inspect_archives([fifo, LOOPBACK], Options(bodies=False), 2)
    killer.join()
    assert killed.error == KILLED
    assert good.error is None
    assert good.counters["captures"] == 64


@pytest.mark.parametrize(
    "number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]
)
def test_no_process_outlives_the_command(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """All of them hold the other end of its standard error, which ends when the last has ended."""
    fifos = [tmp_path / name for name in ("a.warc", "b.warc")]
    for fifo in fifos:
        os.mkfifo(fifo)
    command = [*COMMAND, "inspect", "--jobs", "2", *map(str, fifos)]
    with (
        subprocess.Popen(
            command, env=environment(), stderr=subprocess.PIPE, start_new_session=True
        ) as running,
        fifos[0].open("wb"),
        fifos[1].open("wb"),
    ):  # both are being read now
        if number == signal.SIGINT:
            os.killpg(running.pid, number)  # as a terminal does
        else:
            running.send_signal(number)
        said = running.communicate(timeout=60)[1].decode()
    assert running.returncode == code
    assert "Traceback" not in said
    assert ("interrupted" in said) == (code == 130)
