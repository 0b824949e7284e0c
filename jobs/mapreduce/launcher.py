"""How jobs are run: on which runner, where what they leave lies, whom to tell."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.kernel.machine.cores import at_a_time
from jobs.kernel.storage.opening import FILE, HDFS, S3, SCHEMES, Place
from jobs.kernel.storage.stores import join, remove, size_of_dataset

if TYPE_CHECKING:
    from jobs.mapreduce.job import Job

RUNNERS = ("local", "inline")  # what they leave is the same
CLUSTERS = ("hadoop", "emr", "spark")
#: what URLs of datasets each can read and write; any other runner, all of them
REACHED = {**dict.fromkeys(RUNNERS, (FILE,)), "emr": (S3, HDFS)}
SMALL = 1 << 28  # bytes, half a minute of a task
TaskProgress = Callable[[str, int, int], None]
BytesProgress = Callable[[int, int], None]


def out_of_reach(runner: str, data: str) -> str:
    """Why a runner cannot have its datasets at a URL; '' where it can."""
    reached = REACHED.get(runner, SCHEMES)
    if data.startswith(reached):
        return ""
    clusters = [name for name in CLUSTERS if data.startswith(REACHED.get(name, SCHEMES))]
    return (
        f"the runner {runner} reaches {' and '.join(reached)} only;"
        f" {', '.join(clusters)} reach this URL"
    )


@dataclass
class Starting:
    """What jobs took besides the time from their first task's begin to their last task's end, in
    seconds; and jobs that were launched again, by name."""

    seconds: float = 0.0
    again: Counter[str] = field(default_factory=Counter)

    def add(self, seconds: float, ran: tuple[float, float] | None) -> None:
        """A job that took so long; ran: begin and end of its tasks by their machines' clocks."""
        self.seconds += max(0.0, seconds - (ran[1] - ran[0])) if ran else 0.0

    def taken(self) -> dict[str, Any]:
        """What came together since the last call, for a step's entry in the manifest."""
        told = {"starting": round(self.seconds, 3), "launched_again": dict(self.again)}
        self.seconds, self.again = 0.0, Counter()
        return {name: value for name, value in told.items() if name == "starting" or value}


@dataclass(frozen=True)
class Launcher:
    """How jobs are run.

    runner: of RUNNERS or CLUSTERS. tmp: folder for intermediate files, removed by whoever made it.
    data: URL of the folder of all datasets, for jobs that leave them where they are; intermediate
    ones go there too. conf: mrjob's configuration of a cluster; where there is none, mrjob looks
    for its own. cluster: starts a cluster when a job needs it, and gives the configuration that
    names it. processes: tasks at a time, as jobs/kernel/machine/cores.py bounds them.
    ranges: reduce tasks of jobs that partition by range.
    on_task: told (job, tasks done, tasks of this phase) whenever a task ends.
    on_read: told (bytes read, bytes of all) of the archives of a job that reads such, every now
    and then. small: bytes of input at a URL that one task reads sooner than another job starts.
    starting: counts what jobs take to start and to end.
    """

    runner: str
    tmp: Path
    processes: int | None = None
    ranges: int = 8
    on_task: TaskProgress | None = None
    on_read: BytesProgress | None = None
    job_class: Callable[[type[Job]], type[Job]] = lambda job: job  # tests put their runner in here
    data: str | None = None
    conf: Path | None = None
    cluster: Callable[[], Path] | None = None
    small: int = SMALL
    starting: Starting = field(default_factory=Starting, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "processes", at_a_time(self.processes))

    def is_small(self, datasets: Iterable[Place], most: int | None = None) -> bool:
        """Whether the datasets, at URLs, are so small that stages had better share a job. most:
        bytes, where fewer are to be held. Raises OSError."""
        if not self.data:
            return False
        size = sum(size_of_dataset(dataset) for dataset in datasets)
        return size < min(self.small, self.small if most is None else most)

    @contextlib.contextmanager
    def workplace(self, name: str) -> Iterator[Place]:
        """A new folder for what goes between the stages of a job, removed afterwards; in `data`, or
        else in `tmp`."""
        with self.scratch(name) as folder:
            if not self.data:
                yield folder
                return
            far = join(self.data, "tmp", folder.name)
            try:
                yield far
            finally:
                with contextlib.suppress(OSError):
                    remove(far)

    @contextlib.contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """A new folder in `tmp`, removed afterwards."""
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=self.tmp) as folder:
            yield Path(folder)
