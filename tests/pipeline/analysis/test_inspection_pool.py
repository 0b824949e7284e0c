"""A process that is killed costs the archive that it read, and no other."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from support.crawls import COMMAND, environment
from support.paths import LOOPBACK

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.pipeline.analysis.inspection import KILLED, inspect_archives

IN_OPEN = 0x20
EVENT = 16  # bytes, of a file that is watched itself


class Opened:
    """A file that takes hours to read, and no room: zeros, as tapes are padded with. `wait` returns
    once for each time that somebody opens it, as the kernel tells (inotify)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()
        os.truncate(path, 2**42)
        libc = ctypes.CDLL(None, use_errno=True)
        self.events = os.fdopen(libc.inotify_init(), "rb", buffering=0)
        assert libc.inotify_add_watch(self.events.fileno(), os.fsencode(path), IN_OPEN) >= 0

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: object) -> None:
        self.events.close()

    def wait(self) -> None:
        assert self.events.read(EVENT)


def kill_readers(archive: Opened, times: int) -> None:
    """Kill the processes of the pool, as often as one of them reads the archive."""
    for _ in range(times):
        archive.wait()
        for child in multiprocessing.active_children():
            child.kill()
            child.join()


@pytest.mark.slow
def test_a_killed_process_costs_one_archive(tmp_path: Path) -> None:
    with Opened(tmp_path / "a.warc") as archive:
        killer = threading.Thread(target=kill_readers, args=(archive, 2), daemon=True)
        killer.start()
        given = [archive.path, LOOPBACK]
        killed, good = inspect_archives(given, ExtractionOptions(bodies=False), 2)
        killer.join()
    assert killed.error == KILLED
    assert good.error is None
    assert good.counters["captures"] == 64


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]
)
def test_no_process_outlives_the_command(number: signal.Signals, code: int, tmp_path: Path) -> None:
    """All of them hold the other end of its standard error, which ends when the last has ended."""
    with Opened(tmp_path / "a.warc") as one, Opened(tmp_path / "b.warc") as other:
        words = [*COMMAND, "inspect", "--jobs", "2", str(one.path), str(other.path)]
        with subprocess.Popen(
            words, env=environment(), stderr=subprocess.PIPE, start_new_session=True
        ) as running:
            one.wait()
            other.wait()
            if number == signal.SIGINT:
                os.killpg(running.pid, number)  # as a terminal does
            else:
                running.send_signal(number)
            said = running.communicate(timeout=600)[1].decode()
    assert running.returncode == code
    assert "Traceback" not in said
    assert ("interrupted" in said) == (code == 130)
