"""How jobs are run: runner, location of their datasets, callbacks for progress."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawlrank.jobs.kernel.formats.reading import sized_parts
from crawlrank.jobs.kernel.machine.processes import at_a_time
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import COMPRESSED, INFLATED, join, remove
from crawlrank.jobs.mapreduce import runners

if TYPE_CHECKING:
    from crawlrank.jobs.mapreduce.job import Job

#: on this machine; both leave the same
RUNNERS = tuple(name for name, traits in runners.RUNNERS.items() if not traits.on_cluster)
CLUSTERS = tuple(name for name, traits in runners.RUNNERS.items() if traits.on_cluster)
SMALL = 1 << 28  # bytes, half a minute of a task
# bytes of text for a reduce task; less than that is shared by a few, if each has the least
USUAL, FEW, LEAST = 1 << 26, 8, 1 << 20
MOST_REDUCERS = 4096
TaskProgress = Callable[[str, int, int], None]
BytesProgress = Callable[[int, int], None]


def out_of_reach(runner: str, data: str) -> str:
    """Why a runner cannot have its datasets at a URL; '' where it can have them there."""
    reached = runners.RUNNERS[runner].reached
    if data.startswith(reached):
        return ""
    clusters = [name for name in CLUSTERS if data.startswith(runners.RUNNERS[name].reached)]
    return (
        f"the runner {runner} reaches {' and '.join(reached)} only;"
        f" {', '.join(clusters)} reach this URL"
    )


@dataclass
class Starting:
    """seconds: what jobs took before their first task began and after their last task ended.
    again: number of jobs that were launched again, by name."""

    seconds: float = 0.0
    again: Counter[str] = field(default_factory=Counter)

    def add(self, seconds: float, ran: tuple[float, float] | None) -> None:
        """A job that took `seconds`. ran: begin and end of its tasks, by their machines' clocks."""
        self.seconds += max(0.0, seconds - (ran[1] - ran[0])) if ran else 0.0

    def taken(self) -> dict[str, Any]:
        """What was added since the last call, for a step's entry in the manifest."""
        entry: dict[str, Any] = {"starting": round(self.seconds, 3)}
        if self.again:
            entry["launched_again"] = dict(self.again)
        self.seconds, self.again = 0.0, Counter()
        return entry


@dataclass(frozen=True)
class Launcher:
    """runner: of RUNNERS or CLUSTERS. tmp: folder for intermediate files; the caller removes it.
    data: URL of the folder of all datasets, also of intermediate ones, where they are not on this
    machine. conf: mrjob's configuration of a cluster; without it mrjob looks for one. cluster:
    starts a cluster for the first job and returns the configuration that names it. processes: tasks
    at a time, as jobs/kernel/machine/processes.py bounds them. ranges: reduce tasks of each job;
    None: by the size of what it reads.

    on_task: called with (job, tasks done, tasks of this phase) whenever a task ends. on_read:
    called every `looks` seconds with (bytes read, bytes of all) of the archives of a job. small:
    bytes of input at a URL that one task reads sooner than another job starts. partitions: of a
    graph that is packed; None: by its size. starting: counts what jobs take to start and to end.
    """

    runner: str
    tmp: Path
    processes: int | None = None
    ranges: int | None = None
    on_task: TaskProgress | None = None
    on_read: BytesProgress | None = None
    job_class: Callable[[type[Job]], type[Job]] = lambda job: job  # tests give the job their runner
    data: str | None = None
    conf: Path | None = None
    cluster: Callable[[], Path] | None = None
    small: int = SMALL
    partitions: int | None = None
    looks: float = runners.LOOKS
    starting: Starting = field(default_factory=Starting, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "processes", at_a_time(self.processes))

    @property
    def traits(self) -> runners.RunnerTraits:
        return runners.RUNNERS[self.runner]

    def is_small(self, datasets: Iterable[PathOrUrl], most: int | None = None) -> bool:
        """Whether the datasets are at URLs and so small that all stages should be one job. most:
        bytes that this job can hold in memory. Raises OSError."""
        if not self.data:
            return False
        size = self.text_size(datasets)
        return size < min(self.small, self.small if most is None else most)

    def reducers(self, datasets: Iterable[PathOrUrl]) -> int:
        """The reduce tasks of a job that reads these. Raises OSError."""
        if self.ranges:
            return self.ranges
        size = self.text_size(datasets)
        return max(1, min(FEW, size // LEAST), min(MOST_REDUCERS, size // USUAL))

    @staticmethod
    def text_size(datasets: Iterable[PathOrUrl]) -> int:
        """Bytes of their lines, about. Raises OSError."""
        return sum(map(_text_size, datasets))

    def at_most(self, tasks: int) -> int:
        """That many tasks, unless fewer are asked for."""
        return min(tasks, self.ranges or tasks)

    @contextlib.contextmanager
    def workplace(self, name: str) -> Iterator[PathOrUrl]:
        """A new folder for datasets between stages, removed afterwards; in `data`, if there is one,
        otherwise in `tmp`."""
        with self.scratch(name) as folder:
            if not self.data:
                yield folder
                return
            at_url = join(self.data, "tmp", folder.name)
            try:
                yield at_url
            finally:
                with contextlib.suppress(OSError):
                    remove(at_url)

    @contextlib.contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """A new folder in `tmp`, removed afterwards."""
        with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=self.tmp) as folder:
            yield Path(folder)


def _text_size(dataset: PathOrUrl) -> int:
    """Bytes of the lines of a dataset, estimated for compressed parts."""
    packed = (*COMPRESSED, ".parquet")
    sizes = sized_parts(dataset)
    return sum(size * (INFLATED if str(part).endswith(packed) else 1) for part, size in sizes)
