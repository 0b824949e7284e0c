"""Seconds that a process takes to extract a byte, while all processes of the run extract.

What a process does once, to start and to load what it needs, is no part of it: each extracts a part
of its sample first, then all of it, some times in turn, and the difference of the least counts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.pipeline.data.workers import Died, Tell, answers
from crawlrank.pipeline.engines.embedded.archive_extraction import ArchiveWork, extract_archive
from crawlrank.pipeline.steps import ArchiveTask

TURNS, ENOUGH = 4, 3.0  # turns, and seconds after which no other one begins


class ReadingTask(NamedTuple):
    """few, all: archives of a part of the sample, and of all of it that this process has."""

    few: tuple[Path, ...]
    all: tuple[Path, ...]
    tmp: Path
    options: ExtractionOptions


class Reading(NamedTuple):
    """Seconds of the clock, at the least, and bytes of the archives."""

    few: float
    all: float
    few_bytes: int
    all_bytes: int


def time_reading(task: ReadingTask, tell: Tell) -> Reading:
    """By a process of the pool."""
    task.tmp.mkdir()
    took: tuple[list[float], list[float]] = ([], [])
    _extract(task, task.few)
    begun = time.perf_counter()
    for _ in range(TURNS):
        for archives, seconds in zip((task.few, task.all), took, strict=True):
            seconds.append(_extract(task, archives))
        if time.perf_counter() - begun > ENOUGH:
            break
    return Reading(min(took[0]), min(took[1]), _bytes_of(task.few), _bytes_of(task.all))


def _extract(task: ReadingTask, archives: Sequence[Path]) -> float:
    begun = time.perf_counter()
    for archive in archives:
        work = ArchiveWork(ArchiveTask("", archive, "part"), task.tmp, task.options)
        extract_archive(work, lambda far: None)
    return time.perf_counter() - begun


def _bytes_of(archives: Sequence[Path]) -> int:
    return sum(archive.stat().st_size for archive in archives)


def seconds_a_byte(
    few: Sequence[Path],
    every: Sequence[Path],
    tmp: Path,
    options: ExtractionOptions,
    processes: int,
) -> float:
    """Of one process while so many work. few, every: archives of a part of the sample and of all
    of it; they are shared out among the processes."""
    tmp.mkdir()
    tasks = [
        ReadingTask(tuple(few[n::processes]), tuple(every[n::processes]), tmp / str(n), options)
        for n in range(processes)
    ]
    readings = [
        reading
        for _, reading in answers(time_reading, tasks, processes)
        if not isinstance(reading, Died)
    ]
    more = sum(each.all_bytes - each.few_bytes for each in readings)
    longer = sum(each.all - each.few for each in readings)
    if more > 0 and longer > 0:
        return longer / more
    total = sum(each.all_bytes for each in readings)
    return sum(each.all for each in readings) / total if total else 0.0
