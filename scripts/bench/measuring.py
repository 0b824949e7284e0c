"""Time, memory and disk of a command with all processes that it starts, as Linux tells them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crawlrank.pipeline.estimate.sample import memory_of, size_of_tree, tree

LOOKS = 0.05  # seconds between two looks at memory
DISK_LOOKS = 20  # looks at memory for one at the disk
STEP_LOOKS = 0.02  # seconds between two looks at what runs
TICK = 1 / os.sysconf("SC_CLK_TCK")


@dataclass
class Peaks:
    """Most of all processes together, in MB of 10^6 bytes.

    rss_mb: resident. anonymous_mb: of these, what is no file's. pss_mb: resident, where a page
    that several processes have counts as one.
    """

    rss_mb: float = 0.0
    anonymous_mb: float = 0.0
    pss_mb: float = 0.0


@dataclass
class Measured:
    """wall, cpu: seconds. most_bytes: in the folder at any look."""

    wall: float = 0.0
    cpu: float = 0.0
    peaks: Peaks = field(default_factory=Peaks)
    most_bytes: int = 0


def watched(
    command: Sequence[str], folder: Path | None = None, *, silent: bool = False
) -> Measured:
    """Run a command, which has to end well, and tell what it took. silent: drop its output."""
    found = Measured()
    before, began = os.times(), time.perf_counter()
    output = subprocess.DEVNULL if silent else None
    process = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[2], stdout=output)
    ended = threading.Event()
    looker = threading.Thread(target=_look, args=(process.pid, folder, ended, found))
    looker.start()
    try:
        code = process.wait()
    finally:
        ended.set()
        looker.join()
    found.wall = time.perf_counter() - began
    after = os.times()
    found.cpu = sum(after[2:4]) - sum(before[2:4])
    if code:
        sys.exit(f"{' '.join(command)}: exit code {code}")
    return found


def _look(pid: int, folder: Path | None, ended: threading.Event, found: Measured) -> None:
    looks = 0
    while not ended.wait(LOOKS):
        sums = dict.fromkeys(("Rss", "Anonymous", "Pss"), 0)
        for member in tree(pid):
            for name, size in memory_of(member):
                if name in sums:
                    sums[name] += size
        peaks = found.peaks
        peaks.rss_mb = max(peaks.rss_mb, sums["Rss"] / 1e6)
        peaks.anonymous_mb = max(peaks.anonymous_mb, sums["Anonymous"] / 1e6)
        peaks.pss_mb = max(peaks.pss_mb, sums["Pss"] / 1e6)
        if folder and looks % DISK_LOOKS == 0:
            found.most_bytes = max(found.most_bytes, size_of_tree(folder))
        looks += 1


@dataclass
class StepCost:
    """Seconds of a step. serial: of the processor, while one thread ran and no other was ready."""

    wall: float = 0.0
    cpu: float = 0.0
    serial: float = 0.0


def steps_of(command: Sequence[str]) -> dict[str, StepCost]:
    """The cost of each step of a command that prints the name of a step when it begins, and has to
    end well."""
    costs: dict[str, StepCost] = {}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ended = threading.Event()
    looker = threading.Thread(target=_look_at_steps, args=(process.pid, ended, costs))
    looker.start()
    try:
        for line in process.stdout:
            costs[line.strip()] = StepCost()  # the looker adds to the last one
        code = process.wait()
    finally:
        ended.set()
        looker.join()
    if code:
        sys.exit(f"{' '.join(command)}: exit code {code}")
    return costs


def _look_at_steps(pid: int, ended: threading.Event, costs: dict[str, StepCost]) -> None:
    before, then = 0.0, time.perf_counter()
    while not ended.wait(STEP_LOOKS):
        cpu, running = _cpu_and_running(pid)
        now = time.perf_counter()
        if costs and cpu > before:
            step = [*costs.values()][-1]
            step.wall += now - then
            step.cpu += cpu - before
            step.serial += (cpu - before) * (running <= 1)
        before, then = max(cpu, before), now


def _cpu_and_running(pid: int) -> tuple[float, int]:
    """Seconds of the processor that a process and its children have used, also those that ended;
    and how many of their threads run or are ready to."""
    ticks = running = 0
    for member in tree(pid):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
        for thread in Path(f"/proc/{member}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                running += thread.read_text().rpartition(")")[2].split()[0] == "R"
    return ticks * TICK, running
