"""A process that is killed costs the archive that it read, and no other."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from pathlib import Path

from crawls import LOOPBACK

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
